// Command usual is an interpreter webhook as it is usually written: everything is decoded into the full types with
// encoding/json, changed, encoded again, and compared as two documents. It answers the benchmark's questions right, and serves to compare with.
package main

import (
	"encoding/json"
	"io"
	"net/http"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/component-helpers/resource"

	"interpreter-functions/knative"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

func main() { knative.Serve(http.HandlerFunc(serve)) }

func serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var envelope configv1alpha1.ResourceInterpreterContext
	if err := json.Unmarshal(body, &envelope); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response, err := answer(envelope.Request)
	if err != nil {
		response = &configv1alpha1.ResourceInterpreterResponse{Status: &configv1alpha1.RequestStatus{Code: http.StatusBadRequest, Message: err.Error()}}
	}
	response.UID = envelope.Request.UID
	envelope.Request, envelope.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(envelope)
}

func answer(request *configv1alpha1.ResourceInterpreterRequest) (*configv1alpha1.ResourceInterpreterResponse, error) {
	object := &workload.Workload{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return nil, err
	}
	response := &configv1alpha1.ResourceInterpreterResponse{Successful: true}
	switch request.Operation {
	case configv1alpha1.InterpreterOperationInterpretReplica:
		replicas := object.Spec.DesiredReplicas()
		response.Replicas = &replicas
		response.ReplicaRequirements = &workv1alpha2.ReplicaRequirements{
			NodeClaim: nodeClaim(&object.Spec.Template.Spec), ResourceRequest: requests(&object.Spec.Template.Spec), Namespace: object.Namespace,
		}
	case configv1alpha1.InterpreterOperationInterpretComponent:
		response.Components = []workv1alpha2.Component{{
			Name: "workload", Replicas: object.Spec.DesiredReplicas(),
			ReplicaRequirements: &workv1alpha2.ComponentReplicaRequirements{
				NodeClaim: nodeClaim(&object.Spec.Template.Spec), ResourceRequest: requests(&object.Spec.Template.Spec),
			},
		}}
	case configv1alpha1.InterpreterOperationInterpretDependency:
		response.Dependencies = dependencies(object.Namespace, &object.Spec.Template.Spec)
	case configv1alpha1.InterpreterOperationInterpretHealth:
		healthy := object.Status.ReadyReplicas >= object.Spec.DesiredReplicas()
		response.Healthy = &healthy
	case configv1alpha1.InterpreterOperationInterpretStatus:
		status, err := json.Marshal(object.Status)
		if err != nil {
			return nil, err
		}
		response.RawStatus = &runtime.RawExtension{Raw: status}
	case configv1alpha1.InterpreterOperationReviseReplica:
		object.Spec.Replicas = request.DesiredReplicas
		return response, patch(request, object, response)
	case configv1alpha1.InterpreterOperationRetain:
		observed := &workload.Workload{}
		if err := json.Unmarshal(request.ObservedObject.Raw, observed); err != nil {
			return nil, err
		}
		object.Spec.Paused = observed.Spec.Paused
		return response, patch(request, object, response)
	case configv1alpha1.InterpreterOperationAggregateStatus:
		object.Status.ReadyReplicas = 0
		for _, item := range request.AggregatedStatus {
			status := &workload.WorkloadStatus{}
			if item.Status != nil {
				if err := json.Unmarshal(item.Status.Raw, status); err != nil {
					return nil, err
				}
			}
			object.Status.ReadyReplicas += status.ReadyReplicas
		}
		return response, patch(request, object, response)
	}
	return response, nil
}

func requests(spec *corev1.PodSpec) corev1.ResourceList {
	return resource.PodRequests(&corev1.Pod{Spec: *spec}, resource.PodResourcesOptions{})
}

func nodeClaim(spec *corev1.PodSpec) *workv1alpha2.NodeClaim {
	return &workv1alpha2.NodeClaim{NodeSelector: spec.NodeSelector, Tolerations: spec.Tolerations}
}

// dependencies lists what the benchmark's object depends on, and not all that an object could.
func dependencies(namespace string, spec *corev1.PodSpec) []configv1alpha1.DependentObjectReference {
	var list []configv1alpha1.DependentObjectReference
	add := func(kind, name string) {
		list = append(list, configv1alpha1.DependentObjectReference{APIVersion: "v1", Kind: kind, Namespace: namespace, Name: name})
	}
	for _, c := range spec.Containers {
		for _, e := range c.EnvFrom {
			if e.ConfigMapRef != nil {
				add("ConfigMap", e.ConfigMapRef.Name)
			}
		}
		for _, e := range c.Env {
			if e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil {
				add("Secret", e.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	for _, v := range spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			add("PersistentVolumeClaim", v.PersistentVolumeClaim.ClaimName)
		}
	}
	add("ServiceAccount", spec.ServiceAccountName)
	return list
}

func patch(request *configv1alpha1.ResourceInterpreterRequest, object *workload.Workload, response *configv1alpha1.ResourceInterpreterResponse) error {
	changed, err := json.Marshal(object)
	if err != nil {
		return err
	}
	operations, err := jsonpatch.CreatePatch(request.Object.Raw, changed)
	if err != nil || len(operations) == 0 {
		return err
	}
	if response.Patch, err = json.Marshal(operations); err != nil {
		return err
	}
	patchType := configv1alpha1.PatchTypeJSONPatch
	response.PatchType = &patchType
	return nil
}
