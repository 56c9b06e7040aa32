// Command interpretstatus serves InterpretStatus on Knative.
package main

import (
	"interpreter-functions/functions/interpretstatus"
	"interpreter-functions/knative"
)

func main() { knative.Serve(interpretstatus.Operation) }
