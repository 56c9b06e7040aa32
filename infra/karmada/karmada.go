// Package karmada makes the Karmada side of an interpreter webhook: what a Karmada control plane has to be told.
package karmada

import (
	_ "embed"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// SampleWorkload is a Workload as a user would write it, in YAML.
//
//go:embed workload.yaml
var SampleWorkload []byte

// Where a Service for the webhook is to be found in a cluster.
const (
	ServiceName      = "interpreter-workload"
	ServiceNamespace = "karmada-system"
)

// TimeoutSeconds is how long Karmada waits for an answer. It is short: Karmada has five workers per queue, and one that
// waits does nothing else.
const TimeoutSeconds = 3

// WebhookConfiguration tells Karmada to ask a client's URL or Service for operations of a kind. The client's CA bundle
// is PEM; without it Karmada trusts its system's roots.
func WebhookConfiguration(kind schema.GroupVersionKind, client admissionregistrationv1.WebhookClientConfig, operations []configv1alpha1.InterpreterOperation) *configv1alpha1.ResourceInterpreterWebhookConfiguration {
	timeout := int32(TimeoutSeconds)
	return &configv1alpha1.ResourceInterpreterWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{
			APIVersion: configv1alpha1.GroupVersion.String(),
			Kind:       "ResourceInterpreterWebhookConfiguration",
		},
		ObjectMeta: metav1.ObjectMeta{Name: ServiceName},
		Webhooks: []configv1alpha1.ResourceInterpreterWebhook{{
			Name:         "interpreter." + kind.Group,
			ClientConfig: client,
			Rules: []configv1alpha1.RuleWithOperations{{
				Operations: operations,
				Rule: configv1alpha1.Rule{
					APIGroups:   []string{kind.Group},
					APIVersions: []string{kind.Version},
					Kinds:       []string{kind.Kind},
				},
			}},
			TimeoutSeconds:             &timeout,
			InterpreterContextVersions: []string{configv1alpha1.GroupVersion.Version},
		}},
	}
}
