// Command revisereplica serves ReviseReplica on Knative.
package main

import (
	"interpreter-functions/functions/revisereplica"
	"interpreter-functions/knative"
)

func main() { knative.Serve(revisereplica.Operation) }
