package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"knative.dev/pkg/apis"
	servingv1 "knative.dev/serving/pkg/apis/serving/v1"
	servingv1beta1 "knative.dev/serving/pkg/apis/serving/v1beta1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"interpreter-functions/functions"
	"interpreter-functions/shared/routerconfig"
)

const manifests = "../knative/manifests"

// deployment is what a kustomization deploys, by name.
type deployment struct {
	knative     map[string]*servingv1.Service
	deployments map[string]*appsv1.Deployment
	services    map[string]*corev1.Service
	routes      *routerconfig.Config
}

// kustomized builds the base with components, and refuses what the API server would refuse.
func kustomized(t *testing.T, components ...string) deployment {
	t.Helper()
	overlay := t.TempDir()
	relative := func(name string) string {
		absolute, err := filepath.Abs(filepath.Join(manifests, name))
		if err != nil {
			t.Fatal(err)
		}
		path, err := filepath.Rel(overlay, absolute)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	kustomization := "resources: [" + relative("base") + "]\ncomponents:\n"
	for _, component := range components {
		kustomization += "- " + relative("components/"+component) + "\n"
	}
	if err := os.WriteFile(filepath.Join(overlay, "kustomization.yaml"), []byte(kustomization), 0o600); err != nil {
		t.Fatal(err)
	}
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), overlay)
	if err != nil {
		t.Fatal(err)
	}
	d := deployment{map[string]*servingv1.Service{}, map[string]*appsv1.Deployment{}, map[string]*corev1.Service{}, nil}
	for _, object := range objects.Resources() {
		manifest, err := object.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		if object.GetKind() != "Namespace" && object.GetNamespace() != "interpreter" {
			t.Errorf("%s is in the namespace %q", object.CurId(), object.GetNamespace())
		}
		name := object.GetName()
		switch id := object.GetGvk().String(); id {
		case "Service.v1.serving.knative.dev":
			d.knative[name] = strictly(t, manifest, &servingv1.Service{})
			validate(t, d.knative[name])
		case "Service.v1.[noGrp]":
			d.services[name] = strictly(t, manifest, &corev1.Service{})
		case "Deployment.v1.apps":
			d.deployments[name] = strictly(t, manifest, &appsv1.Deployment{})
		case "ConfigMap.v1.[noGrp]":
			data := strictly(t, manifest, &corev1.ConfigMap{}).Data["routes.yaml"]
			if d.routes, err = routerconfig.Parse([]byte(data)); err != nil {
				t.Errorf("%s: %v", data, err)
			}
		case "Namespace.v1.[noGrp]":
			strictly(t, manifest, &corev1.Namespace{})
		case "PodDisruptionBudget.v1.policy":
			strictly(t, manifest, &policyv1.PodDisruptionBudget{})
		default:
			t.Errorf("nobody looks at %s", id)
		}
	}
	return d
}

func strictly[T any](t *testing.T, manifest []byte, object *T) *T {
	t.Helper()
	if err := yaml.UnmarshalStrict(manifest, object); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	return object
}

// validate does what Knative's webhook does with an object that is created.
func validate(t *testing.T, object interface {
	apis.Defaultable
	apis.Validatable
	GetName() string
},
) {
	t.Helper()
	ctx := apis.WithinCreate(context.Background())
	object.SetDefaults(ctx)
	if err := object.Validate(ctx); err != nil {
		t.Errorf("%s: %v", object.GetName(), err)
	}
}

// check holds what is deployed against the registry of the functions.
func (d deployment) check(t *testing.T, operations ...string) {
	t.Helper()
	for name, service := range d.knative {
		if d.services[name] != nil {
			t.Errorf("the Service %s takes the name of a Knative Service", name)
		}
		checkImage(t, service.Spec.Template.Spec.Containers[0].Image, name)
	}
	if router := d.deployments["router"]; router != nil {
		checkImage(t, router.Spec.Template.Spec.Containers[0].Image, "router")
		service := d.services["interpreter-workload"]
		for key, value := range service.Spec.Selector {
			if router.Spec.Template.Labels[key] != value {
				t.Errorf("the Service does not select the router by %s", key)
			}
		}
	}
	if len(d.routes.Routes) != 1 || string(d.routes.Routes[0].Path) != functions.Path {
		t.Fatalf("%+v", d.routes)
	}
	routed := d.routes.Routes[0].Functions
	if len(routed) != len(operations) {
		t.Errorf("%d operations are routed, not %d", len(routed), len(operations))
	}
	for _, operation := range operations {
		name := strings.ToLower(operation)
		function := routed[routerconfig.Operation(operation)]
		service := d.knative[name]
		if service == nil || function.URL.URL == nil || function.URL.String() != "http://"+name+"."+service.Namespace+".svc.cluster.local" {
			t.Errorf("%s is routed to %v", operation, function.URL)
			continue
		}
		if service.Labels["networking.knative.dev/visibility"] != "cluster-local" {
			t.Errorf("%s can be reached from outside", name)
		}
	}
}

// checkImage wants the image of a program of this module.
func checkImage(t *testing.T, image, name string) {
	t.Helper()
	if image != "ko://interpreter-functions/knative/"+name {
		t.Errorf("the image of %s is %s", name, image)
	}
	if _, err := os.Stat("../knative/" + name + "/main.go"); err != nil {
		t.Error(err)
	}
}

func TestManifests(t *testing.T) {
	var all []string
	for _, operation := range functions.All {
		all = append(all, string(operation.Name()))
	}
	hot := []string{"interpretstatus", "interprethealth"}
	t.Run("base", func(t *testing.T) {
		d := kustomized(t)
		d.check(t, all...)
		if len(d.knative) != 8 || d.deployments["router"] == nil {
			t.Errorf("%+v", d)
		}
		for name, service := range d.knative {
			if scale := service.Spec.Template.Annotations["autoscaling.knative.dev/min-scale"]; scale != "0" {
				t.Errorf("at least %s pods of %s run", scale, name)
			}
		}
	})
	t.Run("keep-warm", func(t *testing.T) {
		d := kustomized(t, "keep-warm")
		d.check(t, all...)
		for name, service := range d.knative {
			if scale := service.Spec.Template.Annotations["autoscaling.knative.dev/min-scale"]; (scale == "1") != slices.Contains(hot, name) {
				t.Errorf("at least %s pods of %s run", scale, name)
			}
		}
	})
	t.Run("pull-mode", func(t *testing.T) {
		d := kustomized(t, "pull-mode")
		d.check(t, "Retain", "InterpretStatus", "InterpretHealth")
		if len(d.knative) != 3 {
			t.Errorf("%+v", d.knative)
		}
	})
	t.Run("router-service", func(t *testing.T) {
		d := kustomized(t, "router-service")
		d.check(t, all...)
		if len(d.knative) != 9 || len(d.deployments) != 0 || len(d.services) != 0 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("all of them", func(t *testing.T) {
		d := kustomized(t, "keep-warm", "pull-mode", "router-service")
		d.check(t, "Retain", "InterpretStatus", "InterpretHealth")
		if len(d.knative) != 4 {
			t.Errorf("%+v", d)
		}
	})
	t.Run("examples", func(t *testing.T) {
		mapping := strictly(t, readFile(t, manifests+"/examples/domain-mapping.yaml"), &servingv1beta1.DomainMapping{})
		validate(t, mapping)
		if target := kustomized(t, "router-service").knative[mapping.Spec.Ref.Name]; target == nil {
			t.Errorf("there is no %s to map to", mapping.Spec.Ref.Name)
		}
	})
}

// TestValidate keeps the test above from passing whatever it is given.
func TestValidate(t *testing.T) {
	service := kustomized(t).knative["retain"]
	service.Spec.Template.Annotations["autoscaling.knative.dev/min-scale"] = "some"
	ctx := apis.WithinCreate(context.Background())
	if err := service.Validate(ctx); err == nil {
		t.Error("Knative's validation takes anything")
	}
}
