package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Workload runs a number of identical pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`
// +kubebuilder:printcolumn:name="Ready",type=integer,JSONPath=`.status.readyReplicas`
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Workload struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is the desired state.
	Spec WorkloadSpec `json:"spec"`

	// Status is the observed state.
	// +optional
	Status WorkloadStatus `json:"status,omitempty"`
}

// WorkloadSpec is the desired state of a Workload.
type WorkloadSpec struct {
	SpecSummary `json:",inline"`

	// Template is the pod that every replica is made from.
	Template corev1.PodTemplateSpec `json:"template"`
}

// SpecSummary is a WorkloadSpec without its pod template.
type SpecSummary struct {
	// Replicas is the number of pods wanted.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// Paused stops the controller of a member cluster from acting on changes of this object.
	// +optional
	Paused bool `json:"paused"`
}

// DesiredReplicas is the number of pods wanted: 1 where the object does not say.
func (s *SpecSummary) DesiredReplicas() int32 {
	if s.Replicas == nil {
		return 1
	}
	return *s.Replicas
}

// WorkloadStatus is the observed state of a Workload.
type WorkloadStatus struct {
	StatusSummary `json:",inline"`

	// Conditions are the latest observations of the Workload's state.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// StatusSummary is a WorkloadStatus without its conditions.
type StatusSummary struct {
	// ReadyReplicas is the number of pods that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
}

// Summary is a Workload without metadata, pod template and conditions. A function that looks into none of them takes a
// Summary, and the codec passes over the rest of the object without decoding it.
//
// +kubebuilder:object:generate=false
type Summary struct {
	Spec   SpecSummary   `json:"spec"`
	Status StatusSummary `json:"status"`
}

// Pods is a Workload without what is not about its pods, and T is what a function wants to know of their template. A
// function that only looks at these takes a Pods.
//
// +kubebuilder:object:generate=false
type Pods[T any] struct {
	Metadata struct {
		// Namespace is the one in which the pods run.
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		SpecSummary `json:",inline"`

		Template T `json:"template"`
	} `json:"spec"`
}

// WorkloadList is a list of Workloads.
//
// +kubebuilder:object:root=true
type WorkloadList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Workload `json:"items"`
}
