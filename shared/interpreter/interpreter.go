// Package interpreter answers Karmada's resource interpreter webhook: it is the wire contract on one side and plain Go
// functions over a typed object on the other.
//
// There is one constructor per operation of Karmada. It takes the kind of object that the function answers for and the
// function, and returns an Operation, which is an http.Handler:
//
//	var Operation = interpreter.InterpretHealth(workload.GroupVersionKind, healthy)
//
//	func healthy(_ context.Context, w *workload.Summary) (bool, error) {
//		return w.Status.ReadyReplicas >= w.Spec.DesiredReplicas(), nil
//	}
//
// The object is decoded into the type that the function takes. That may be the whole API type or any part of it; see
// package codec. A function that changes the object changes the typed value: what it changed, and nothing else, becomes
// the patch.
//
// An error that a function returns is shown by Karmada. Its code is that of an API status (errors of
// k8s.io/apimachinery/pkg/api/errors such as NewBadRequest), 504 for an exceeded deadline, else 500.
package interpreter

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

type response = configv1alpha1.ResourceInterpreterResponse

// Operation answers one operation of Karmada's resource interpreter webhook for one kind of object.
type Operation struct {
	name   configv1alpha1.InterpreterOperation
	kind   schema.GroupVersionKind
	decode func(body []byte) (request, error)
}

// request is a decoded request, and how it is answered.
type request struct {
	*header
	answer func(context.Context, *response) error
}

func newOperation[T, S any](name configv1alpha1.InterpreterOperation, kind schema.GroupVersionKind, answer func(context.Context, *question[T, S], *response) error) *Operation {
	return &Operation{name, kind, func(body []byte) (request, error) {
		q, err := decodeRequest[T, S](body)
		if err != nil {
			return request{}, err
		}
		return request{&q.header, func(ctx context.Context, res *response) error { return answer(ctx, q, res) }}, nil
	}}
}

// Name is the operation's name in Karmada's API, such as "InterpretHealth".
func (o *Operation) Name() configv1alpha1.InterpreterOperation { return o.name }

// Kind is the kind of object that the operation answers for.
func (o *Operation) Kind() schema.GroupVersionKind { return o.kind }

// ServeHTTP answers a POST of a ResourceInterpreterContext with one. The timeout in the query, such as timeout=3s,
// becomes the deadline of the function's context. How errors are answered, see Refuse.
func (o *Operation) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := ReadBody(w, r)
	if err != nil {
		Refuse(w, nil, err)
		return
	}
	req, err := o.decode(body)
	if err != nil {
		Refuse(w, body, err)
		return
	}
	ctx, cancel, err := withTimeout(r)
	if err != nil {
		refuse(w, req.UID, err)
		return
	}
	defer cancel()
	res, err := o.call(ctx, req)
	if err != nil {
		refuse(w, req.UID, err)
		return
	}
	respond(w, res)
}

// call runs the function. A panic in it is an error like any other to the caller, and a stack in the log.
func (o *Operation) call(ctx context.Context, req request) (res *response, err error) {
	defer func() {
		if v := recover(); v != nil {
			slog.ErrorContext(ctx, "the function panicked", "operation", o.name, "kind", o.kind, "uid", req.UID,
				"panic", v, "stack", string(debug.Stack()))
			err = apierrors.NewInternalError(fmt.Errorf("%s of %s panicked: %v", o.name, o.kind, v))
		}
	}()
	if req.Operation != o.name {
		return nil, BadRequest("request.operation is %q, but this function serves %q", req.Operation, o.name)
	}
	if err := checkKind("request.kind", schema.GroupVersionKind(req.Kind), o.kind); err != nil {
		return nil, err
	}
	res = &response{UID: req.UID, Successful: true}
	if err := req.answer(ctx, res); err != nil {
		return nil, err
	}
	return res, nil
}
