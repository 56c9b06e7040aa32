// Package report is what the prober, inside the cluster, tells of the requests that it made.
package report

import (
	"slices"
	"time"
)

// Request is one request.
type Request struct {
	Operation string        `json:"operation"`
	Took      time.Duration `json:"took"`
	Error     string        `json:"error,omitempty"`
}

// Failures are the errors of the requests that failed.
func Failures(requests []Request) []string {
	var failures []string
	for _, r := range requests {
		if r.Error != "" {
			failures = append(failures, r.Operation+": "+r.Error)
		}
	}
	return failures
}

// Times are how long the requests of an operation took, or of all of them if it is "", the shortest first.
func Times(requests []Request, operation string) []time.Duration {
	var times []time.Duration
	for _, r := range requests {
		if r.Error == "" && (operation == "" || r.Operation == operation) {
			times = append(times, r.Took)
		}
	}
	slices.Sort(times)
	return times
}

// Percentile is the time that so many percent of the times do not exceed; 0 if there are none.
func Percentile(times []time.Duration, percent int) time.Duration {
	if len(times) == 0 {
		return 0
	}
	return times[(len(times)-1)*percent/100]
}
