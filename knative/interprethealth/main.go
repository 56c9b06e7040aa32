// Command interprethealth serves InterpretHealth on Knative.
package main

import (
	"interpreter-functions/functions/interprethealth"
	"interpreter-functions/knative"
)

func main() { knative.Serve(interprethealth.Operation) }
