// Package revisereplica writes into a Workload how many replicas a cluster is to run.
package revisereplica

import (
	"context"

	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers ReviseReplica.
var Operation = interpreter.ReviseReplica(workload.GroupVersionKind, revise)

func revise(_ context.Context, w *workload.Summary, replicas int32) error {
	w.Spec.Replicas = &replicas
	return nil
}
