// Package v1alpha1 is the Workload API, workload.example.io/v1alpha1: the reference resource of this project.
//
// +kubebuilder:object:generate=true
// +groupName=workload.example.io
package v1alpha1
