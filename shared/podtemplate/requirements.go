// Package podtemplate says what the pods made from a template ask for: resources and nodes, and other objects.
package podtemplate

import (
	"maps"
	"strings"

	workv1alpha2 "github.com/karmada-io/api/work/v1alpha2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
)

// Requirements is a pod template as far as it says what its pods need of a cluster. It stands in a function's view of a
// resource where the resource has its template, of which the rest is not decoded then.
type Requirements struct {
	Spec struct {
		InitContainers    []container                  `json:"initContainers"`
		Containers        []container                  `json:"containers"`
		Overhead          corev1.ResourceList          `json:"overhead"`
		Resources         *corev1.ResourceRequirements `json:"resources"`
		NodeSelector      map[string]string            `json:"nodeSelector"`
		Tolerations       []corev1.Toleration          `json:"tolerations"`
		PriorityClassName string                       `json:"priorityClassName"`

		Affinity *struct {
			NodeAffinity *struct {
				Required *corev1.NodeSelector `json:"requiredDuringSchedulingIgnoredDuringExecution"`
			} `json:"nodeAffinity"`
		} `json:"affinity"`
	} `json:"spec"`
}

// container is what counts of a corev1.Container.
type container struct {
	Name          string                         `json:"name"`
	RestartPolicy *corev1.ContainerRestartPolicy `json:"restartPolicy"`
	Resources     struct {
		Limits   corev1.ResourceList `json:"limits"`
		Requests corev1.ResourceList `json:"requests"`
	} `json:"resources"`
}

// OfReplica says what each replica needs. The namespace is the one the replicas run in, whose quota they count against.
func (r *Requirements) OfReplica(namespace string) *workv1alpha2.ReplicaRequirements {
	return &workv1alpha2.ReplicaRequirements{
		NodeClaim:         r.nodeClaim(),
		ResourceRequest:   r.requests(),
		Namespace:         namespace,
		PriorityClassName: r.Spec.PriorityClassName,
	}
}

// OfComponent says what each replica of a component needs.
func (r *Requirements) OfComponent() *workv1alpha2.ComponentReplicaRequirements {
	return &workv1alpha2.ComponentReplicaRequirements{
		NodeClaim:         r.nodeClaim(),
		ResourceRequest:   r.requests(),
		PriorityClassName: r.Spec.PriorityClassName,
	}
}

// nodeClaim is what rules nodes out: the required part of the node affinity, node selector and tolerations.
func (r *Requirements) nodeClaim() *workv1alpha2.NodeClaim {
	spec := &r.Spec
	var required *corev1.NodeSelector
	if spec.Affinity != nil && spec.Affinity.NodeAffinity != nil {
		required = spec.Affinity.NodeAffinity.Required
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
func (r *Requirements) requests() corev1.ResourceList {
	spec := &r.Spec
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

// limitsAsRequests lets limits stand in for missing requests.
func limitsAsRequests(containers []container) []corev1.Container {
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
