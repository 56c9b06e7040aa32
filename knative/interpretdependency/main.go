// Command interpretdependency serves InterpretDependency on Knative.
package main

import (
	"interpreter-functions/functions/interpretdependency"
	"interpreter-functions/knative"
)

func main() { knative.Serve(interpretdependency.Operation) }
