package functions

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/shared/codec/codectest"
)

// patching are the operations that answer with a patch, what is asked beside the object, the one place that the patch
// may touch, the value it is to have, and the value that an object without it has.
var patching = []struct {
	operation, asked string
	place            []string
	want, absent     any
}{
	{"ReviseReplica", `"replicas":7`, []string{"spec", "replicas"}, json.Number("7"), nil},
	{"Retain", `"observedObject":{"apiVersion":"workload.example.io/v1alpha1","kind":"Workload","spec":{"paused":true}}`, []string{"spec", "paused"}, true, false},
	{"Retain", `"observedObject":{"apiVersion":"workload.example.io/v1alpha1","kind":"Workload"}`, []string{"spec", "paused"}, false, false},
	{"AggregateStatus", `"aggregatedStatus":[{"clusterName":"a","status":{"readyReplicas":1}},{"clusterName":"b","status":{"readyReplicas":2}}]`, []string{"status", "readyReplicas"}, json.Number("3"), json.Number("0")},
	{"AggregateStatus", `"aggregatedStatus":[]`, []string{"status", "readyReplicas"}, json.Number("0"), json.Number("0")},
}

// FuzzPatches asks for patches of any Workload: applied, each changes what it is to change and nothing else.
func FuzzPatches(f *testing.F) {
	for _, file := range glob(f, "testdata/*.request.json") {
		var asked struct {
			Request struct{ Object json.RawMessage }
		}
		if err := json.Unmarshal(readFile(f, file), &asked); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(asked.Request.Object))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		object, ok := asSentByKarmada(raw)
		if !ok {
			return
		}
		for _, p := range patching {
			body := `{"request":{"uid":"u","kind":{"group":"workload.example.io","version":"v1alpha1","kind":"Workload"},"operation":"` +
				p.operation + `","object":` + string(object) + `,` + p.asked + `}}`
			var answer configv1alpha1.ResourceInterpreterContext
			w := ask(t, Path, []byte(body))
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Response == nil {
				t.Fatalf("HTTP %d: %s", w.Code, w.Body)
			}
			if !answer.Response.Successful {
				if strings.Contains(answer.Response.Status.Message, "panicked") || answer.Response.Status.Code != 400 {
					t.Fatal(w.Body)
				}
				continue
			}
			was, is := codectest.Only(t, object, codectest.Apply(t, answer.Response.Patch, object), p.place...)
			if is == nil {
				is = p.absent
			}
			if is != p.want {
				t.Errorf("%s: %s leaves %v in %s", p.operation, answer.Response.Patch, is, object)
			}
			if was == p.want && answer.Response.Patch != nil {
				t.Errorf("%s: %s changes nothing in %s", p.operation, answer.Response.Patch, object)
			}
		}
	})
}

// asSentByKarmada returns a Workload in the form in which Karmada sends it, which it keeps decoded.
func asSentByKarmada(raw []byte) ([]byte, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var object map[string]any
	if d.Decode(&object) != nil || object == nil {
		return nil, false
	}
	object["apiVersion"], object["kind"] = "workload.example.io/v1alpha1", "Workload"
	data, err := json.Marshal(object)
	return data, err == nil
}
