// Package answer reads what an interpreter webhook answers the way Karmada does: it refuses what Karmada refuses, and
// returns no more than what Karmada takes.
package answer

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	jsonpatch "github.com/evanphx/json-patch/v5"
	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"interpreter-functions/shared/interpreter"
)

// Taken is what Karmada takes of an answer. Quantities, numbers and the order of members are as Karmada reads them, not
// as they were written.
type Taken struct {
	// Object is what the patch makes of the request's object: with ReviseReplica and Retain the whole object, with
	// AggregateStatus its status, of which alone Karmada keeps anything.
	Object any `json:"object,omitempty"`

	Replicas            *int32                                    `json:"replicas,omitempty"`
	ReplicaRequirements *workv1alpha2.ReplicaRequirements         `json:"replicaRequirements,omitempty"`
	Components          []workv1alpha2.Component                  `json:"components,omitempty"`
	Dependencies        []configv1alpha1.DependentObjectReference `json:"dependencies,omitempty"`
	RawStatus           *runtime.RawExtension                     `json:"rawStatus,omitempty"`
	Healthy             *bool                                     `json:"healthy,omitempty"`
}

// Read reads the answer to a question, which came with an HTTP code. The error is what Karmada fails with.
func Read(question *configv1alpha1.ResourceInterpreterRequest, code int, body []byte) (*Taken, error) {
	response, err := decode(question, code, body)
	if err != nil {
		return nil, err
	}
	if !response.Successful {
		if response.Status == nil {
			return nil, errors.New("response.successful is false and response.status is missing")
		}
		return nil, fmt.Errorf("the function refused with code %d: %s", response.Status.Code, response.Status.Message)
	}
	switch question.Operation {
	case configv1alpha1.InterpreterOperationInterpretReplica:
		if response.Replicas == nil {
			return nil, errors.New("response.replicas is missing")
		}
		return &Taken{Replicas: response.Replicas, ReplicaRequirements: response.ReplicaRequirements}, nil
	case configv1alpha1.InterpreterOperationInterpretComponent:
		return &Taken{Components: response.Components}, checkComponents(response.Components)
	case configv1alpha1.InterpreterOperationInterpretDependency:
		return &Taken{Dependencies: response.Dependencies}, checkDependencies(response.Dependencies)
	case configv1alpha1.InterpreterOperationInterpretStatus:
		if response.RawStatus == nil || len(response.RawStatus.Raw) == 0 {
			return nil, errors.New("response.rawStatus is missing")
		}
		return &Taken{RawStatus: response.RawStatus}, nil
	case configv1alpha1.InterpreterOperationInterpretHealth:
		if response.Healthy == nil {
			return nil, errors.New("response.healthy is missing")
		}
		return &Taken{Healthy: response.Healthy}, nil
	default:
		object, err := patched(question, response)
		if err != nil {
			return nil, err
		}
		if question.Operation == configv1alpha1.InterpreterOperationAggregateStatus {
			return &Taken{Object: object["status"]}, nil
		}
		return &Taken{Object: object}, nil
	}
}

// accepted are the HTTP codes under which Karmada reads an answer.
var accepted = []int{
	http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNonAuthoritativeInfo, http.StatusPartialContent,
}

func decode(question *configv1alpha1.ResourceInterpreterRequest, code int, body []byte) (*configv1alpha1.ResourceInterpreterResponse, error) {
	if !slices.Contains(accepted, code) {
		var status metav1.Status
		if json.Unmarshal(body, &status) == nil && status.Kind == "Status" && status.Message != "" {
			return nil, fmt.Errorf("HTTP %d: %s", code, status.Message)
		}
		return nil, fmt.Errorf("HTTP %d without a metav1.Status, so Karmada does not show why", code)
	}
	var answer configv1alpha1.ResourceInterpreterContext
	if err := utiljson.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the body is not a %s: %w", interpreter.ContextType.Kind, err)
	}
	want := interpreter.ContextType
	if answer.Kind != "" && answer.Kind != want.Kind || answer.APIVersion != "" && answer.APIVersion != want.APIVersion {
		return nil, fmt.Errorf("the answer is a %q of %q, not a %q of %q", answer.Kind, answer.APIVersion, want.Kind, want.APIVersion)
	}
	switch {
	case answer.Response == nil:
		return nil, errors.New("response is missing")
	case answer.Response.UID != question.UID:
		return nil, fmt.Errorf("response.uid is %q, but the request's is %q", answer.Response.UID, question.UID)
	}
	return answer.Response, nil
}

// patched is the question's object with the patch of the answer applied.
func patched(question *configv1alpha1.ResourceInterpreterRequest, response *configv1alpha1.ResourceInterpreterResponse) (map[string]any, error) {
	switch {
	case (len(response.Patch) == 0) != (response.PatchType == nil):
		return nil, errors.New("of response.patch and response.patchType there must be both or neither")
	case response.PatchType != nil && *response.PatchType != configv1alpha1.PatchTypeJSONPatch:
		return nil, fmt.Errorf("response.patchType is %q: it must be %s", *response.PatchType, configv1alpha1.PatchTypeJSONPatch)
	}
	raw := question.Object.Raw
	if len(response.Patch) > 0 {
		patch, err := jsonpatch.DecodePatch(response.Patch)
		if err != nil {
			return nil, fmt.Errorf("response.patch is not a JSON patch: %w", err)
		}
		if raw, err = patch.Apply(raw); err != nil {
			return nil, fmt.Errorf("response.patch does not apply: %w", err)
		}
	}
	var object map[string]any
	if err := utiljson.Unmarshal(raw, &object); err != nil {
		return nil, fmt.Errorf("the patched object: %w", err)
	}
	return object, nil
}

// maxComponentName is the most bytes that the name of a component may have.
const maxComponentName = 32

func checkComponents(components []workv1alpha2.Component) error {
	seen := map[string]bool{}
	for i, component := range components {
		switch {
		case component.Name == "" || len(component.Name) > maxComponentName:
			return fmt.Errorf("response.components[%d].name is %q: it must have 1 to %d characters", i, component.Name, maxComponentName)
		case seen[component.Name]:
			return fmt.Errorf("response.components[%d].name %q is there twice", i, component.Name)
		}
		seen[component.Name] = true
	}
	return nil
}

func checkDependencies(dependencies []configv1alpha1.DependentObjectReference) error {
	for i, dependency := range dependencies {
		missing := ""
		switch {
		case dependency.APIVersion == "":
			missing = "apiVersion"
		case dependency.Kind == "":
			missing = "kind"
		case dependency.Name == "" && dependency.LabelSelector == nil:
			missing = "name or labelSelector"
		default:
			if _, err := metav1.LabelSelectorAsSelector(dependency.LabelSelector); err != nil {
				return fmt.Errorf("response.dependencies[%d].labelSelector: %w", i, err)
			}
			continue
		}
		return fmt.Errorf("response.dependencies[%d].%s is missing", i, missing)
	}
	return nil
}
