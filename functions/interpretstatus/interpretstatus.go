// Package interpretstatus tells Karmada what a Workload's status in a member cluster is.
package interpretstatus

import (
	"context"
	"encoding/json"

	"interpreter-functions/shared/interpreter"
	workload "interpreter-functions/shared/workload/v1alpha1"
)

// Operation answers InterpretStatus.
var Operation = interpreter.InterpretStatus(workload.GroupVersionKind, status)

// reported is the status with its conditions as the member cluster wrote them: whatever else they say, and their times
// to the digit.
type reported struct {
	workload.StatusSummary `json:",inline"`
	Conditions             json.RawMessage `json:"conditions,omitempty"`
}

type withStatus struct {
	Status reported `json:"status"`
}

func status(_ context.Context, w *withStatus) (reported, error) {
	return w.Status, nil
}
