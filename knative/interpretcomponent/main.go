// Command interpretcomponent serves InterpretComponent on Knative.
package main

import (
	"interpreter-functions/functions/interpretcomponent"
	"interpreter-functions/knative"
)

func main() { knative.Serve(interpretcomponent.Operation) }
