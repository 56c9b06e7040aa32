package answer

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// Differences returns the places, as JSON pointers in the order of their names, at which two answers to one question
// differ. Nothing of what stands there is in them.
func Differences(a, b *Taken) ([]string, error) {
	left, err := tree(a)
	if err != nil {
		return nil, err
	}
	right, err := tree(b)
	if err != nil {
		return nil, err
	}
	return differences(nil, "", left, right), nil
}

// tree writes what was taken as JSON once more, so that values of one meaning, such as the quantities 1 and 1000m, are
// the same.
func tree(taken *Taken) (map[string]any, error) {
	data, err := json.Marshal(taken)
	if err != nil {
		return nil, err
	}
	var members map[string]any
	return members, utiljson.Unmarshal(data, &members)
}

var escape = strings.NewReplacer("~", "~0", "/", "~1")

func differences(found []string, place string, a, b any) []string {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok {
			return append(found, place)
		}
		names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			left, inA := a[name]
			right, inB := b[name]
			below := place + "/" + escape.Replace(name)
			if inA != inB {
				found = append(found, below)
			} else {
				found = differences(found, below, left, right)
			}
		}
		return found
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return append(found, place)
		}
		for i := range a {
			found = differences(found, place+"/"+strconv.Itoa(i), a[i], b[i])
		}
		return found
	default:
		if !reflect.DeepEqual(a, b) {
			return append(found, place)
		}
		return found
	}
}
