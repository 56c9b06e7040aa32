// Package interpretdependency tells Karmada which objects a Workload's pods need beside it in a cluster.
package interpretdependency

import (
	"context"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/shared/interpreter"
	"interpreter-functions/shared/podtemplate"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers InterpretDependency.
var Operation = interpreter.InterpretDependency(workload.GroupVersionKind, dependencies)

func dependencies(_ context.Context, w *workload.Pods[podtemplate.Dependencies]) ([]configv1alpha1.DependentObjectReference, error) {
	return w.Spec.Template.References(w.Metadata.Namespace), nil
}
