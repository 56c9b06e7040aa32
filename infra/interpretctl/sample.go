package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"interpreter-functions/infra/karmada"
	"interpreter-functions/shared/interpreter"
)

// sampleRequest is what Karmada would ask of the sample Workload, and in a few words what that is about.
func sampleRequest(operation *interpreter.Operation) (request *configv1alpha1.ResourceInterpreterRequest, about string, err error) {
	object, err := sampleWith(nil)
	if err != nil {
		return nil, "", err
	}
	request = &configv1alpha1.ResourceInterpreterRequest{
		UID:       types.UID("sample-" + operation.Name()),
		Kind:      metav1.GroupVersionKind(operation.Kind()),
		Name:      "nginx",
		Namespace: "default",
		Operation: operation.Name(),
		Object:    *object,
	}
	about = "the sample Workload"
	switch operation.Name() {
	case configv1alpha1.InterpreterOperationReviseReplica:
		about = "3 replicas, to be 2"
		request.DesiredReplicas = new(int32(2))
	case configv1alpha1.InterpreterOperationRetain:
		about = "paused in the member cluster"
		request.ObservedObject, err = sampleWith(true, "spec", "paused")
	case configv1alpha1.InterpreterOperationAggregateStatus:
		about = "1 and 2 ready in two clusters"
		request.AggregatedStatus = []workv1alpha2.AggregatedStatusItem{
			{ClusterName: "member1", Applied: true, Status: &runtime.RawExtension{Raw: []byte(`{"readyReplicas":1}`)}},
			{ClusterName: "member2", Applied: true, Status: &runtime.RawExtension{Raw: []byte(`{"readyReplicas":2}`)}},
		}
	case configv1alpha1.InterpreterOperationInterpretStatus, configv1alpha1.InterpreterOperationInterpretHealth:
		about = "3 of 3 ready"
		if object, err = sampleWith(int64(3), "status", "readyReplicas"); err == nil {
			request.Object = *object
		}
	}
	return request, about, err
}

// sampleWith is the sample Workload with a value in a place of it, if one is named.
func sampleWith(value any, place ...string) (*runtime.RawExtension, error) {
	object := map[string]any{}
	if err := yaml.Unmarshal(karmada.SampleWorkload, &object); err != nil {
		return nil, err
	}
	if len(place) > 0 {
		if err := unstructured.SetNestedField(object, value, place...); err != nil {
			return nil, err
		}
	}
	raw, err := json.Marshal(object)
	return &runtime.RawExtension{Raw: raw}, err
}

// ask sends a request to an interpreter webhook and returns its answer.
func ask(ctx context.Context, client *http.Client, url string, request *configv1alpha1.ResourceInterpreterRequest) (*configv1alpha1.ResourceInterpreterResponse, error) {
	body, err := json.Marshal(envelope(request))
	if err != nil {
		return nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer := &configv1alpha1.ResourceInterpreterContext{}
	if err := json.NewDecoder(res.Body).Decode(answer); err != nil {
		return nil, fmt.Errorf("HTTP %s: %w", res.Status, err)
	}
	switch {
	case answer.Response == nil:
		return nil, fmt.Errorf("HTTP %s without a response", res.Status)
	case answer.Response.UID != request.UID:
		return nil, fmt.Errorf("the answer is to request %q", answer.Response.UID)
	case !answer.Response.Successful && answer.Response.Status == nil:
		return nil, errors.New("refused without a reason")
	case !answer.Response.Successful:
		return nil, errors.New(answer.Response.Status.Message)
	}
	return answer.Response, nil
}

func envelope(request *configv1alpha1.ResourceInterpreterRequest) configv1alpha1.ResourceInterpreterContext {
	return configv1alpha1.ResourceInterpreterContext{TypeMeta: interpreter.ContextType, Request: request}
}

// describe says in a line what Karmada takes from an answer.
func describe(r *configv1alpha1.ResourceInterpreterResponse) string {
	var parts []string
	if r.Replicas != nil {
		parts = append(parts, fmt.Sprintf("%d replicas", *r.Replicas))
	}
	if r.ReplicaRequirements != nil {
		parts = append(parts, compact(r.ReplicaRequirements.ResourceRequest))
	}
	for _, c := range r.Components {
		parts = append(parts, fmt.Sprintf("%s: %d replicas", c.Name, c.Replicas))
	}
	if r.Patch != nil {
		parts = append(parts, string(r.Patch))
	}
	if r.RawStatus != nil {
		parts = append(parts, string(r.RawStatus.Raw))
	}
	if r.Healthy != nil {
		parts = append(parts, map[bool]string{true: "healthy", false: "not healthy"}[*r.Healthy])
	}
	for _, d := range r.Dependencies {
		parts = append(parts, d.Kind+" "+d.Name)
	}
	if parts == nil {
		return "nothing to change"
	}
	return strings.Join(parts, ", ")
}

func compact(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
