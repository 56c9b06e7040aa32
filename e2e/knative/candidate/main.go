// Command candidate is a version of ReviseReplica that answers wrong: the rollout has to find that out.
package main

import (
	"context"

	"interpreter-functions/knative"
	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

func main() { knative.Serve(interpreter.ReviseReplica(workload.GroupVersionKind, revise)) }

func revise(_ context.Context, w *workload.Summary, replicas int32) error {
	replicas++
	w.Spec.Replicas = &replicas
	return nil
}
