package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"interpreter-functions/e2e/knative/report"
)

// print writes what was measured in Markdown.
func (t *trial) print(out io.Writer) {
	fmt.Fprint(out, "\n| cold start, ms | direct: min | median | max | through the router: min | median | max |\n|---|---|---|---|---|---|---|\n")
	operations := make([]string, 0, len(t.cold["router"]))
	for _, r := range t.cold["router"] {
		operations = append(operations, r.Operation)
	}
	slices.Sort(operations)
	for _, operation := range append(slices.Compact(operations), "") {
		name := operation
		if name == "" {
			name = "all"
		}
		fmt.Fprintf(out, "| %s |", name)
		for _, how := range []string{"direct", "router"} {
			times := report.Times(t.cold[how], operation)
			for _, percent := range []int{0, 50, 100} {
				fmt.Fprintf(out, " %s |", milliseconds(report.Percentile(times, percent)))
			}
		}
		fmt.Fprintln(out)
	}
	fmt.Fprint(out, "\n| through the router, ms | requests | failed | p50 | p99 | max |\n|---|---|---|---|---|---|\n")
	for _, l := range t.lines {
		times := report.Times(l.requests, "")
		fmt.Fprintf(out, "| %s | %d | %d |", l.what, len(l.requests), len(report.Failures(l.requests)))
		for _, percent := range []int{50, 99, 100} {
			fmt.Fprintf(out, " %s |", milliseconds(report.Percentile(times, percent)))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	for _, fact := range t.facts {
		fmt.Fprintln(out, fact)
	}
}

func milliseconds(d time.Duration) string {
	if d < 10*time.Millisecond {
		return fmt.Sprintf("%.1f", float64(d)/float64(time.Millisecond))
	}
	return strconv.FormatInt(d.Milliseconds(), 10)
}
