package router

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
)

// echo answers with its name and the body it got.
func echo(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(w, name+" "+r.URL.RawQuery+" "+string(body))
	})
}

func TestRouter(t *testing.T) {
	functions := func(names ...string) map[configv1alpha1.InterpreterOperation]http.Handler {
		m := map[configv1alpha1.InterpreterOperation]http.Handler{}
		for _, name := range names {
			_, operation, _ := strings.Cut(name, ".")
			m[configv1alpha1.InterpreterOperation(operation)] = echo(name)
		}
		return m
	}
	rt := New(
		Route{"/workload", functions("workload.Retain", "workload.InterpretHealth")},
		Route{"/gadget", functions("gadget.Retain")},
	)
	const retain = `{"request":{"uid":"u","operation":"Retain","object":{"operation":"x"}}}` + "\n"
	tests := map[string]struct {
		path, body string
		code       int
		want       string
	}{
		"by operation":        {"/workload", retain, 200, "workload.Retain  " + retain},
		"query":               {"/workload?timeout=3s", retain, 200, "workload.Retain timeout=3s " + retain},
		"another route":       {"/gadget", retain, 200, "gadget.Retain  " + retain},
		"by path":             {"/workload/InterpretHealth", retain, 200, "workload.InterpretHealth  " + retain},
		"operation last":      {"/workload", `{"x":{"operation":"a"},"request":{"object":{"operation":"b"},"operation":"Retain"}}`, 200, "workload.Retain "},
		"read no further":     {"/workload", `{"request":{"operation":"Retain", and so on`, 200, "workload.Retain  {"},
		"unknown operation":   {"/gadget", strings.Replace(retain, "Retain", "Foo", 1), 200, `"uid":"u","successful":false,"status":{"message":"request.operation is \"Foo\", but /gadget serves Retain","code":400}`},
		"no operation":        {"/gadget", `{"request":{"uid":"u"}}`, 200, `"status":{"message":"request.operation is missing in the body","code":400}`},
		"operation no string": {"/gadget", `{"request":{"uid":"u","operation":[]}}`, 200, `"message":"request.operation: an array where a string is expected"`},
		"no request":          {"/gadget", `[]`, 400, `"message":"request.operation is missing in the body"`},
		"not JSON":            {"/gadget", `x`, 400, `"message":"the body is not valid JSON`},
		"empty":               {"/gadget", ``, 400, `"message":"the body is not valid JSON: it ends too early"`},
		"unknown path":        {"/", retain, 404, `"message":"nothing is served at \"/\"; served are /gadget, /workload, and below each its operations by name"`},
		"trailing slash":      {"/gadget/", retain, 404, `"reason":"NotFound"`},
		"operation by path":   {"/gadget/InterpretHealth", retain, 404, `"reason":"NotFound"`},
		"other case":          {"/gadget/retain", retain, 404, `"reason":"NotFound"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, test.path, strings.NewReader(test.body))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			rt.ServeHTTP(w, r)
			if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("HTTP %d\n%s\nwant HTTP %d\n%s", w.Code, w.Body, test.code, test.want)
			}
		})
	}

	r := httptest.NewRequest(http.MethodGet, "/gadget", nil)
	w := httptest.NewRecorder()
	rt.ServeHTTP(w, r)
	if w.Code != http.StatusMethodNotAllowed {
		t.Errorf("GET: HTTP %d", w.Code)
	}
}
