// Package router maps the URL path of Karmada's resource interpreter webhook to the functions that answer it.
package router

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"interpreter-functions/shared/codec"
	"interpreter-functions/shared/interpreter"
)

// Route says which handler answers which operation of the webhook at a URL path. A handler is an operation in this
// process, or anything else that answers like one.
type Route struct {
	// Path is the path of the URL, such as /interpreter-workload. A POST to it is answered by the function of the
	// operation that the body names, a POST to Path/Operation by the function of that operation.
	Path string
	// Functions are the handlers by operation.
	Functions map[configv1alpha1.InterpreterOperation]http.Handler
}

// Router is the http.Handler of a number of routes.
type Router struct {
	byPath      map[string]http.Handler
	byOperation map[string]Route
}

// New makes a router of routes with different paths.
func New(routes ...Route) *Router {
	router := &Router{map[string]http.Handler{}, map[string]Route{}}
	for _, route := range routes {
		router.byOperation[route.Path] = route
		for operation, function := range route.Functions {
			router.byPath[route.Path+"/"+string(operation)] = function
		}
	}
	return router
}

// ServeHTTP passes a request on to its function, the body as it came. A path that is not routed is answered with 404,
// an operation without a function with 400.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if function, ok := rt.byPath[r.URL.Path]; ok {
		function.ServeHTTP(w, r)
		return
	}
	route, ok := rt.byOperation[r.URL.Path]
	if !ok {
		interpreter.Refuse(w, nil, rt.notFound(r.URL.Path))
		return
	}
	body, err := interpreter.ReadBody(w, r)
	if err != nil {
		interpreter.Refuse(w, nil, err)
		return
	}
	function, err := route.function(body)
	if err != nil {
		interpreter.Refuse(w, body, err)
		return
	}
	function.ServeHTTP(w, interpreter.WithBody(r, body))
}

// function reads of the body no more than it needs to find the operation.
func (route *Route) function(body []byte) (http.Handler, error) {
	value, err := codec.Find(body, "request", "operation")
	if err != nil {
		return nil, interpreter.BadRequest("the body is %v", err)
	}
	if value == nil {
		return nil, interpreter.BadRequest("request.operation is missing in the body")
	}
	operation, err := codec.Decode[configv1alpha1.InterpreterOperation](value)
	if err != nil {
		return nil, interpreter.BadRequest("request.operation: %v", err)
	}
	function, ok := route.Functions[*operation]
	if !ok {
		return nil, interpreter.BadRequest("request.operation is %q, but %s serves %s", *operation, route.Path, names(route.Functions))
	}
	return function, nil
}

func (rt *Router) notFound(path string) error {
	return interpreter.StatusError(http.StatusNotFound, metav1.StatusReasonNotFound,
		"nothing is served at %q; served are %s, and below each its operations by name", path, names(rt.byOperation))
}

func names[K ~string, V any](m map[K]V) string {
	sorted := make([]string, 0, len(m))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		sorted = append(sorted, string(name))
	}
	return strings.Join(sorted, ", ")
}
