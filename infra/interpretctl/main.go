// Command interpretctl runs and tries interpreter webhooks of Karmada.
package main

import (
	"os"

	"github.com/spf13/cobra"
)

func main() {
	root := &cobra.Command{
		Use:          "interpretctl",
		Short:        "Run and try Karmada resource interpreter webhooks",
		SilenceUsage: true,
	}
	root.AddCommand(serveCommand(), certsCommand(), renderCommand())
	if root.Execute() != nil {
		os.Exit(1)
	}
}
