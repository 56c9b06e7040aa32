// Package functions is the registry of this project's functions: what is deployed, routed and documented.
package functions

import (
	"net/http"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/functions/aggregatestatus"
	"interpreter-functions/functions/interpretcomponent"
	"interpreter-functions/functions/interpretdependency"
	"interpreter-functions/functions/interprethealth"
	"interpreter-functions/functions/interpretreplica"
	"interpreter-functions/functions/interpretstatus"
	"interpreter-functions/functions/retain"
	"interpreter-functions/functions/revisereplica"
	"interpreter-functions/shared/interpreter"
	"interpreter-functions/shared/router"
)

// Path is the URL path of the webhook.
const Path = "/interpreter-workload"

// All are the functions, in the order in which Karmada comes to ask them of an object.
var All = []*interpreter.Operation{
	interpretreplica.Operation,
	interpretcomponent.Operation,
	revisereplica.Operation,
	retain.Operation,
	aggregatestatus.Operation,
	interpretstatus.Operation,
	interprethealth.Operation,
	interpretdependency.Operation,
}

// Route leads to all functions in this process.
func Route() router.Route {
	functions := map[configv1alpha1.InterpreterOperation]http.Handler{}
	for _, operation := range All {
		functions[operation.Name()] = operation
	}
	return router.Route{Path: Path, Functions: functions}
}
