package interpreter

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"interpreter-functions/shared/codec"
)

// Replicas answers InterpretReplica.
type Replicas struct {
	// Count is the number of replicas that the object asks for.
	Count int32
	// Requirements is what each of them needs of a cluster; nil if nothing.
	Requirements *workv1alpha2.ReplicaRequirements
}

// InterpretReplica tells Karmada how many replicas an object asks for and what each of them needs.
func InterpretReplica[T any](kind schema.GroupVersionKind, replicas func(context.Context, *T) (Replicas, error)) *Operation {
	return read(configv1alpha1.InterpreterOperationInterpretReplica, kind, replicas, func(r *response, answer Replicas) error {
		r.Replicas, r.ReplicaRequirements = &answer.Count, answer.Requirements
		return nil
	})
}

// InterpretComponent tells Karmada what an object of several pod templates consists of. The names of the components
// are unique in the object and at most 32 bytes long. With it Karmada does not ask InterpretReplica.
func InterpretComponent[T any](kind schema.GroupVersionKind, components func(context.Context, *T) ([]workv1alpha2.Component, error)) *Operation {
	return read(configv1alpha1.InterpreterOperationInterpretComponent, kind, components, func(r *response, answer []workv1alpha2.Component) error {
		r.Components = answer
		return nil
	})
}

// InterpretStatus tells Karmada which part of a member cluster's object is its status. S is written as JSON and must
// not be null.
func InterpretStatus[T, S any](kind schema.GroupVersionKind, status func(context.Context, *T) (S, error)) *Operation {
	return read(configv1alpha1.InterpreterOperationInterpretStatus, kind, status, func(r *response, answer S) error {
		raw, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		if string(raw) == "null" {
			return errors.New("the function returned no status")
		}
		r.RawStatus = &runtime.RawExtension{Raw: raw}
		return nil
	})
}

// InterpretHealth tells Karmada whether a member cluster's object is healthy.
func InterpretHealth[T any](kind schema.GroupVersionKind, healthy func(context.Context, *T) (bool, error)) *Operation {
	return read(configv1alpha1.InterpreterOperationInterpretHealth, kind, healthy, func(r *response, answer bool) error {
		r.Healthy = &answer
		return nil
	})
}

// InterpretDependency tells Karmada which objects must be propagated along with an object. Each has a name or a label
// selector, and a namespace unless it is cluster-scoped.
func InterpretDependency[T any](kind schema.GroupVersionKind, dependencies func(context.Context, *T) ([]configv1alpha1.DependentObjectReference, error)) *Operation {
	return read(configv1alpha1.InterpreterOperationInterpretDependency, kind, dependencies, func(r *response, answer []configv1alpha1.DependentObjectReference) error {
		r.Dependencies = answer
		return nil
	})
}

// ReviseReplica writes the number of replicas that a cluster is to run, which is not negative, into an object.
func ReviseReplica[T any](kind schema.GroupVersionKind, revise func(ctx context.Context, obj *T, replicas int32) error) *Operation {
	return change(configv1alpha1.InterpreterOperationReviseReplica, kind, func(ctx context.Context, q *question[T, nothing], obj *T) error {
		switch {
		case q.DesiredReplicas == nil:
			return BadRequest("request.replicas is missing")
		case *q.DesiredReplicas < 0:
			return BadRequest("request.replicas is %d: it must not be negative", *q.DesiredReplicas)
		}
		return revise(ctx, obj, *q.DesiredReplicas)
	})
}

// Retain writes into the desired object what the member cluster changed in the observed one and is to be kept.
func Retain[T any](kind schema.GroupVersionKind, retain func(ctx context.Context, desired, observed *T) error) *Operation {
	return change(configv1alpha1.InterpreterOperationRetain, kind, func(ctx context.Context, q *question[T, nothing], desired *T) error {
		observed, err := decodeObject("request.observedObject", &q.ObservedObject, kind, (*codec.Raw[T]).Decode)
		if err != nil {
			return err
		}
		return retain(ctx, desired, observed)
	})
}

// Member is what one member cluster reports of an object.
type Member[S any] struct {
	// Cluster is the name of the member cluster.
	Cluster string
	// Status is what the cluster reports; nil if it has reported nothing yet.
	Status *S
	// Applied says whether the object was applied in the cluster, AppliedMessage why not.
	Applied        bool
	AppliedMessage string
	// Health is what InterpretHealth said of the cluster's object.
	Health workv1alpha2.ResourceHealth
}

// AggregateStatus sums up in the object's status what the member clusters report; Karmada keeps of it only /status.
// A member whose status is not an S is left out, and logged.
func AggregateStatus[T, S any](kind schema.GroupVersionKind, aggregate func(ctx context.Context, obj *T, members []Member[S]) error) *Operation {
	return change(configv1alpha1.InterpreterOperationAggregateStatus, kind, func(ctx context.Context, q *question[T, S], obj *T) error {
		return aggregate(ctx, obj, members(ctx, q))
	})
}

func members[T, S any](ctx context.Context, q *question[T, S]) []Member[S] {
	list := make([]Member[S], 0, len(q.AggregatedStatus))
	for i := range q.AggregatedStatus {
		item := &q.AggregatedStatus[i]
		member := Member[S]{
			Cluster: item.ClusterName, Applied: item.Applied, AppliedMessage: item.AppliedMessage, Health: item.Health,
		}
		if !item.Status.IsMissing() {
			status, err := item.Status.Decode()
			if err != nil {
				slog.WarnContext(ctx, "left a member cluster out of the aggregated status: what it reports is malformed",
					"cluster", item.ClusterName, "error", err, "kind", q.Kind.Kind, "namespace", q.Namespace, "name", q.Name, "uid", q.UID)
				continue
			}
			member.Status = status
		}
		list = append(list, member)
	}
	return list
}

// nothing is what an operation knows that does not look at what member clusters report.
type nothing struct{}

// read makes an operation that only looks at the object.
func read[T, A any](name configv1alpha1.InterpreterOperation, kind schema.GroupVersionKind, f func(context.Context, *T) (A, error), put func(*response, A) error) *Operation {
	return newOperation(name, kind, func(ctx context.Context, q *question[T, nothing], res *response) error {
		obj, err := decodeObject("request.object", &q.Object, kind, (*codec.Raw[T]).Decode)
		if err != nil {
			return err
		}
		answer, err := f(ctx, obj)
		if err != nil {
			return err
		}
		return put(res, answer)
	})
}

// change makes an operation that answers with a patch of the object.
func change[T, S any](name configv1alpha1.InterpreterOperation, kind schema.GroupVersionKind, f func(context.Context, *question[T, S], *T) error) *Operation {
	return newOperation(name, kind, func(ctx context.Context, q *question[T, S], res *response) error {
		obj, err := decodeObject("request.object", &q.Object, kind, (*codec.Raw[T]).Copy)
		if err != nil {
			return err
		}
		if err := f(ctx, q, obj); err != nil {
			return err
		}
		patch, err := q.Object.Patch(obj)
		if err != nil || patch == nil {
			return err
		}
		patchType := configv1alpha1.PatchTypeJSONPatch
		res.Patch, res.PatchType = patch, &patchType
		return nil
	})
}
