// Package interpretcomponent tells Karmada what a Workload consists of: one component.
package interpretcomponent

import (
	"context"

	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"

	"interpreter-functions/shared/interpreter"
	"interpreter-functions/shared/podtemplate"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers InterpretComponent.
var Operation = interpreter.InterpretComponent(workload.GroupVersionKind, components)

func components(_ context.Context, w *workload.Pods[podtemplate.Requirements]) ([]workv1alpha2.Component, error) {
	return []workv1alpha2.Component{{
		Name:                "workload",
		Replicas:            w.Spec.DesiredReplicas(),
		ReplicaRequirements: w.Spec.Template.OfComponent(),
	}}, nil
}
