package interpreter

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"interpreter-functions/shared/codec/codectest"
)

// scaled is a resource that says how many replicas it wants and has, wherever it says that.
type (
	scaled struct {
		Spec struct {
			Replicas *int32 `json:"replicas,omitempty"`
			Paused   bool   `json:"paused,omitempty"`
		} `json:"spec"`
		Status struct {
			ReadyReplicas int32 `json:"readyReplicas,omitempty"`
		} `json:"status"`
	}
	flinkJob struct {
		Spec struct {
			Job *struct {
				Parallelism *int32 `json:"parallelism,omitempty"`
			} `json:"job,omitempty"`
		} `json:"spec"`
	}
)

// TestCustomResources asks for patches of resources of other projects, made up by their CRDs: each patch changes what
// it is to change and nothing else.
func TestCustomResources(t *testing.T) {
	cloneSet := schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1beta1", Kind: "CloneSet"}
	rollout := schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}
	flink := schema.GroupVersionKind{Group: "flink.apache.org", Version: "v1beta1", Kind: "FlinkDeployment"}
	tests := map[string]struct {
		crd       string
		operation *Operation
		asked     string
		place     []string
		want      any
	}{
		"CloneSet is scaled": {"clonesets.apps.kruise.io", ReviseReplica(cloneSet, func(_ context.Context, o *scaled, n int32) error {
			o.Spec.Replicas = &n
			return nil
		}), `"replicas":7`, []string{"spec", "replicas"}, json.Number("7")},
		"Rollout stays paused": {"rollouts.argoproj.io", Retain(rollout, func(_ context.Context, desired, observed *scaled) error {
			desired.Spec.Paused = observed.Spec.Paused
			return nil
		}), `"observedObject":{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","spec":{"paused":true}}`, []string{"spec", "paused"}, true},
		"Rollout is summed up": {"rollouts.argoproj.io", AggregateStatus(rollout, func(_ context.Context, o *scaled, members []Member[struct{ ReadyReplicas int32 }]) error {
			o.Status.ReadyReplicas = 1_000_000 + int32(len(members))
			return nil
		}), `"aggregatedStatus":[{"clusterName":"a"}]`, []string{"status", "readyReplicas"}, json.Number("1000001")},
		"FlinkDeployment is scaled": {"flinkdeployments.flink.apache.org", ReviseReplica(flink, func(_ context.Context, o *flinkJob, n int32) error {
			if o.Spec.Job == nil {
				o.Spec.Job = new(struct {
					Parallelism *int32 `json:"parallelism,omitempty"`
				})
			}
			o.Spec.Job.Parallelism = &n
			return nil
		}), `"replicas":7`, []string{"spec", "job", "parallelism"}, json.Number("7")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			structure := structureOf(t, test.crd, test.operation.Kind().Version)
			for seed := range uint64(200) {
				made := makeUp(rand.New(rand.NewPCG(seed, 0)), structure, 0).(map[string]any)
				apiVersion, kind := test.operation.Kind().ToAPIVersionAndKind()
				made["apiVersion"], made["kind"] = apiVersion, kind
				object, err := json.Marshal(made)
				if err != nil {
					t.Fatal(err)
				}
				patched := applied(t, test.operation, object, test.asked)
				if _, is := codectest.Only(t, object, patched, test.place...); is != test.want {
					t.Fatalf("%v is %v in %s\nthat was %s", test.place, is, patched, object)
				}
			}
		})
	}
}

// applied asks an operation of an object and returns what its patch makes of it.
func applied(t *testing.T, operation *Operation, object []byte, asked string) []byte {
	t.Helper()
	gvk := operation.Kind()
	w := askHealth(t, operation, "", `{"request":{"uid":"u","kind":{"group":`+quoted(gvk.Group)+`,"version":`+quoted(gvk.Version)+`,"kind":`+quoted(gvk.Kind)+
		`},"operation":`+quoted(string(operation.Name()))+`,"object":`+string(object)+`,`+asked+`}}`)
	var answer configv1alpha1.ResourceInterpreterContext
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Response == nil || !answer.Response.Successful {
		t.Fatalf("%s of %s", w.Body, object)
	}
	return codectest.Apply(t, answer.Response.Patch, object)
}

// structureOf is the OpenAPI schema of a version in a CRD.
func structureOf(t *testing.T, crd, version string) map[string]any {
	t.Helper()
	data, err := os.ReadFile("../../../shared/crds/" + crd + ".yaml")
	if os.IsNotExist(err) {
		t.Skip("the CRDs are not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema map[string]any }
			}
		}
	}
	if err := yaml.Unmarshal(data, &definition); err != nil {
		t.Fatal(err)
	}
	for _, v := range definition.Spec.Versions {
		if v.Name == version {
			return v.Schema.OpenAPIV3Schema
		}
	}
	t.Fatalf("%s has no version %s", crd, version)
	return nil
}

// makeUp makes a value up that an OpenAPI schema describes.
func makeUp(r *rand.Rand, structure map[string]any, depth int) any {
	if structure["x-kubernetes-int-or-string"] == true {
		return []any{1, "25%"}[r.IntN(2)]
	}
	switch structure["type"] {
	case "object":
		object := map[string]any{}
		properties, _ := structure["properties"].(map[string]any)
		for _, name := range sorted(properties) {
			if r.IntN(depth+2) < 2 && r.IntN(3) > 0 {
				object[name] = makeUp(r, properties[name].(map[string]any), depth+1)
			}
		}
		if properties == nil {
			object["a/b~c"] = "x"
		}
		object["unknown"] = map[string]any{"number": json.Number("1.0"), "quantity": "1000m", "null": nil, "list": []any{}}
		return object
	case "array":
		return []any{makeUp(r, structure["items"].(map[string]any), depth+1)}
	case "integer":
		return r.IntN(1000)
	case "number":
		return json.Number("2.50")
	case "boolean":
		return r.IntN(2) == 0
	default:
		return "é <&>\u2028"
	}
}

func sorted(m map[string]any) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
