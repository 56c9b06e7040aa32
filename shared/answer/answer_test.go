package answer

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
)

func question(operation string) *configv1alpha1.ResourceInterpreterRequest {
	return &configv1alpha1.ResourceInterpreterRequest{
		UID: "u", Operation: configv1alpha1.InterpreterOperation(operation),
		Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"n"},"spec":{"replicas":1},"status":{"ready":1}}`)},
	}
}

// said is the body of an answer with members; a patch in it is written in the clear.
func said(members string) []byte {
	if before, patch, found := strings.Cut(members, "PATCH "); found {
		members = before + `"patchType":"JSONPatch","patch":"` + base64.StdEncoding.EncodeToString([]byte(patch)) + `"`
	}
	if members != "" {
		members = "," + members
	}
	return []byte(`{"response":{"uid":"u","successful":true` + members + `}}`)
}

func TestRead(t *testing.T) {
	tests := map[string]struct {
		operation string
		body      []byte
		want      string
	}{
		"replicas":        {"InterpretReplica", said(`"replicas":0,"replicaRequirements":{"resourceRequest":{"cpu":"1000m"}},"healthy":true`), `{"replicaRequirements":{"resourceRequest":{"cpu":"1"}},"replicas":0}`},
		"components":      {"InterpretComponent", said(`"components":[{"name":"a","replicas":1}]`), `{"components":[{"name":"a","replicas":1}]}`},
		"dependencies":    {"InterpretDependency", said(`"dependencies":[{"apiVersion":"v1","kind":"Secret","namespace":"d","name":"n"}]`), `{"dependencies":[{"apiVersion":"v1","kind":"Secret","name":"n","namespace":"d"}]}`},
		"no dependencies": {"InterpretDependency", said(``), `{}`},
		"status":          {"InterpretStatus", said(`"rawStatus":{"ready":1.5}`), `{"rawStatus":{"ready":1.5}}`},
		"health":          {"InterpretHealth", said(`"healthy":false`), `{"healthy":false}`},
		"patch":           {"ReviseReplica", said(`PATCH [{"op":"replace","path":"/spec/replicas","value":2}]`), `{"object":{"metadata":{"name":"n"},"spec":{"replicas":2},"status":{"ready":1}}}`},
		"no patch":        {"Retain", said(``), `{"object":{"metadata":{"name":"n"},"spec":{"replicas":1},"status":{"ready":1}}}`},
		"status alone":    {"AggregateStatus", said(`PATCH [{"op":"replace","path":"/spec/replicas","value":2},{"op":"add","path":"/status/x","value":3}]`), `{"object":{"ready":1,"x":3}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			taken, err := Read(question(test.operation), 200, test.body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := tree(taken)
			if err != nil {
				t.Fatal(err)
			}
			if data, _ := json.Marshal(got); string(data) != test.want {
				t.Errorf("got %s, want %s", data, test.want)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	tests := map[string]struct {
		operation string
		code      int
		body      string
		want      string
	}{
		"code":                {"Retain", 404, `nope`, "HTTP 404 without a metav1.Status"},
		"Status":              {"Retain", 503, `{"kind":"Status","message":"gone"}`, "HTTP 503: gone"},
		"204":                 {"Retain", 204, ``, "HTTP 204"},
		"no JSON":             {"Retain", 200, `x`, "the body is not a ResourceInterpreterContext"},
		"another kind":        {"Retain", 200, `{"kind":"Pod"}`, `the answer is a "Pod"`},
		"no response":         {"Retain", 200, `{}`, "response is missing"},
		"uid":                 {"Retain", 200, `{"response":{"uid":"v","successful":false}}`, `response.uid is "v", but the request's is "u"`},
		"no status":           {"Retain", 200, `{"response":{"uid":"u"}}`, "response.status is missing"},
		"refused":             {"Retain", 200, `{"response":{"uid":"u","status":{"code":400,"message":"why"}}}`, "refused with code 400: why"},
		"replicas":            {"InterpretReplica", 200, string(said(``)), "response.replicas is missing"},
		"rawStatus":           {"InterpretStatus", 200, string(said(`"rawStatus":null`)), "response.rawStatus is missing"},
		"healthy":             {"InterpretHealth", 200, string(said(`"rawStatus":{}`)), "response.healthy is missing"},
		"patch without type":  {"Retain", 200, string(said(`"patch":"W10="`)), "both or neither"},
		"type without patch":  {"Retain", 200, string(said(`"patchType":"JSONPatch"`)), "both or neither"},
		"patch type":          {"Retain", 200, string(said(`"patchType":"MergePatch","patch":"e30="`)), `"MergePatch": it must be JSONPatch`},
		"no patch in it":      {"Retain", 200, string(said(`PATCH {}`)), "is not a JSON patch"},
		"patch of a gap":      {"Retain", 200, string(said(`PATCH [{"op":"replace","path":"/spec/paused","value":true}]`)), "does not apply"},
		"patch under a gap":   {"Retain", 200, string(said(`PATCH [{"op":"add","path":"/x/y","value":true}]`)), "does not apply"},
		"patch to no object":  {"Retain", 200, string(said(`PATCH [{"op":"replace","path":"","value":[]}]`)), "the patched object"},
		"long component name": {"InterpretComponent", 200, string(said(`"components":[{"name":"` + strings.Repeat("x", 33) + `"}]`)), "1 to 32 characters"},
		"component twice":     {"InterpretComponent", 200, string(said(`"components":[{"name":"a"},{"name":"a"}]`)), `"a" is there twice`},
		"dependency's kind":   {"InterpretDependency", 200, string(said(`"dependencies":[{"apiVersion":"v1","name":"n"}]`)), "dependencies[0].kind is missing"},
		"dependency's API":    {"InterpretDependency", 200, string(said(`"dependencies":[{"kind":"Secret","name":"n"}]`)), "dependencies[0].apiVersion is missing"},
		"dependency's name":   {"InterpretDependency", 200, string(said(`"dependencies":[{"apiVersion":"v1","kind":"Secret"}]`)), "dependencies[0].name or labelSelector is missing"},
		"dependency's labels": {"InterpretDependency", 200, string(said(`"dependencies":[{"apiVersion":"v1","kind":"Secret","labelSelector":{"matchExpressions":[{"key":"a","operator":"x"}]}}]`)), "dependencies[0].labelSelector"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			taken, err := Read(question(test.operation), test.code, []byte(test.body))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%+v, %v, want %q", taken, err, test.want)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	tests := map[string]struct {
		operation, a, b string
		want            []string
	}{
		"the same":            {"InterpretHealth", `"healthy":true`, `"healthy":true`, nil},
		"health":              {"InterpretHealth", `"healthy":true`, `"healthy":false`, []string{"/healthy"}},
		"not taken":           {"InterpretHealth", `"healthy":true`, `"healthy":true,"replicas":3`, nil},
		"quantities":          {"InterpretReplica", `"replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1000m"}}`, `"replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1"}}`, nil},
		"another quantity":    {"InterpretReplica", `"replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"1000m"}}`, `"replicas":1,"replicaRequirements":{"resourceRequest":{"cpu":"2"}}`, []string{"/replicaRequirements/resourceRequest/cpu"}},
		"one less":            {"InterpretReplica", `"replicas":1,"replicaRequirements":{}`, `"replicas":1`, []string{"/replicaRequirements"}},
		"order of members":    {"InterpretStatus", `"rawStatus":{"a":1,"b":[1,{"c":2}]}`, `"rawStatus":{"b":[1,{"c":2}],"a":1}`, nil},
		"in a list":           {"InterpretStatus", `"rawStatus":{"b":[1,{"c":2}]}`, `"rawStatus":{"b":[1,{"c":3}]}`, []string{"/rawStatus/b/1/c"}},
		"longer list":         {"InterpretStatus", `"rawStatus":{"b":[1]}`, `"rawStatus":{"b":[1,2]}`, []string{"/rawStatus/b"}},
		"type":                {"InterpretStatus", `"rawStatus":{"a":{},"b":[]}`, `"rawStatus":{"a":[],"b":{}}`, []string{"/rawStatus/a", "/rawStatus/b"}},
		"names":               {"InterpretStatus", `"rawStatus":{"a/b~":1}`, `"rawStatus":{}`, []string{"/rawStatus/a~1b~0"}},
		"patches to one end":  {"Retain", `PATCH [{"op":"add","path":"/spec/paused","value":true}]`, `PATCH [{"op":"replace","path":"/spec","value":{"paused":true,"replicas":1}}]`, nil},
		"patch and none":      {"Retain", `PATCH [{"op":"replace","path":"/spec/replicas","value":1}]`, ``, nil},
		"patches to two ends": {"Retain", `PATCH [{"op":"add","path":"/spec/paused","value":true}]`, ``, []string{"/object/spec/paused"}},
		"only status counts":  {"AggregateStatus", `PATCH [{"op":"add","path":"/spec/paused","value":true}]`, ``, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var taken [2]*Taken
			for i, members := range []string{test.a, test.b} {
				var err error
				if taken[i], err = Read(question(test.operation), 200, said(members)); err != nil {
					t.Fatal(err)
				}
			}
			for _, pair := range [][2]*Taken{{taken[0], taken[1]}, {taken[1], taken[0]}} {
				got, err := Differences(pair[0], pair[1])
				if err != nil || !slices.Equal(got, test.want) {
					t.Errorf("got %q, %v, want %q", got, err, test.want)
				}
			}
		})
	}
}
