package interpreter

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
)

// TestEnvelopeIsKarmadas holds what is decoded of a request against Karmada's own types.
func TestEnvelopeIsKarmadas(t *testing.T) {
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[question[nothing, nothing]](), reflect.TypeFor[configv1alpha1.ResourceInterpreterRequest]()},
		{reflect.TypeFor[aggregatedStatusItem[nothing]](), reflect.TypeFor[workv1alpha2.AggregatedStatusItem]()},
	} {
		if got, want := jsonNames(pair[0]), jsonNames(pair[1]); !slices.Equal(got, want) {
			t.Errorf("%s has %q, %s has %q", pair[0], got, pair[1], want)
		}
	}
}

func jsonNames(t reflect.Type) []string {
	var names []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			names = append(names, jsonNames(f.Type)...)
			continue
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
