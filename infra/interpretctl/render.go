package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"github.com/spf13/cobra"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/yaml"

	"interpreter-functions/functions"
	"interpreter-functions/infra/karmada"
)

type renderOptions struct {
	url     string
	service string
	caFile  string
}

func renderCommand() *cobra.Command {
	o := renderOptions{}
	cmd := &cobra.Command{
		Use:   "render",
		Short: "Print the configuration that lets Karmada ask a webhook",
		Long: `Print the ResourceInterpreterWebhookConfiguration that lets a Karmada control plane ask the functions at a URL, or at
a Service of the cluster in which Karmada runs.`,
		Example: `  # At a URL, with a certificate of a CA of its own:
  interpretctl render --url https://interpreter.example.com/interpreter-workload --ca certs/ca.crt

  # At the Service interpreter-workload in the namespace interpreter, straight into Karmada:
  interpretctl render --service interpreter/interpreter-workload --ca certs/ca.crt | kubectl apply -f -`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := o.client()
			if err != nil {
				return err
			}
			manifest, err := webhookConfiguration(client)
			if err != nil {
				return err
			}
			_, err = cmd.OutOrStdout().Write(manifest)
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.url, "url", "", "https `URL` of the webhook")
	flags.StringVar(&o.service, "service", "", "Service of the webhook, as `namespace/name`, on port 443")
	flags.StringVar(&o.caFile, "ca", "", "`file` with the CA of the webhook's certificate in PEM; without it Karmada trusts its system's roots")
	cmd.MarkFlagsOneRequired("url", "service")
	cmd.MarkFlagsMutuallyExclusive("url", "service")
	return cmd
}

func (o *renderOptions) client() (admissionregistrationv1.WebhookClientConfig, error) {
	client := admissionregistrationv1.WebhookClientConfig{}
	if o.caFile != "" {
		ca, err := os.ReadFile(o.caFile)
		if err != nil {
			return client, err
		}
		client.CABundle = ca
	}
	if o.service != "" {
		namespace, name, found := strings.Cut(o.service, "/")
		if !found || namespace == "" || name == "" || strings.Contains(name, "/") {
			return client, fmt.Errorf("--service is %q: it must be a namespace and a name such as interpreter/%s", o.service, karmada.ServiceName)
		}
		path := functions.Path
		client.Service = &admissionregistrationv1.ServiceReference{Namespace: namespace, Name: name, Path: &path}
		return client, nil
	}
	u, err := url.Parse(o.url)
	if err != nil {
		return client, fmt.Errorf("--url: %w", err)
	}
	// Karmada's validation refuses these.
	if u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return client, errors.New("--url must be an https URL without user, query and fragment, such as https://interpreter.example.com" + functions.Path)
	}
	client.URL = &o.url
	return client, nil
}

// webhookConfiguration is the manifest that lets Karmada ask the functions.
func webhookConfiguration(client admissionregistrationv1.WebhookClientConfig) ([]byte, error) {
	var operations []configv1alpha1.InterpreterOperation
	for _, operation := range functions.All {
		operations = append(operations, operation.Name())
	}
	operations = slices.DeleteFunc(operations, func(o configv1alpha1.InterpreterOperation) bool {
		return o == configv1alpha1.InterpreterOperationInterpretComponent
	})
	manifest, err := yaml.Marshal(karmada.WebhookConfiguration(functions.All[0].Kind(), client, operations))
	if err != nil {
		return nil, err
	}
	return append([]byte(`# InterpretComponent is served, but left out here: where Karmada asks it, it does not ask InterpretReplica, the replicas
# of the binding stay 0, and a ReviseReplica to that number would scale the Workload to 0.
`), manifest...), nil
}
