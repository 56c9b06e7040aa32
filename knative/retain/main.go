// Command retain serves Retain on Knative.
package main

import (
	"interpreter-functions/functions/retain"
	"interpreter-functions/knative"
)

func main() { knative.Serve(retain.Operation) }
