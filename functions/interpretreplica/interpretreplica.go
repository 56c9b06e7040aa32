// Package interpretreplica tells Karmada how many replicas a Workload asks for and what each of them needs of a cluster.
package interpretreplica

import (
	"context"

	"interpreter-functions/shared/interpreter"
	"interpreter-functions/shared/podtemplate"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers InterpretReplica.
var Operation = interpreter.InterpretReplica(workload.GroupVersionKind, replicas)

func replicas(_ context.Context, w *workload.Pods[podtemplate.Requirements]) (interpreter.Replicas, error) {
	return interpreter.Replicas{
		Count:        w.Spec.DesiredReplicas(),
		Requirements: w.Spec.Template.OfReplica(w.Metadata.Namespace),
	}, nil
}
