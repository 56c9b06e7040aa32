package codec

import (
	"reflect"
	"slices"
	"sort"
)

// elements tells how an array came about from the one that arrived.
type elements struct {
	value reflect.Value // the array that came about
	was   int           // how many elements arrived
	from  []int         // per element: the index it arrived at, or -1
	stays []bool        // per element: the elements that stay are still in the order they arrived in
	diffs []*change     // per element with a from: what changed in it
}

// diffSlice follows the elements of a list: by their mergeKey if they have one, else by being equal. What is left
// between two elements that were found is taken to be changed in place if it is as many as before.
func diffSlice(before, after reflect.Value, mergeKey string) (*change, error) {
	if before.Len() == 0 && after.Len() == 0 || reflect.DeepEqual(before.Interface(), after.Interface()) {
		return nil, nil
	}
	if before.Len() == 0 || after.Len() == 0 {
		return &change{value: after}, nil
	}
	was, err := identities(before, mergeKey)
	if err != nil {
		return nil, err
	}
	is, err := identities(after, mergeKey)
	if err != nil {
		return nil, err
	}
	e := &elements{value: after, was: len(was), from: match(was, is), diffs: make([]*change, len(is))}
	e.stays = increasing(e.from)
	if mergeKey == "" {
		e.pairInPlace()
	}
	changed := e.was != len(is) || slices.Contains(e.stays, false)
	for j, i := range e.from {
		if i < 0 {
			continue
		}
		if e.diffs[j], err = diff(before.Index(i), after.Index(j), ""); err != nil {
			return nil, err
		}
		changed = changed || e.diffs[j] != nil
	}
	if !changed {
		return nil, nil
	}
	return &change{elements: e}, nil
}

// identities returns what each element of a list is known by, as JSON.
func identities(list reflect.Value, mergeKey string) ([]string, error) {
	ids := make([]string, list.Len())
	for i := range ids {
		data, err := marshal(list.Index(i))
		if err != nil {
			return nil, err
		}
		if mergeKey != "" {
			if data, err = Find(data, mergeKey); err != nil {
				return nil, err
			}
		}
		ids[i] = string(data)
	}
	return ids, nil
}

// match gives every element the index at which it arrived, or -1. What is alike at both ends is matched first; of
// further elements with one identity the first is the first.
func match(was, is []string) []int {
	from := make([]int, len(is))
	start, end := 0, 0
	for start < min(len(was), len(is)) && was[start] == is[start] {
		from[start] = start
		start++
	}
	for end < min(len(was), len(is))-start && was[len(was)-1-end] == is[len(is)-1-end] {
		from[len(is)-1-end] = len(was) - 1 - end
		end++
	}
	at := map[string][]int{}
	for i := start; i < len(was)-end; i++ {
		at[was[i]] = append(at[was[i]], i)
	}
	for j := start; j < len(is)-end; j++ {
		from[j] = -1
		if found := at[is[j]]; len(found) > 0 {
			from[j], at[is[j]] = found[0], found[1:]
		}
	}
	return from
}

// increasing marks a longest increasing subsequence of the numbers that are not negative.
func increasing(from []int) []bool {
	var ends []int // per length: where the subsequence of that length with the smallest end ends
	previous := make([]int, len(from))
	for j, i := range from {
		if i < 0 {
			continue
		}
		n := sort.Search(len(ends), func(k int) bool { return from[ends[k]] >= i })
		previous[j] = -1
		if n > 0 {
			previous[j] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, j)
		} else {
			ends[n] = j
		}
	}
	marks := make([]bool, len(from))
	if len(ends) > 0 {
		for j := ends[len(ends)-1]; j >= 0; j = previous[j] {
			marks[j] = true
		}
	}
	return marks
}

// pairInPlace lets the elements of a gap continue those that stood there, if they are as many and all are new.
func (e *elements) pairInPlace() {
	moved := make([]bool, e.was)
	for j, i := range e.from {
		if i >= 0 && !e.stays[j] {
			moved[i] = true
		}
	}
	start, first := 0, 0 // of the gap: its first element, and the index that element would have arrived at
	for j := 0; j <= len(e.from); j++ {
		end := e.was
		if j < len(e.from) {
			if !e.stays[j] {
				continue
			}
			end = e.from[j]
		}
		fresh := !slices.ContainsFunc(e.from[start:j], func(i int) bool { return i >= 0 })
		if j-start == end-first && fresh && !slices.Contains(moved[first:end], true) {
			for k := start; k < j; k++ {
				e.from[k], e.stays[k] = first+k-start, true
			}
		}
		start, first = j+1, end+1
	}
}
