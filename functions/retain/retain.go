// Package retain keeps what a member cluster changed in a Workload: whether it is paused.
package retain

import (
	"context"

	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers Retain.
var Operation = interpreter.Retain(workload.GroupVersionKind, retain)

func retain(_ context.Context, desired, observed *workload.Summary) error {
	desired.Spec.Paused = observed.Spec.Paused
	return nil
}
