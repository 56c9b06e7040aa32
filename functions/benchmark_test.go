package functions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"interpreter-functions/shared/router"
)

// BenchmarkOperations puts the fullest case of each operation through the router and the function.
func BenchmarkOperations(b *testing.B) {
	for name, body := range map[string][]byte{
		"InterpretReplica":    testdata(b, "interpretreplica-full"),
		"InterpretComponent":  testdata(b, "interpretcomponent-full"),
		"ReviseReplica":       testdata(b, "revisereplica-replace"),
		"Retain":              testdata(b, "retain-paused"),
		"AggregateStatus":     testdata(b, "aggregatestatus-sum"),
		"AggregateStatus100":  aggregateStatus(100),
		"AggregateStatus1000": aggregateStatus(1000),
		"InterpretStatus":     testdata(b, "interpretstatus-conditions"),
		"InterpretHealth":     testdata(b, "interprethealth-healthy"),
		"InterpretDependency": testdata(b, "interpretdependency-full"),
	} {
		b.Run(name, func(b *testing.B) {
			handler := router.New(Route())
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
				r.Header.Set("Content-Type", "application/json")
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, r)
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"successful":true`) {
					b.Fatal(w.Body)
				}
			}
		})
	}
	b.Run("floor", func(b *testing.B) {
		body := testdata(b, "interprethealth-healthy")
		b.ReportAllocs()
		for b.Loop() {
			r := httptest.NewRequest(http.MethodPost, Path, bytes.NewReader(body))
			w := httptest.NewRecorder()
			_, _ = io.Copy(w, r.Body)
		}
	})
}

// testdata is a case in the form in which Karmada sends it, without white space.
func testdata(b *testing.B, name string) []byte {
	b.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, readFile(b, "testdata/"+name+".request.json")); err != nil {
		b.Fatal(err)
	}
	return compact.Bytes()
}

func aggregateStatus(clusters int) []byte {
	items := make([]string, clusters)
	for i := range items {
		items[i] = fmt.Sprintf(`{"clusterName":"member%d","status":{"readyReplicas":%d,"conditions":[{"lastTransitionTime":"2026-01-02T03:04:00Z",`+
			`"message":"Workload has minimum availability.","reason":"MinimumReplicasAvailable","status":"True","type":"Available"}]},"applied":true,"health":"Healthy"}`, i, i%3)
	}
	return fmt.Appendf(nil, `{"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","request":{"uid":"u",`+
		`"kind":{"group":"workload.example.io","version":"v1alpha1","kind":"Workload"},"name":"web","namespace":"shop","operation":"AggregateStatus",`+
		`"object":{"apiVersion":"workload.example.io/v1alpha1","kind":"Workload","metadata":{"name":"web"},"spec":{"replicas":3}},"replicas":0,"aggregatedStatus":[%s]}}`,
		strings.Join(items, ","))
}
