// Package interprethealth tells Karmada whether a Workload is healthy.
package interprethealth

import (
	"context"

	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers InterpretHealth.
var Operation = interpreter.InterpretHealth(workload.GroupVersionKind, healthy)

// healthy holds once every desired replica is ready.
func healthy(_ context.Context, w *workload.Summary) (bool, error) {
	return w.Status.ReadyReplicas >= w.Spec.DesiredReplicas(), nil
}
