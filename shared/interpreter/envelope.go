package interpreter

import (
	"fmt"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"interpreter-functions/shared/codec"
)

// ContextType is the type of every request and answer: config.karmada.io/v1alpha1, ResourceInterpreterContext.
var ContextType = metav1.TypeMeta{
	APIVersion: configv1alpha1.GroupVersion.String(),
	Kind:       "ResourceInterpreterContext",
}

// asked is configv1alpha1.ResourceInterpreterContext as it is asked about a T of which member clusters report an S, and
// question is its ResourceInterpreterRequest: the objects are parts of the body, decoded along with it.
type (
	asked[T, S any] struct {
		metav1.TypeMeta `json:",inline"`
		Request         *question[T, S] `json:"request,omitempty"`
	}
	question[T, S any] struct {
		header           `json:",inline"`
		Object           codec.Raw[T]              `json:"object"`
		ObservedObject   codec.Raw[T]              `json:"observedObject"`
		AggregatedStatus []aggregatedStatusItem[S] `json:"aggregatedStatus,omitempty"`
	}
	header struct {
		UID             types.UID                           `json:"uid"`
		Kind            metav1.GroupVersionKind             `json:"kind"`
		Name            string                              `json:"name"`
		Namespace       string                              `json:"namespace,omitempty"`
		Operation       configv1alpha1.InterpreterOperation `json:"operation"`
		DesiredReplicas *int32                              `json:"replicas,omitempty"`
	}
	aggregatedStatusItem[S any] struct {
		ClusterName    string                      `json:"clusterName"`
		Status         codec.Raw[S]                `json:"status"`
		Applied        bool                        `json:"applied,omitempty"`
		AppliedMessage string                      `json:"appliedMessage,omitempty"`
		Health         workv1alpha2.ResourceHealth `json:"health,omitempty"`
	}
)

// decodeRequest reads what Karmada asks.
func decodeRequest[T, S any](body []byte) (*question[T, S], error) {
	envelope, err := codec.Decode[asked[T, S]](body)
	if err != nil {
		return nil, BadRequest("the body is not a %s: %v", ContextType.Kind, err)
	}
	got := envelope.TypeMeta
	if got.APIVersion != "" && got.APIVersion != ContextType.APIVersion || got.Kind != "" && got.Kind != ContextType.Kind {
		return nil, BadRequest("the body is a %q of %q, not a %q of %q", got.Kind, got.APIVersion, ContextType.Kind, ContextType.APIVersion)
	}
	if envelope.Request == nil {
		return nil, BadRequest("request is missing in the body")
	}
	if envelope.Request.UID == "" {
		return nil, BadRequest("request.uid is missing in the body")
	}
	return envelope.Request, nil
}

// uidOf returns the uid of a request that may otherwise be anything, or "".
func uidOf(body []byte) types.UID {
	envelope, err := codec.Decode[struct {
		Request struct {
			UID types.UID `json:"uid"`
		} `json:"request"`
	}](body)
	if err != nil {
		return ""
	}
	return envelope.Request.UID
}

// decodeObject reads the object that stands in the request at field, which must be of that kind, by one of the two ways
// to decode it.
func decodeObject[T any](field string, object *codec.Raw[T], kind schema.GroupVersionKind, decode func(*codec.Raw[T]) (*T, error)) (*T, error) {
	if object.IsMissing() {
		return nil, BadRequest("%s is missing", field)
	}
	apiVersion, err := findString(object.JSON(), "apiVersion")
	if err != nil {
		return nil, BadRequest("%s: %v", field, err)
	}
	name, err := findString(object.JSON(), "kind")
	if err != nil {
		return nil, BadRequest("%s: %v", field, err)
	}
	if err := checkKind(field, schema.FromAPIVersionAndKind(apiVersion, name), kind); err != nil {
		return nil, err
	}
	obj, err := decode(object)
	if err != nil {
		return nil, BadRequest("%s: %v", field, err)
	}
	return obj, nil
}

func checkKind(field string, got, want schema.GroupVersionKind) error {
	switch {
	case got.Empty():
		return BadRequest("%s does not say of which kind it is; this function serves %q", field, want)
	case got != want:
		return BadRequest("%s is %q, but this function serves %q", field, got, want)
	}
	return nil
}

// findString returns the string that a member of the object is, or "".
func findString(raw []byte, name string) (string, error) {
	value, err := codec.Find(raw, name)
	if err != nil || value == nil {
		return "", err
	}
	s, err := codec.Decode[string](value)
	if err != nil {
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	return *s, nil
}
