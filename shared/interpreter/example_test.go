package interpreter_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"interpreter-functions/shared/interpreter"
)

var kind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}

// rollout is what of a Rollout its health depends on.
type rollout struct {
	Status struct {
		Phase string `json:"phase"`
	} `json:"status"`
}

func healthy(_ context.Context, r *rollout) (bool, error) {
	return r.Status.Phase == "Healthy", nil
}

// A resource of another project is answered for by a type that knows as much of it as the function looks at.
func ExampleInterpretHealth() {
	operation := interpreter.InterpretHealth(kind, healthy)

	r := httptest.NewRequest("POST", "/", strings.NewReader(`{"request": {
		"uid": "1",
		"kind": {"group": "argoproj.io", "version": "v1alpha1", "kind": "Rollout"},
		"operation": "InterpretHealth",
		"object": {"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "status": {"phase": "Degraded"}}
	}}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	operation.ServeHTTP(w, r)
	fmt.Println(w.Body)
	// Output:
	// {"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","response":{"uid":"1","successful":true,"healthy":false}}
}
