// Command interpretreplica serves InterpretReplica on Knative.
package main

import (
	"interpreter-functions/functions/interpretreplica"
	"interpreter-functions/knative"
)

func main() { knative.Serve(interpretreplica.Operation) }
