package e2e

import (
	"encoding/json"
	"reflect"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	crdvalidation "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"interpreter-functions/infra/karmada"
)

// TestCRD takes the CRD of Workload as the API server does, and lets it take Workloads.
func TestCRD(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	external := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(readFile(t, "../infra/karmada/workload.example.io_workloads.yaml"), external); err != nil {
		t.Fatal(err)
	}
	scheme.Default(external)
	crd := &apiextensions.CustomResourceDefinition{}
	if err := scheme.Convert(external, crd, nil); err != nil {
		t.Fatal(err)
	}
	crd.Status.StoredVersions = []string{"v1alpha1"} // as the API server sets it
	if errs := crdvalidation.ValidateCustomResourceDefinition(t.Context(), crd); len(errs) > 0 {
		t.Fatal(errs.ToAggregate())
	}
	if crd.Spec.Subresources == nil || crd.Spec.Subresources.Status == nil {
		t.Error("no status subresource")
	}
	schema, err := structuralschema.NewStructural(crd.Spec.Validation.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(crd.Spec.Validation.OpenAPIV3Schema)
	if err != nil {
		t.Fatal(err)
	}

	for name, test := range map[string]struct {
		change func(spec map[string]any)
		valid  bool
	}{
		"sample":            {func(map[string]any) {}, true},
		"paused":            {func(spec map[string]any) { spec["paused"] = true }, true},
		"negative replicas": {func(spec map[string]any) { spec["replicas"] = int64(-1) }, false},
		"replicas a word":   {func(spec map[string]any) { spec["replicas"] = "three" }, false},
		"no template":       {func(spec map[string]any) { delete(spec, "template") }, false},
	} {
		object := sample(t)
		test.change(object["spec"].(map[string]any))
		if errs := validation.ValidateCustomResource(nil, object, validator); (len(errs) == 0) != test.valid {
			t.Errorf("%s: %v", name, errs.ToAggregate())
		}
	}

	// Nothing of the sample is dropped, the labels of its pods included.
	object := sample(t)
	pruning.Prune(object, schema, true)
	if !reflect.DeepEqual(object, sample(t)) {
		t.Errorf("the API server would store %v", object)
	}
	delete(object["spec"].(map[string]any), "replicas")
	defaulting.Default(object, schema)
	if replicas := object["spec"].(map[string]any)["replicas"]; replicas != int64(1) {
		t.Errorf("replicas default to %v", replicas)
	}
}

func sample(t *testing.T) map[string]any {
	t.Helper()
	data, err := yaml.YAMLToJSON(karmada.SampleWorkload)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	spec := object["spec"].(map[string]any)
	spec["replicas"] = int64(spec["replicas"].(float64)) // as the API server decodes integers
	return object
}
