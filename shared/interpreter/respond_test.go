package interpreter

import (
	"encoding/json"
	"reflect"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestContextIsWrittenAsKarmadaDoes fills in each field of a response, one by one and all together: what is appended is
// what encoding/json writes.
func TestContextIsWrittenAsKarmadaDoes(t *testing.T) {
	all := reflect.New(reflect.TypeFor[response]()).Elem()
	for i := range all.NumField() {
		one := reflect.New(all.Type()).Elem()
		for _, v := range []reflect.Value{one, all} {
			fillIn(t, v.Field(i))
			compareWritten(t, v.Addr().Interface().(*response))
		}
	}
	compareWritten(t, &response{})
	zero, healthy, none := int32(0), false, []configv1alpha1.DependentObjectReference{}
	compareWritten(t, &response{UID: "<&>\u2028\x80\"", Replicas: &zero, Healthy: &healthy, Dependencies: none})
}

func compareWritten(t *testing.T, res *response) {
	t.Helper()
	want, err := json.Marshal(configv1alpha1.ResourceInterpreterContext{TypeMeta: ContextType, Response: res})
	if err != nil {
		t.Fatal(err)
	}
	got, err := appendContext(nil, res)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s, %v\nwant %s", got, err, want)
	}
}

// fillIn sets everything in v to something that is not empty.
func fillIn(t *testing.T, v reflect.Value) {
	t.Helper()
	if _, ok := v.Interface().(runtime.RawExtension); ok {
		v.Set(reflect.ValueOf(runtime.RawExtension{Raw: []byte(`{"a":["b",1.0]}`)}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("<a&b>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int32, reflect.Int64:
		v.SetInt(-7)
	case reflect.Uint8:
		v.SetUint(0xfe)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillIn(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillIn(t, v.Index(1))
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillIn(t, v.Field(i))
			}
		}
	case reflect.Map:
	default:
		t.Fatalf("a %s cannot be filled in", v.Type())
	}
}
