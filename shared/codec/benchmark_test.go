package codec

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// stored is an object with managed fields and a pod, filled up by so many bytes that no view knows.
func stored(fill int) []byte {
	field := `"f:spec":{".":{},"f:paused":{},"f:replicas":{},"f:template":{".":{},"f:metadata":{},"f:spec":{"k:{\"name\":\"a\"}":{".":{},"f:image":{}}}}},`
	return fmt.Appendf(nil, `{"apiVersion":"v1","kind":"X","metadata":{"name":"n","managedFields":[{"fieldsV1":{%s"f:status":{}}}]},"spec":{"replicas":3,`+
		`"template":{"spec":{"containers":[{"name":"a","image":"registry.example.com/a:1","resources":{"requests":{"cpu":"250m","memory":"64Mi"}},"env":[{"name":"A","value":"b"}]}]}}},"status":{"ready":3}}`,
		strings.Repeat(field, 1+fill/len(field)))
}

type small struct {
	Spec struct {
		Replicas *int32 `json:"replicas,omitempty"`
	} `json:"spec"`
	Status struct {
		Ready int32 `json:"ready"`
	} `json:"status"`
}

type large struct {
	Spec struct {
		Template corev1.PodTemplateSpec `json:"template"`
	} `json:"spec"`
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{2_000, 200_000, 1_500_000} {
		raw := stored(size)
		b.Run(fmt.Sprintf("small view of %d KB", size/1000), func(b *testing.B) { benchmarkDecode[small](b, raw) })
	}
	b.Run("pod template of 2 KB", func(b *testing.B) { benchmarkDecode[large](b, stored(2_000)) })
}

func benchmarkDecode[T any](b *testing.B, raw []byte) {
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode[T](raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	raw := stored(2_000)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if value, err := Find(raw, "status", "ready"); err != nil || string(value) != "3" {
			b.Fatal(string(value), err)
		}
	}
}

func BenchmarkPatch(b *testing.B) {
	for _, size := range []int{2_000, 200_000, 1_500_000} {
		raw := stored(size)
		b.Run(fmt.Sprintf("%d KB", size/1000), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				object := NewRaw[small](raw)
				value, err := object.Copy()
				if err != nil {
					b.Fatal(err)
				}
				*value.Spec.Replicas = 4
				if patch, err := object.Patch(value); err != nil || patch == nil {
					b.Fatal(string(patch), err)
				}
			}
		})
	}
}
