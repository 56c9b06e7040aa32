package knative

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/functions"
	"interpreter-functions/shared/codec"
)

// TestRouter asks all cases of the functions through the programs: the router, and one per operation. What comes back
// is, byte for byte, what the function says in one process.
func TestRouter(t *testing.T) {
	config := "routes:\n- path: " + functions.Path + "\n  functions:\n"
	here := map[configv1alpha1.InterpreterOperation]http.Handler{}
	for _, operation := range functions.All {
		p := start(t, strings.ToLower(string(operation.Name())))
		config += fmt.Sprintf("    %s: {url: http://%s}\n", operation.Name(), p.address)
		here[operation.Name()] = operation
	}
	file := filepath.Join(t.TempDir(), "routes.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	router := start(t, "router", "ROUTER_CONFIG="+file)
	requests, err := filepath.Glob("../functions/testdata/*.request.json")
	if err != nil || len(requests) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, name := range requests {
		body, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		// What names no operation is the router's to answer, and tested there.
		value, err := codec.Find(body, "request", "operation")
		if err != nil || value == nil {
			continue
		}
		operation, err := codec.Decode[configv1alpha1.InterpreterOperation](value)
		if err != nil || here[*operation] == nil {
			continue
		}
		r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		want := httptest.NewRecorder()
		here[*operation].ServeHTTP(want, r)
		for _, path := range []string{functions.Path, functions.Path + "/" + string(*operation)} {
			got, res, err := post(http.DefaultClient, "http://"+router.address+path+"?timeout=3s", body)
			if err != nil || got != want.Body.String() || res.StatusCode != want.Code || res.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %v\ngot  %s\nwant %s", name, err, got, want.Body)
			}
		}
	}
	got, res, err := post(http.DefaultClient, "http://"+router.address+"/elsewhere", nil)
	if err != nil || res.StatusCode != http.StatusNotFound {
		t.Errorf("%v: %s", err, got)
	}
	router.end(t)
	if log := router.stderr.String(); strings.Count(log, "\n") != 2 || !strings.Contains(log, "loaded the routes") || !strings.Contains(log, "draining") {
		t.Errorf("the log says %s", log)
	}
}
