// Command aggregatestatus serves AggregateStatus on Knative.
package main

import (
	"interpreter-functions/functions/aggregatestatus"
	"interpreter-functions/knative"
)

func main() { knative.Serve(aggregatestatus.Operation) }
