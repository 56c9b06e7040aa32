// Package aggregatestatus sums up in a Workload's status how many replicas are ready in all member clusters.
package aggregatestatus

import (
	"context"
	"math"

	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers AggregateStatus.
var Operation = interpreter.AggregateStatus(workload.GroupVersionKind, aggregate)

// aggregate counts a member without a status as 0. A sum beyond the range of the field stops at its end.
func aggregate(_ context.Context, w *workload.Summary, members []interpreter.Member[workload.StatusSummary]) error {
	var ready int64
	for _, m := range members {
		if m.Status != nil {
			ready += int64(m.Status.ReadyReplicas)
		}
	}
	w.Status.ReadyReplicas = int32(min(max(ready, math.MinInt32), math.MaxInt32))
	return nil
}
