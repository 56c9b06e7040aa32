package interpreter

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
)

func respond(w http.ResponseWriter, res *response) {
	data, err := appendContext(make([]byte, 0, 512), res)
	if err != nil {
		refuse(w, res.UID, fmt.Errorf("the answer cannot be written as JSON: %w", err))
		return
	}
	write(w, http.StatusOK, data)
}

var (
	beforeResponse = fmt.Sprintf(`{"kind":%q,"apiVersion":%q,"response":`, ContextType.Kind, ContextType.APIVersion)
	jsonType       = []string{"application/json"}
)

// appendContext appends what encoding/json writes for a configv1alpha1.ResourceInterpreterContext with a response. It
// does so member by member, since most answers are a number, a patch, or a status that is JSON already: encoding/json
// takes longer, and reads the status again.
func appendContext(b []byte, res *response) ([]byte, error) {
	a := appender{b: append(b, beforeResponse...)}
	a.value(`{"uid":`, res.UID)
	a.b = strconv.AppendBool(append(a.b, `,"successful":`...), res.Successful)
	if res.Status != nil {
		a.value(`,"status":`, res.Status)
	}
	if len(res.Patch) > 0 {
		a.b = base64.StdEncoding.AppendEncode(append(a.b, `,"patch":"`...), res.Patch)
		a.b = append(a.b, '"')
	}
	if res.PatchType != nil {
		a.value(`,"patchType":`, *res.PatchType)
	}
	if res.ReplicaRequirements != nil {
		a.value(`,"replicaRequirements":`, res.ReplicaRequirements)
	}
	if res.Replicas != nil {
		a.b = strconv.AppendInt(append(a.b, `,"replicas":`...), int64(*res.Replicas), 10)
	}
	if len(res.Components) > 0 {
		a.value(`,"components":`, res.Components)
	}
	if len(res.Dependencies) > 0 {
		a.value(`,"dependencies":`, res.Dependencies)
	}
	if res.RawStatus != nil {
		a.b = append(append(a.b, `,"rawStatus":`...), res.RawStatus.Raw...)
	}
	if res.Healthy != nil {
		a.b = strconv.AppendBool(append(a.b, `,"healthy":`...), *res.Healthy)
	}
	return append(a.b, "}}"...), a.err
}

// appender appends until there is an error.
type appender struct {
	b   []byte
	err error
}

func (a *appender) value(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil && a.err == nil {
		a.err = err
	}
	a.b = append(append(a.b, name...), data...)
}

func write(w http.ResponseWriter, code int, data []byte) {
	w.Header()["Content-Type"] = jsonType
	w.Header()["Content-Length"] = []string{strconv.Itoa(len(data))}
	w.WriteHeader(code)
	// A caller that is gone cannot be told.
	_, _ = w.Write(data)
}
