// Package karmada asks interpreter webhooks the way Karmada does, with the client that Karmada uses.
package karmada

import (
	"net/url"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// Client is a client made the way Karmada makes its own (pkg/resourceinterpreter/customized/webhook of Karmada): from
// the API server's ClientManager. A Service in config is resolved to an address, which is a host and a port.
func Client(address string, config webhook.ClientConfig) (*rest.RESTClient, error) {
	manager, err := webhook.NewClientManager([]schema.GroupVersion{schema.GroupVersion(configv1alpha1.GroupVersion)}, configv1alpha1.Install)
	if err != nil {
		return nil, err
	}
	resolver, err := webhook.NewDefaultAuthenticationInfoResolver("")
	if err != nil {
		return nil, err
	}
	manager.SetAuthenticationInfoResolver(resolver)
	manager.SetServiceResolver(serviceAt(address))
	if err := manager.Validate(); err != nil {
		return nil, err
	}
	return manager.HookClient(config)
}

// serviceAt resolves every Service to one address.
type serviceAt string

func (s serviceAt) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: string(s)}, nil
}
