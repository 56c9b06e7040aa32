package codec

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"

	"interpreter-functions/shared/codec/codectest"
)

// resourceView has a field of every sort that a Kubernetes API type has.
type resourceView struct {
	Embedded `json:",inline"`
	*Pointed
	Spec struct {
		Replicas *int32                      `json:"replicas,omitempty"`
		Paused   bool                        `json:"paused"`
		Host     string                      `json:"host,omitempty"`
		Surge    *intstr.IntOrString         `json:"surge,omitempty"`
		Limits   corev1.ResourceList         `json:"limits,omitempty"`
		Labels   map[string]string           `json:"labels,omitempty"`
		Args     []string                    `json:"args,omitempty"`
		Keyed    []keyed                     `json:"keyed,omitempty" patchMergeKey:"name"`
		Unkeyed  []item                      `json:"unkeyed"`
		Template *corev1.PodTemplateSpec     `json:"template,omitempty"`
		Free     map[string]any              `json:"free,omitempty"`
		Data     []byte                      `json:"data,omitempty"`
		Nested   map[string]map[string]int32 `json:"nested,omitempty"`
	} `json:"spec"`
	Status struct {
		Ready int32        `json:"ready"`
		Since *metav1.Time `json:"since,omitempty"`
		Inner struct {
			Count int64   `json:"count"`
			Ratio float64 `json:"ratio,omitempty"`
		} `json:"inner"`
	} `json:"status"`
	Optional struct {
		A int `json:"a"`
		B int `json:"b,omitempty"`
	} `json:"optional,omitempty"`
}

type Embedded struct {
	Flag     bool `json:"flag,omitempty"`
	Optional int  `json:"optional"` // hidden by the outer one
}

type Pointed struct {
	Pin string `json:"pin,omitempty"`
}

type item struct {
	Name  string `json:"name"`
	Value int    `json:"value,omitempty"`
}

type keyed item

func TestPatch(t *testing.T) {
	three := int32(3)
	tests := map[string]struct {
		raw    string
		change func(*resourceView)
		want   string
	}{
		"nothing": {`{"spec":{"paused":false,"x":1}}`, func(v *resourceView) { v.Spec.Paused = false }, ``},
		"reading a quantity changes nothing": {
			`{"spec":{"limits":{"cpu":"1000m","memory":"1024Mi"}}}`,
			func(v *resourceView) { _ = v.Spec.Limits.Cpu().String() },
			``,
		},
		"an empty map is a missing one": {`{"spec":{"labels":{},"unkeyed":null}}`, func(v *resourceView) { v.Spec.Labels, v.Spec.Unkeyed = nil, []item{} }, ``},
		"add":                           {`{"spec":{}}`, func(v *resourceView) { v.Spec.Replicas = &three }, `[{"op":"add","path":"/spec/replicas","value":3}]`},
		"replace":                       {`{"spec":{"replicas":1}}`, func(v *resourceView) { v.Spec.Replicas = &three }, `[{"op":"replace","path":"/spec/replicas","value":3}]`},
		"replace null":                  {`{"spec":{"replicas":null}}`, func(v *resourceView) { v.Spec.Replicas = &three }, `[{"op":"replace","path":"/spec/replicas","value":3}]`},
		"remove":                        {`{"spec":{"replicas":1}}`, func(v *resourceView) { v.Spec.Replicas = nil }, `[{"op":"remove","path":"/spec/replicas"}]`},
		"to zero":                       {`{"spec":{"paused":true}}`, func(v *resourceView) { v.Spec.Paused = false }, `[{"op":"replace","path":"/spec/paused","value":false}]`},
		"to empty":                      {`{"spec":{"host":"a"}}`, func(v *resourceView) { v.Spec.Host = "" }, `[{"op":"remove","path":"/spec/host"}]`},
		"missing parent":                {`{"x":1}`, func(v *resourceView) { v.Spec.Paused = true }, `[{"op":"add","path":"/spec","value":{"paused":true}}]`},
		"null parent":                   {`{"spec":null}`, func(v *resourceView) { v.Spec.Paused = true }, `[{"op":"replace","path":"/spec","value":{"paused":true}}]`},
		"missing parents":               {`{}`, func(v *resourceView) { v.Status.Inner.Count = 7 }, `[{"op":"add","path":"/status","value":{"inner":{"count":7}}}]`},
		"two at once": {
			`{"spec":{},"status":{"ready":1}}`, func(v *resourceView) { v.Spec.Paused, v.Status.Ready = true, 2 },
			`[{"op":"add","path":"/spec/paused","value":true},{"op":"replace","path":"/status/ready","value":2}]`,
		},
		"the last of repeated names": {`{"spec":{"replicas":1},"spec":{}}`, func(v *resourceView) { v.Spec.Replicas = &three }, `[{"op":"add","path":"/spec/replicas","value":3}]`},
		"names are case-sensitive":   {`{"Spec":{"replicas":1},"spec":{"Replicas":2}}`, func(v *resourceView) { v.Spec.Replicas = &three }, `[{"op":"add","path":"/spec/replicas","value":3}]`},
		"a struct at zero keeps what the type does not know": {
			`{"optional":{"a":1,"b":2,"c":3}}`, func(v *resourceView) { v.Optional.A, v.Optional.B = 0, 0 },
			`[{"op":"replace","path":"/optional/a","value":0},{"op":"remove","path":"/optional/b"}]`,
		},
		"embedded":                {`{"flag":true}`, func(v *resourceView) { v.Flag = false }, `[{"op":"remove","path":"/flag"}]`},
		"embedded pointer":        {`{}`, func(v *resourceView) { v.Pointed = &Pointed{Pin: "a"} }, `[{"op":"add","path":"/pin","value":"a"}]`},
		"embedded pointer to nil": {`{"pin":"a"}`, func(v *resourceView) { v.Pointed = nil }, `[{"op":"remove","path":"/pin"}]`},
		"map member": {
			`{"spec":{"labels":{"a/b":"1","c~d":"2","e":"3"}}}`,
			func(v *resourceView) {
				v.Spec.Labels["a/b"] = "4"
				delete(v.Spec.Labels, "c~d")
				v.Spec.Labels["f"] = "5"
			},
			`[{"op":"replace","path":"/spec/labels/a~1b","value":"4"},{"op":"remove","path":"/spec/labels/c~0d"},{"op":"add","path":"/spec/labels/f","value":"5"}]`,
		},
		"map emptied": {`{"spec":{"labels":{"a":"1"}}}`, func(v *resourceView) { v.Spec.Labels = nil }, `[{"op":"remove","path":"/spec/labels"}]`},
		"map of maps": {
			`{"spec":{"nested":{"a":{"b":1,"c":2}}}}`, func(v *resourceView) { v.Spec.Nested["a"]["b"] = 3 },
			`[{"op":"replace","path":"/spec/nested/a/b","value":3}]`,
		},
		"quantity": {
			`{"spec":{"limits":{"cpu":"1000m","memory":"1024Mi"}}}`,
			func(v *resourceView) { v.Spec.Limits["cpu"] = resource.MustParse("2") },
			`[{"op":"replace","path":"/spec/limits/cpu","value":"2"}]`,
		},
		"int or string": {
			`{"spec":{"surge":"25%"}}`,
			func(v *resourceView) { *v.Spec.Surge = intstr.FromInt32(1) },
			`[{"op":"replace","path":"/spec/surge","value":1}]`,
		},
		"bytes": {`{"spec":{"data":"YQ=="}}`, func(v *resourceView) { v.Spec.Data = []byte("b") }, `[{"op":"replace","path":"/spec/data","value":"Yg=="}]`},
		"free form": {
			`{"spec":{"free":{"a":{"b":1,"big":12345678901234567890},"c":[1]}}}`,
			func(v *resourceView) { v.Spec.Free["a"].(map[string]any)["b"] = "x" },
			`[{"op":"replace","path":"/spec/free/a/b","value":"x"}]`,
		},
		"free form of another type": {
			`{"spec":{"free":{"a":{"b":1}}}}`, func(v *resourceView) { v.Spec.Free["a"] = nil },
			`[{"op":"replace","path":"/spec/free/a","value":null}]`,
		},
		"list appended": {`{"spec":{"args":["a"]}}`, func(v *resourceView) { v.Spec.Args = append(v.Spec.Args, "b") }, `[{"op":"add","path":"/spec/args/1","value":"b"}]`},
		"list begun":    {`{"spec":{}}`, func(v *resourceView) { v.Spec.Args = []string{"b"} }, `[{"op":"add","path":"/spec/args","value":["b"]}]`},
		"list rotated": {
			`{"spec":{"args":["a","b","c"]}}`, func(v *resourceView) { v.Spec.Args = []string{"c", "a", "b"} },
			`[{"op":"remove","path":"/spec/args/2"},{"op":"add","path":"/spec/args/0","value":"c"}]`,
		},
		"list element replaced": {`{"spec":{"args":["a","b","c"]}}`, func(v *resourceView) { v.Spec.Args[1] = "x" }, `[{"op":"replace","path":"/spec/args/1","value":"x"}]`},
		"list element changed in place": {
			`{"spec":{"unkeyed":[{"name":"a","x":1},{"name":"b","x":2}]}}`, func(v *resourceView) { v.Spec.Unkeyed[1].Name = "c" },
			`[{"op":"replace","path":"/spec/unkeyed/1/name","value":"c"}]`,
		},
		"list element taken from the middle": {
			`{"spec":{"unkeyed":[{"name":"a","x":1},{"name":"b","x":2},{"name":"c","x":3}]}}`,
			func(v *resourceView) { v.Spec.Unkeyed = append(v.Spec.Unkeyed[:1], v.Spec.Unkeyed[2:]...) },
			`[{"op":"remove","path":"/spec/unkeyed/1"}]`,
		},
		"moved elements keep what the type does not know": {
			`{"spec":{"unkeyed":[{"name":"a","x":1.0},{"name":"b","x":2}]}}`,
			func(v *resourceView) { u := v.Spec.Unkeyed; u[0], u[1] = u[1], u[0] },
			`[{"op":"remove","path":"/spec/unkeyed/1"},{"op":"add","path":"/spec/unkeyed/0","value":{"name":"b","x":2}}]`,
		},
		"keyed elements are followed": {
			`{"spec":{"keyed":[{"name":"a","value":1,"x":1},{"name":"b","value":2,"x":2},{"name":"c","value":3,"x":3}]}}`,
			func(v *resourceView) { v.Spec.Keyed = []keyed{{"c", 4}, {"b", 2}, {"d", 5}} },
			`[{"op":"remove","path":"/spec/keyed/2"},{"op":"remove","path":"/spec/keyed/0"},` +
				`{"op":"add","path":"/spec/keyed/0","value":{"name":"c","value":3,"x":3}},{"op":"add","path":"/spec/keyed/2","value":{"name":"d","value":5}},` +
				`{"op":"replace","path":"/spec/keyed/0/value","value":4}]`,
		},
		"deep in a pod template": {
			`{"spec":{"template":{"spec":{"containers":[{"name":"a","resources":{"limits":{"cpu":"0.5"}},"futureField":null}]}}}}`,
			func(v *resourceView) { v.Spec.Template.Spec.Containers[0].Image = "nginx" },
			`[{"op":"add","path":"/spec/template/spec/containers/0/image","value":"nginx"}]`,
		},
		"pointer taken away": {`{"spec":{"template":{"spec":{}}}}`, func(v *resourceView) { v.Spec.Template = nil }, `[{"op":"remove","path":"/spec/template"}]`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			raw := NewRaw[resourceView]([]byte(test.raw))
			v, err := raw.Copy()
			if err != nil {
				t.Fatal(err)
			}
			test.change(v)
			got, err := raw.Patch(v)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("patch of %s:\n got %s\nwant %s", test.raw, got, test.want)
			}
			checkPatch(t, []byte(test.raw), got, v)
		})
	}
}

// checkPatch applies a patch as Karmada does and decodes what comes of it: that must be the changed value.
func checkPatch[T any](t *testing.T, raw, patch []byte, changed *T) []byte {
	t.Helper()
	patched := codectest.Apply(t, patch, raw)
	again := NewRaw[T](patched)
	if rest, err := again.Patch(changed); err != nil || rest != nil {
		t.Errorf("%s\nof %s\ngives %s\nwhich still lacks %s (%v)\n%+v", patch, raw, patched, rest, err, again.value)
	}
	return patched
}

// TestDecodesFast keeps objects as clients write them from being left to the library.
func TestDecodesFast(t *testing.T) {
	raw := stored(2_000)
	for _, view := range []any{&small{}, &large{}, &corev1.Pod{}, &resourceView{}} {
		if !decodeFast(raw, reflect.ValueOf(view).Elem()) {
			t.Errorf("%T is left to the library", view)
		}
	}
	if value, ok := findFast(raw, []string{"status", "ready"}); !ok || string(value) != "3" {
		t.Errorf("finding is left to the library: %s", value)
	}
	values := make([][]byte, 1)
	if !pickFast(raw, []string{"kind"}, values, false) || string(values[0]) != `"X"` {
		t.Errorf("picking is left to the library: %s", values)
	}
}

// TestCopy changes everything that a value of a plain type leads to: its copy stays as it was.
func TestCopy(t *testing.T) {
	type part struct {
		*Pointed
		List []*int             `json:"list"`
		Map  map[string][]bool  `json:"map"`
		Raw  json.RawMessage    `json:"raw"`
		Deep *map[string]string `json:"deep"`
	}
	const text = `{"pin":"a","list":[1,null],"map":{"a":[true],"b":null},"raw":{"x":1},"deep":{"k":"v"}}`
	if !plain(reflect.TypeFor[part]()) || plain(reflect.TypeFor[resourceView]()) || plain(reflect.TypeFor[any]()) {
		t.Error("what is plain is not plain")
	}
	raw := NewRaw[part]([]byte(text))
	value, err := raw.Copy()
	if err != nil {
		t.Fatal(err)
	}
	original, err := raw.Decode()
	if err != nil || !reflect.DeepEqual(original, value) {
		t.Fatalf("%+v, %v", original, err)
	}
	value.Pin = "b"
	*value.List[0] = 2
	value.Map["a"][0] = false
	value.Map["c"] = nil
	(*value.Deep)["k"] = "w"
	value.Raw[0] = '['
	if want, _ := Decode[part]([]byte(text)); !reflect.DeepEqual(original, want) {
		t.Errorf("what was copied is %+v", original)
	}
}

// TestDeepNesting has values in values in a type that is in itself, to the end of what a stack would take: that is an
// error, and not the end of the process.
func TestDeepNesting(t *testing.T) {
	for name, part := range map[string][2]string{"known": {`{"self":`, `}`}, "list": {`{"x":[`, `]}`}} {
		raw := []byte(strings.Repeat(part[0], 1<<20) + `null` + strings.Repeat(part[1], 1<<20))
		if _, err := Decode[fastView](raw); !errors.Is(err, ErrSyntax) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Find(raw, "self", "self"); !errors.Is(err, ErrSyntax) && name == "known" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPatchOfUnstructured(t *testing.T) {
	raw := NewRaw[unstructured.Unstructured]([]byte(`{"apiVersion":"v1","kind":"X","spec":{"n":1.0,"big":12345678901234567,"l":[{"a":1}]}}`))
	u, err := raw.Copy()
	if err != nil {
		t.Fatal(err)
	}
	if err := unstructured.SetNestedField(u.Object, "x", "spec", "new", "deep"); err != nil {
		t.Fatal(err)
	}
	got, err := raw.Patch(u)
	if want := `[{"op":"add","path":"/spec/new","value":{"deep":"x"}}]`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestDecodeErrors(t *testing.T) {
	tests := map[string]string{
		``:                                   `not valid JSON: it ends too early`,
		`{"spec":`:                           `not valid JSON: it ends too early`,
		`{"spec":{}} x`:                      `not valid JSON: `,
		`nonsense`:                           `not valid JSON: `,
		`[]`:                                 `an array where an object is expected`,
		`{"spec":"x"}`:                       `/spec: a string where an object is expected`,
		`{"spec":{"replicas":"3"}}`:          `/spec/replicas: a string where int32 is expected`,
		`{"spec":{"replicas":1.5}}`:          `/spec/replicas: a number where int32 is expected: invalid syntax`,
		`{"spec":{"replicas":3000000000}}`:   `/spec/replicas: a number where int32 is expected: value out of range`,
		`{"spec":{"host":7}}`:                `/spec/host: a number where a string is expected`,
		`{"spec":{"args":{}}}`:               `/spec/args: an object where an array is expected`,
		`{"spec":{"limits":{"cpu":"many"}}}`: `/spec/limits/cpu: a value that does not fit: quantities must match`,
	}
	for raw, want := range tests {
		_, err := Decode[resourceView]([]byte(raw))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Decode(%.60s): %v, want %s", raw, err, want)
		}
		if err != nil && errors.Is(err, ErrSyntax) != strings.HasPrefix(want, ErrSyntax.Error()) {
			t.Errorf("Decode(%.60s): %v: is ErrSyntax: %v", raw, err, errors.Is(err, ErrSyntax))
		}
	}
}

func TestFind(t *testing.T) {
	tests := []struct{ raw, path, want string }{
		{`{"a":{"b":"x"}}`, "a/b", `"x"`},
		{` { "z":[{"a":1}], "a": {"c":{"b":1}, "b" : [1, 2] } } trailing`, "a/b", `[1, 2]`},
		{`{"a":{"b":1,"b":2}}`, "a/b", `1`},
		{`{"\u0061":{"b":1}}`, "a/b", `1`},
		{`{"a":{"c":1}}`, "a/b", ``},
		{`{"a":"b"}`, "a/b", ``},
		{`[]`, "a", ``},
	}
	for _, test := range tests {
		got, err := Find([]byte(test.raw), strings.Split(test.path, "/")...)
		if err != nil || string(got) != test.want {
			t.Errorf("Find(%s, %s) = %s, %v, want %s", test.raw, test.path, got, err, test.want)
		}
	}
	for _, raw := range []string{``, `{`, `{"a"`, `{"a":`, `{"b":nope,"a":1}`, `x`} {
		if got, err := Find([]byte(raw), "a"); !errors.Is(err, ErrSyntax) {
			t.Errorf("Find(%s) = %s, %v, want a syntax error", raw, got, err)
		}
	}
}
