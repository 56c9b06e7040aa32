// Package podtemplate says what the pods made from a template ask for: resources and nodes, and other objects.
package podtemplate

import (
	"maps"
	"strings"

	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// ReplicaRequirements says what each replica needs of a cluster. The namespace is the one the replicas run in, whose
// quota they count against.
func ReplicaRequirements(namespace string, template *corev1.PodTemplateSpec) *workv1alpha2.ReplicaRequirements {
	return &workv1alpha2.ReplicaRequirements{
		NodeClaim:         nodeClaim(&template.Spec),
		ResourceRequest:   requests(&template.Spec),
		Namespace:         namespace,
		PriorityClassName: template.Spec.PriorityClassName,
	}
}

// ComponentRequirements says what each replica of a component needs of a cluster.
func ComponentRequirements(template *corev1.PodTemplateSpec) *workv1alpha2.ComponentReplicaRequirements {
	return &workv1alpha2.ComponentReplicaRequirements{
		NodeClaim:         nodeClaim(&template.Spec),
		ResourceRequest:   requests(&template.Spec),
		PriorityClassName: template.Spec.PriorityClassName,
	}
}

// nodeClaim is what rules nodes out: the required part of the node affinity, node selector and tolerations.
func nodeClaim(spec *corev1.PodSpec) *workv1alpha2.NodeClaim {
	var required *corev1.NodeSelector
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		required = spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if required == nil && len(spec.NodeSelector) == 0 && len(spec.Tolerations) == 0 {
		return nil
	}
	return &workv1alpha2.NodeClaim{
		HardNodeAffinity: required,
		NodeSelector:     spec.NodeSelector,
		Tolerations:      spec.Tolerations,
	}
}

// requests is what the scheduler will reserve for a pod: the Kubernetes library's sum, after the defaults that the API
// server gives a pod (k8s.io/kubernetes, pkg/apis/core/v1, SetDefaults_Pod) since a template has not got them yet.
func requests(spec *corev1.PodSpec) corev1.ResourceList {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		Containers:     limitsAsRequests(spec.Containers),
		InitContainers: limitsAsRequests(spec.InitContainers),
		Overhead:       spec.Overhead,
	}}
	if spec.Resources != nil && len(spec.Resources.Limits) > 0 {
		pod.Spec.Resources = podLevel(spec.Resources, resource.AggregateContainerRequests(pod, resource.PodResourcesOptions{}))
	} else {
		pod.Spec.Resources = spec.Resources
	}
	return resource.PodRequests(pod, resource.PodResourcesOptions{})
}

// limitsAsRequests lets limits stand in for missing requests. Of a container it keeps what counts for the sum.
func limitsAsRequests(containers []corev1.Container) []corev1.Container {
	defaulted := make([]corev1.Container, len(containers))
	for i, c := range containers {
		requests := c.Resources.Requests
		if len(c.Resources.Limits) > 0 {
			requests = maps.Clone(c.Resources.Limits)
			maps.Copy(requests, c.Resources.Requests)
		}
		defaulted[i] = corev1.Container{
			Name:          c.Name,
			RestartPolicy: c.RestartPolicy,
			Resources:     corev1.ResourceRequirements{Requests: requests},
		}
	}
	return defaulted
}

// podLevel lets the limits of the whole pod stand in for requests that neither it nor its containers state. Huge pages
// cannot be overcommitted: there the limit of the pod counts whatever its containers state.
func podLevel(pod *corev1.ResourceRequirements, containers corev1.ResourceList) *corev1.ResourceRequirements {
	requests := corev1.ResourceList{}
	for name, limit := range pod.Limits {
		_, stated := containers[name]
		if !stated || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			requests[name] = limit
		}
	}
	maps.Copy(requests, pod.Requests)
	return &corev1.ResourceRequirements{Requests: requests}
}
