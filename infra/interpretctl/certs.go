package main

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"interpreter-functions/shared/servingcert"
)

func certsCommand() *cobra.Command {
	var dir string
	var hosts []string
	cmd := &cobra.Command{
		Use:   "certs",
		Short: "Make a CA and a serving certificate for a webhook",
		Long: `Make a CA and a serving certificate for a webhook: ca.crt, tls.crt and tls.key in a directory.

Karmada's client looks at the subject alternative names of a certificate and at nothing else: a common name does not
count. So --host must name every way in which Karmada calls the webhook: the host or address of its URL, or
NAME.NAMESPACE.svc where it is configured as a Service. The CA's key is not kept, and no file is ever overwritten.`,
		Example: `  # For the Service interpreter-workload in the namespace interpreter:
  interpretctl certs --dir certs --host interpreter-workload.interpreter.svc

  # For a URL with a name and one with an address:
  interpretctl certs --dir certs --host interpreter.example.com --host 192.0.2.1`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := checkHosts(hosts); err != nil {
				return err
			}
			if err := servingcert.Create(dir, hosts); err != nil {
				return err
			}
			for _, name := range []string{servingcert.CAFile, servingcert.CertificateFile, servingcert.KeyFile} {
				fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, name))
			}
			return nil
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&dir, "dir", "certs", "`directory` to write into")
	flags.StringSliceVar(&hosts, "host", nil, "DNS `name` or IP address by which Karmada calls the webhook (repeatable)")
	// The flag is there, so marking it cannot fail.
	_ = cmd.MarkFlagRequired("host")
	return cmd
}
