package podtemplate

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"interpreter-functions/shared/codec"
)

// template is what a T sees of a pod spec in YAML.
func template[T any](t *testing.T, spec string) *T {
	t.Helper()
	p := &corev1.PodTemplateSpec{}
	if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
		t.Fatal(err)
	}
	return view[T](t, p)
}

func view[T any](t *testing.T, p *corev1.PodTemplateSpec) *T {
	t.Helper()
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	v, err := codec.Decode[T](data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestRequests(t *testing.T) {
	tests := map[string]struct{ spec, want string }{
		"nothing": {`containers: [{name: a}]`, `{}`},
		"sum of containers": {
			`
containers:
- resources: {requests: {cpu: 100m, memory: 64Mi}}
- resources: {requests: {cpu: 150m, example.io/gpu: "2"}}`,
			`{"cpu":"250m","example.io/gpu":"2","memory":"64Mi"}`,
		},
		"limits stand in": {
			`
containers:
- resources: {limits: {cpu: "1", memory: 1Gi}, requests: {cpu: 100m}}
- resources: {limits: {cpu: 500m}}`,
			`{"cpu":"600m","memory":"1Gi"}`,
		},
		"larger of init and app containers": {
			`
initContainers:
- resources: {requests: {cpu: "2"}}
- resources: {limits: {memory: 32Mi}}
containers:
- resources: {requests: {cpu: "1", memory: 64Mi}}`,
			`{"cpu":"2","memory":"64Mi"}`,
		},
		"sidecars run beside both": {
			`
initContainers:
- {restartPolicy: Always, resources: {requests: {cpu: 500m}}}
- resources: {requests: {cpu: "1"}}
containers:
- resources: {requests: {cpu: 700m}}`,
			`{"cpu":"1500m"}`,
		},
		"overhead": {
			`
overhead: {cpu: 50m, memory: 16Mi}
containers:
- resources: {requests: {cpu: 100m}}`,
			`{"cpu":"150m","memory":"16Mi"}`,
		},
		"pod level": {
			`
resources: {requests: {cpu: "3"}}
containers:
- resources: {requests: {cpu: 100m, memory: 8Mi}}`,
			`{"cpu":"3","memory":"8Mi"}`,
		},
		"pod level limits stand in where no container states a request": {
			`
resources: {limits: {cpu: "3", memory: 1Gi}}
containers:
- resources: {requests: {cpu: 100m}}`,
			`{"cpu":"100m","memory":"1Gi"}`,
		},
		"huge pages cannot be overcommitted": {
			`
resources: {limits: {hugepages-2Mi: 8Mi}}
containers:
- resources: {limits: {hugepages-2Mi: 4Mi}, requests: {hugepages-2Mi: 4Mi}}`,
			`{"hugepages-2Mi":"8Mi"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p, before := template[Requirements](t, test.spec), template[Requirements](t, test.spec)
			got, err := json.Marshal(p.OfReplica("ns").ResourceRequest)
			if err != nil || string(got) != test.want {
				t.Errorf("%s, %v, want %s", got, err, test.want)
			}
			if same, _ := json.Marshal(p.OfComponent().ResourceRequest); string(same) != test.want {
				t.Errorf("as a component %s, want %s", same, test.want)
			}
			if !reflect.DeepEqual(p, before) {
				t.Error("the template was changed")
			}
		})
	}
}

func TestRequirements(t *testing.T) {
	p := template[Requirements](t, `
priorityClassName: high
nodeSelector: {disk: ssd}
tolerations: [{key: gpu, operator: Exists}]
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [a]}]}]}
    preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {}}]
  podAffinity: {}
`)
	claim := `"nodeClaim":{"hardNodeAffinity":{"nodeSelectorTerms":[{"matchFields":[{"key":"metadata.name","operator":"In","values":["a"]}]}]},` +
		`"nodeSelector":{"disk":"ssd"},"tolerations":[{"key":"gpu","operator":"Exists"}]}`
	for want, got := range map[string]any{
		`{` + claim + `,"namespace":"ns","priorityClassName":"high"}`: p.OfReplica("ns"),
		`{` + claim + `,"priorityClassName":"high"}`:                  p.OfComponent(),
		`{"namespace":"ns"}`: template[Requirements](t, `affinity: {nodeAffinity: {}}`).OfReplica("ns"),
		`{}`:                 template[Requirements](t, `{}`).OfComponent(),
	} {
		if data, err := json.Marshal(got); err != nil || string(data) != want {
			t.Errorf("%s, %v\nwant %s", data, err, want)
		}
	}
}

func TestDependencies(t *testing.T) {
	p := template[corev1.PodTemplateSpec](t, `
serviceAccountName: sa
imagePullSecrets: [{name: pull}, {}]
initContainers: [{name: i, envFrom: [{configMapRef: {name: init}}]}]
containers:
- name: a
  env:
  - {name: A, valueFrom: {configMapKeyRef: {name: key, key: k}}}
  - {name: B, valueFrom: {secretKeyRef: {name: key, key: k, optional: true}}}
  - {name: C, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  - {name: D, value: x}
  envFrom: [{secretRef: {name: z}}, {secretRef: {name: z}}, {configMapRef: {name: ""}}]
volumes:
- {name: own, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, apiGroup: example.io, name: not}, dataSourceRef: {kind: PersistentVolumeClaim, name: away, namespace: other}}}}}
- {name: copy, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, name: source}, dataSourceRef: {kind: PersistentVolumeClaim, name: source}}}}}
- {name: token, projected: {sources: [{serviceAccountToken: {path: t}}, {configMap: {name: projected}}]}}
- {name: pvc, persistentVolumeClaim: {claimName: claim}}
- {name: tmp, emptyDir: {}}
`)
	p.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{
		EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "debug"}}}},
	}}}
	want := []string{
		"v1 ConfigMap ns/init", "v1 ConfigMap ns/key", "v1 ConfigMap ns/projected",
		"v1 PersistentVolumeClaim ns/claim", "v1 PersistentVolumeClaim ns/source",
		"v1 Secret ns/debug", "v1 Secret ns/key", "v1 Secret ns/pull", "v1 Secret ns/z",
		"v1 ServiceAccount ns/sa",
	}
	for range 20 {
		var got []string
		for _, d := range view[Dependencies](t, p).References("ns") {
			got = append(got, d.APIVersion+" "+d.Kind+" "+d.Namespace+"/"+d.Name)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got  %q\nwant %q", got, want)
		}
	}

	for spec, want := range map[string]string{
		`{}`:                          "",
		`serviceAccountName: default`: "",
		`serviceAccount: old`:         "old",
		`{serviceAccountName: a, serviceAccount: b}`: "a",
	} {
		got := ""
		for _, d := range template[Dependencies](t, spec).References("ns") {
			got += d.Name
		}
		if got != want {
			t.Errorf("%s: %q, want %q", spec, got, want)
		}
	}
}

// TestDependenciesAreComplete fills in every field of a pod spec by which Kubernetes can name an object, found in its
// types, and wants each of them among the dependencies: a volume type of a new version is not overlooked.
func TestDependenciesAreComplete(t *testing.T) {
	p := &corev1.PodTemplateSpec{}
	var named []string
	fill(t, reflect.ValueOf(&p.Spec).Elem(), "", &named)
	if len(named) < 20 {
		t.Fatalf("found only %d places: %q", len(named), named)
	}
	var got []string
	for _, d := range view[Dependencies](t, p).References("ns") {
		got = append(got, d.Name)
	}
	for _, name := range named {
		if !slices.Contains(got, name) {
			t.Errorf("%s is not among the dependencies", name)
		}
	}
	if len(got) != len(named) {
		t.Errorf("%d dependencies of %d places:\n%q\n%q", len(got), len(named), got, named)
	}
}

// elsewhere are the names in a pod spec that are not of a ConfigMap, Secret, ServiceAccount or PersistentVolumeClaim.
var elsewhere = []string{
	"/serviceAccount",    // an alias of serviceAccountName
	"/volumes/glusterfs", // names Endpoints
	"/ephemeral/volumeClaimTemplate/spec/dataSourceRef/namespace", // then it is not in the namespace of the pods
}

// fill sets every name of an object in v to its own path.
func fill(t *testing.T, v reflect.Value, path string, named *[]string) {
	t.Helper()
	if slices.ContainsFunc(elsewhere, func(e string) bool { return strings.HasSuffix(path, e) }) {
		return
	}
	set := func(field string) {
		v.FieldByName(field).SetString(path)
		*named = append(*named, path)
	}
	switch o := v.Addr().Interface().(type) {
	case *corev1.LocalObjectReference:
		set("Name")
		return
	case *corev1.TypedLocalObjectReference:
		o.Kind = "PersistentVolumeClaim"
		set("Name")
		return
	case *corev1.TypedObjectReference:
		o.Kind = "PersistentVolumeClaim"
		set("Name")
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
			fill(t, v.Elem(), path, named)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Struct {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(t, v.Index(0), path, named)
		}
	case reflect.Struct:
		if !strings.HasPrefix(v.Type().PkgPath(), "k8s.io/api/core") {
			return
		}
		if strings.HasSuffix(v.Type().Name(), "Reference") {
			t.Errorf("%s is a reference of an unknown form: %s", path, v.Type())
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			at := path
			if name != "" {
				at = path + "/" + name
			}
			if f.Type.Kind() == reflect.String && slices.Contains([]string{"SecretName", "ClaimName", "ServiceAccountName"}, f.Name) {
				v.Field(i).SetString(at)
				*named = append(*named, at)
				continue
			}
			fill(t, v.Field(i), at, named)
		}
	}
}
