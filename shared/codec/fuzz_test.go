package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	kubejson "sigs.k8s.io/json"

	"interpreter-functions/shared/codec/codectest"
)

var seeds = []string{
	`{}`,
	`null`,
	`{"spec":null,"status":{"ready":1,"inner":null}}`,
	`{"flag":true,"pin":"a","unknown":{"a":[1,2.0,null,{"b":"<&>\u2028"}]},"spec":{"replicas":1,"x":1e2,"args":["a","b"],"labels":{"a/b~":"c"}}}`,
	`{"spec":{"limits":{"cpu":"1000m"},"keyed":[{"name":"a","value":1,"y":{}},{"name":"b","z":null}],"unkeyed":[{"name":"a","q":1},{"name":"a","q":2}]}}`,
	`{"spec":{"template":{"metadata":{"creationTimestamp":null},"spec":{"containers":[{"name":"a","image":"b","resources":{}}]}},"free":{"a":{"b":[1]}},"data":"YQ=="}}`,
	`{"spec":{"surge":"25%","nested":{"a":{"b":1}}},"status":{"since":"2026-01-02T03:04:05.5+02:00","inner":{"count":1,"ratio":1.5}}}`,
	`{"optional":{"a":1,"b":2,"c":{"d":null}}}`,
	`{"spec":{"paused":true},"spec":{"labels":{"a":"b"}},"Spec":{}}`,
}

// FuzzPatch changes any object in any way, applies the patch and demands two things: the patched object decodes to
// the changed value, and nothing differs from the original but what was changed.
func FuzzPatch(f *testing.F) {
	for i, seed := range seeds {
		for j := range uint64(20) {
			f.Add([]byte(seed), uint64(i)<<8|j)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte, seed uint64) {
		if applicable(raw) {
			changeSome[resourceView](t, raw, seed)
			changeSome[plainView](t, raw, seed)
		}
	})
}

// plainView is what is plain in a resourceView.
type plainView struct {
	Embedded
	*Pointed
	Spec struct {
		Replicas *int32                      `json:"replicas,omitempty"`
		Paused   bool                        `json:"paused"`
		Labels   map[string]string           `json:"labels,omitempty"`
		Args     []string                    `json:"args,omitempty"`
		Keyed    []keyed                     `json:"keyed,omitempty" patchMergeKey:"name"`
		Nested   map[string]map[string]int32 `json:"nested,omitempty"`
	} `json:"spec"`
	Status struct {
		Ready int32 `json:"ready"`
		Inner struct {
			Count int64 `json:"count"`
		} `json:"inner"`
	} `json:"status"`
}

func changeSome[T any](t *testing.T, raw []byte, seed uint64) {
	t.Helper()
	object := NewRaw[T](raw)
	changed, err := object.Copy()
	if err != nil {
		return
	}
	mutate(rand.New(rand.NewPCG(seed, 0)), reflect.ValueOf(changed).Elem(), 0)
	patch, err := object.Patch(changed)
	if err != nil {
		t.Fatal(err)
	}
	patched := checkPatch(t, raw, patch, changed)

	intended := differences(t, typed(t, object.value), typed(t, changed))
	for path := range differences(t, raw, patched) {
		if !covered(path, intended) {
			t.Errorf("%s changed by %s\n from %s\n to %s\n intended %v", path, patch, raw, patched, intended)
		}
	}
	if len(intended) == 0 && patch != nil {
		t.Errorf("nothing changed, yet %s", patch)
	}
	object.once = false
	if thorough, err := object.Patch(changed); err != nil || !bytes.Equal(thorough, patch) {
		t.Errorf("%s, but with all of the object read %s, %v", patch, thorough, err)
	}
}

// applicable holds for objects as Karmada can have them: it keeps them decoded, so that no name is repeated and every
// string is UTF-8.
func applicable(raw []byte) bool {
	var tree map[string]any
	if json.Unmarshal(raw, &tree) != nil || tree == nil {
		return false
	}
	again, err := json.Marshal(tree)
	return err == nil && tokens(raw) == tokens(again) && !strings.Contains(string(again), "\ufffd")
}

func tokens(data []byte) (n int) {
	for d := json.NewDecoder(bytes.NewReader(data)); ; n++ {
		if _, err := d.Token(); err != nil {
			return n
		}
	}
}

func typed(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// differences returns the paths at which two documents differ. A list with another number of elements differs as a whole.
func differences(t *testing.T, a, b []byte) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	var walk func(path string, a, b any)
	walk = func(path string, a, b any) {
		switch a := a.(type) {
		case map[string]any:
			if b, ok := b.(map[string]any); ok {
				for name := range a {
					walk(path+"/"+escape(name), a[name], b[name])
				}
				for name := range b {
					if _, ok := a[name]; !ok {
						walk(path+"/"+escape(name), nil, b[name])
					}
				}
				return
			}
		case []any:
			if b, ok := b.([]any); ok && len(a) == len(b) {
				for i := range a {
					walk(fmt.Sprintf("%s/%d", path, i), a[i], b[i])
				}
				return
			}
		}
		if !reflect.DeepEqual(a, b) {
			found[path] = true
		}
	}
	walk("", codectest.Decode(t, a), codectest.Decode(t, b))
	return found
}

// covered holds if the path, what it is in, or something in it was to change.
func covered(path string, intended map[string]bool) bool {
	for i := range intended {
		if path == i || strings.HasPrefix(path, i+"/") || strings.HasPrefix(i, path+"/") {
			return true
		}
	}
	return false
}

// mutate changes a few places of v at random, keeping lists in order: what a reordering keeps is the table's to show.
func mutate(r *rand.Rand, v reflect.Value, depth int) {
	if r.IntN(3) == 0 && depth > 1 || depth > 8 || !v.CanSet() {
		return
	}
	switch v.Interface().(type) {
	case intstr.IntOrString:
		v.Set(reflect.ValueOf(intstr.FromInt32(r.Int32N(9))))
		return
	case keyed:
		v.FieldByName("Value").SetInt(r.Int64N(3)) // with another name it would be another element
		return
	case item:
		v.FieldByName("Value").SetInt(r.Int64()) // or it could become its neighbour, as if it had moved
		return
	case corev1.PodTemplateSpec:
		if containers := v.Addr().Interface().(*corev1.PodTemplateSpec).Spec.Containers; len(containers) > 0 {
			containers[0].Image = fmt.Sprint(r.IntN(9))
		}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() && v.Type().Elem().Kind() != reflect.Struct {
			v.Set(reflect.New(v.Type().Elem()))
		}
		if !v.IsNil() {
			mutate(r, v.Elem(), depth+1)
		}
	case reflect.Struct:
		if custom(v.Type()) {
			return
		}
		for i := range v.NumField() {
			mutate(r, v.Field(i), depth+1)
		}
	case reflect.Map:
		if v.Type().Elem().Kind() != reflect.String {
			return
		}
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		v.SetMapIndex(reflect.ValueOf("added~/"), reflect.ValueOf(fmt.Sprint(r.IntN(9))))
		for _, key := range v.MapKeys() {
			if r.IntN(2) == 0 {
				v.SetMapIndex(key, reflect.Value{})
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			mutate(r, v.Index(i), depth+1)
		}
		if r.IntN(2) == 0 && v.Type().Elem().Kind() == reflect.String {
			v.Set(reflect.Append(v, reflect.ValueOf(fmt.Sprint(r.IntN(9))).Convert(v.Type().Elem())))
		}
	case reflect.String:
		v.SetString([]string{"", "x", "é<&>\u2028"}[r.IntN(3)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(3))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(3)) / 2)
	}
}

// FuzzDecode holds Decode against the decoder of the Kubernetes API server: what that reads, Decode reads, and to the
// same value.
func FuzzDecode(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"spec":{"template":{"spec":{"containers":[{"ports":[{"containerPort":80}],"env":[{"name":"a","value":"b"}]}],"tolerations":[{"tolerationSeconds":3}]}}}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want resourceView
		err := kubejson.UnmarshalCaseSensitivePreserveInts(raw, &want)
		got, gotErr := Decode[resourceView](raw)
		if err == nil && gotErr != nil {
			t.Fatalf("Decode: %v, the API server reads it", gotErr)
		}
		if err != nil || gotErr != nil {
			return
		}
		if c, err := diff(reflect.ValueOf(&want).Elem(), reflect.ValueOf(got).Elem(), ""); (c != nil || err != nil) && want.Spec.Free == nil {
			t.Fatalf("Decode of %s differs from the API server's:\n got %s\nwant %s", raw, typed(t, got), typed(t, &want))
		}
	})
}

// FuzzFast holds the fast way to decode against the library: what it decodes, the library does, and to the same value.
// The scanner must not give up on JSON as clients write it.
func FuzzFast(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Add([]byte(`{"free":{"a":1},"raw":{"a":[1,"\\ud800"]},"text":"\\u00e9\\n","wide":"日本","list":[{"Pin":"x"},null,{}],"map":{"a":null,"b":[]},"number":-0,"self":{"self":null}}`))
	f.Add([]byte(`{"pin":null,"text":"a\x80","number":9223372036854775807,"small":128,"list":[1 2]}`))
	f.Add([]byte(" [ ] \n"))
	f.Add([]byte(strings.Repeat(`{"self":`, 80) + `{}` + strings.Repeat(`}`, 80)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		compareFast[resourceView](t, raw)
		compareFast[fastView](t, raw)
		compareFast[any](t, raw)
		compareFast[[]string](t, raw)
		var tree any
		plain := json.Unmarshal(raw, &tree) == nil && applicable(raw) && !bytes.ContainsAny(raw, "\\") && strings.Count(string(raw), "[")+strings.Count(string(raw), "{") < maxDepth
		if end := skip(raw, space(raw, 0)); plain && (end < 0 || space(raw, end) != len(raw)) {
			t.Errorf("the scanner gives up on %s", raw)
		}
	})
}

// fastView has what resourceView lacks.
type fastView struct {
	*Pointed
	Raw    json.RawMessage      `json:"raw"`
	Text   string               `json:"text"`
	Wide   *string              `json:"wide"`
	List   []Pointed            `json:"list"`
	Map    map[string]*[]string `json:"map"`
	Number int64                `json:"number"`
	Small  int8                 `json:"small"`
	Self   *fastView            `json:"self"`
}

func compareFast[T any](t *testing.T, raw []byte) {
	t.Helper()
	fast, slow := new(T), new(T)
	if !decodeFast(raw, reflect.ValueOf(fast).Elem()) {
		return
	}
	if err := jsonv2.Unmarshal(raw, slow, lenient); err != nil {
		t.Fatalf("%s is decoded, but %v", raw, err)
	}
	if !reflect.DeepEqual(fast, slow) {
		t.Fatalf("%s is %+v, but should be %+v", raw, fast, slow)
	}
}

// FuzzRaw demands that a Raw in a value that is decoded is what it is when decoded by itself, and never an error of the
// value.
func FuzzRaw(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	type part struct {
		Replicas *int32            `json:"replicas"`
		Labels   map[string]string `json:"labels"`
		Args     []string          `json:"args"`
	}
	type typed struct {
		Spec Raw[part]    `json:"spec"`
		List *[]Raw[part] `json:"list"`
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Decode[typed](raw)
		want, wantErr := Decode[struct {
			Spec json.RawMessage    `json:"spec"`
			List *[]json.RawMessage `json:"list"`
		}](raw)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, without a type %v", raw, err, wantErr)
		}
		if err != nil {
			return
		}
		check := func(r *Raw[part], raw []byte) {
			if !bytes.Equal(r.JSON(), raw) {
				t.Errorf("%s, want %s", r.JSON(), raw)
			}
			value, err := r.Decode()
			again, againErr := Decode[part](raw)
			if fmt.Sprint(err) != fmt.Sprint(againErr) || !reflect.DeepEqual(value, again) {
				t.Errorf("%s: %+v, %v, by itself %+v, %v", raw, value, err, again, againErr)
			}
		}
		check(&got.Spec, want.Spec)
		if got.List != nil {
			for i := range *got.List {
				check(&(*got.List)[i], (*want.List)[i])
			}
		}
	})
}

// FuzzFind demands that Find never fails otherwise than by ErrSyntax and finds what a full decoding finds.
func FuzzFind(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if value, ok := findFast(raw, []string{"spec", "replicas"}); ok {
			slow, err := findSlowly(raw, []string{"spec", "replicas"})
			if err != nil || !bytes.Equal(value, slow) || (value == nil) != (slow == nil) {
				t.Fatalf("Find in %s: %s, want %s, %v", raw, value, slow, err)
			}
		}
		value, err := Find(raw, "spec", "replicas")
		if err != nil || !applicable(raw) {
			return
		}
		want, _ := codectest.Decode(t, raw)["spec"].(map[string]any)
		if (value == nil) != (want["replicas"] == nil) && string(value) != "null" {
			t.Fatalf("Find in %s: %s, want %v", raw, value, want["replicas"])
		}
	})
}
