package interpreter

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	os.Exit(m.Run())
}

// logged is what the tests log. They do not run in parallel.
var logged bytes.Buffer

var gadget = schema.GroupVersionKind{Group: "example.io", Version: "v1", Kind: "Gadget"}

type object struct {
	Spec struct {
		Size  int32  `json:"size"`
		Error string `json:"error"`
	} `json:"spec"`
}

// health is an operation that does what the object says.
var health = InterpretHealth(gadget, func(ctx context.Context, o *object) (bool, error) {
	switch o.Spec.Error {
	case "":
		return o.Spec.Size > 0, nil
	case "refuse":
		return false, fmt.Errorf("sizing: %w", apierrors.NewConflict(schema.GroupResource{Resource: "gadgets"}, "g", errors.New("too big")))
	case "panic":
		panic("no size")
	case "no such element":
		return o.Spec.Error[:o.Spec.Size] == "", nil
	case "deadline":
		<-ctx.Done()
		return false, fmt.Errorf("waiting: %w", ctx.Err())
	}
	return false, errors.New(o.Spec.Error)
})

// askHealth posts a body and returns the answer.
func askHealth(t *testing.T, h http.Handler, query, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/x"+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const kind = `"kind":{"group":"example.io","version":"v1","kind":"Gadget"}`

func healthQuestion(spec string) string {
	return `{"request":{"uid":"u",` + kind + `,"operation":"InterpretHealth","object":{"apiVersion":"example.io/v1","kind":"Gadget","spec":` + spec + `}}}`
}

func TestAnswers(t *testing.T) {
	healthy := `{"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","response":{"uid":"u","successful":true,"healthy":true}}`
	refused := func(code int, message string) string {
		return fmt.Sprintf(`{"kind":"ResourceInterpreterContext","apiVersion":"config.karmada.io/v1alpha1","response":{"uid":"u","successful":false,"status":{"message":%s,"code":%d}}}`,
			quoted(message), code)
	}
	status := func(message string) string {
		return fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%s,"reason":"BadRequest","code":400}`, quoted(message))
	}
	ok := healthQuestion(`{"size":1}`)
	tests := map[string]struct {
		query, body string
		code        int
		want        string
	}{
		"healthy":                     {"", ok, 200, healthy},
		"with whitespace and newline": {"", " \n" + ok + "\n", 200, healthy},
		"another order of names": {
			"", `{"request":{"object":{"spec":{"size":1},"kind":"Gadget","apiVersion":"example.io/v1"},"operation":"InterpretHealth",` + kind + `,"uid":"u"},"apiVersion":"config.karmada.io/v1alpha1","kind":"ResourceInterpreterContext"}`,
			200, healthy,
		},
		"unknown fields":       {"", strings.Replace(ok, `"uid"`, `"future":{"a":[null]},"uid"`, 1), 200, healthy},
		"timeout":              {"?timeout=3s", ok, 200, healthy},
		"another query":        {"?x=1;2&y", ok, 200, healthy},
		"timeout not duration": {"?timeout=3", ok, 200, refused(400, `the timeout in the query is "3": it must be a duration above zero such as 3s`)},
		"timeout not positive": {"?timeout=-1s", ok, 200, refused(400, `the timeout in the query is "-1s": it must be a duration above zero such as 3s`)},
		"error":                {"", healthQuestion(`{"error":"sold out"}`), 200, refused(500, "sold out")},
		"API error":            {"", healthQuestion(`{"error":"refuse"}`), 200, refused(409, `sizing: Operation cannot be fulfilled on gadgets "g": too big`)},
		"panic":                {"", healthQuestion(`{"error":"panic"}`), 200, refused(500, "Internal error occurred: InterpretHealth of example.io/v1, Kind=Gadget panicked: no size")},
		"runtime panic":        {"", healthQuestion(`{"size":99,"error":"no such element"}`), 200, refused(500, "Internal error occurred: InterpretHealth of example.io/v1, Kind=Gadget panicked: runtime error: slice bounds out of range [:99] with length 15")},
		"deadline":             {"?timeout=1ms", healthQuestion(`{"error":"deadline"}`), 200, refused(504, "the function did not answer in time")},
		"malformed object":     {"", healthQuestion(`{"size":"big"}`), 200, refused(400, `request.object: /spec/size: a string where int32 is expected`)},
		"object of another type": {
			"", strings.Replace(ok, `"object":{`, `"object":[],"x":{`, 1), 200,
			refused(400, `request.object does not say of which kind it is; this function serves "example.io/v1, Kind=Gadget"`),
		},
		"object of another kind": {
			"", strings.Replace(ok, `"apiVersion":"example.io/v1","kind":"Gadget"`, `"apiVersion":"apps/v1","kind":"Deployment"`, 1), 200,
			refused(400, `request.object is "apps/v1, Kind=Deployment", but this function serves "example.io/v1, Kind=Gadget"`),
		},
		"kind is not a string":   {"", strings.Replace(ok, `"example.io/v1","kind":"Gadget"`, `"example.io/v1","kind":7`, 1), 200, refused(400, `request.object: /kind: a number where a string is expected`)},
		"object missing":         {"", strings.Replace(ok, `"object"`, `"objekt"`, 1), 200, refused(400, `request.object is missing`)},
		"object null":            {"", strings.Replace(ok, `"object":{`, `"object":null,"x":{`, 1), 200, refused(400, `request.object is missing`)},
		"request of other kind":  {"", strings.Replace(ok, `"version":"v1"`, `"version":"v2"`, 1), 200, refused(400, `request.kind is "example.io/v2, Kind=Gadget", but this function serves "example.io/v1, Kind=Gadget"`)},
		"request of no kind":     {"", strings.Replace(ok, `"kind":{`, `"kin":{`, 1), 200, refused(400, `request.kind does not say of which kind it is; this function serves "example.io/v1, Kind=Gadget"`)},
		"another operation":      {"", strings.Replace(ok, `InterpretHealth`, `Retain`, 1), 200, refused(400, `request.operation is "Retain", but this function serves "InterpretHealth"`)},
		"no operation":           {"", strings.Replace(ok, `"operation"`, `"op"`, 1), 200, refused(400, `request.operation is "", but this function serves "InterpretHealth"`)},
		"envelope of other kind": {"", strings.Replace(ok, `{"request"`, `{"kind":"AdmissionReview","request"`, 1), 200, refused(400, `the body is a "AdmissionReview" of "", not a "ResourceInterpreterContext" of "config.karmada.io/v1alpha1"`)},
		"malformed envelope":     {"", strings.Replace(ok, `"operation"`, `"replicas":"many","operation"`, 1), 200, refused(400, `the body is not a ResourceInterpreterContext: /request/replicas: a string where int32 is expected`)},
		"no uid":                 {"", strings.Replace(ok, `"uid"`, `"id"`, 1), 400, status(`request.uid is missing in the body`)},
		"uid is not a string":    {"", strings.Replace(ok, `"uid":"u"`, `"uid":1`, 1), 400, status(`the body is not a ResourceInterpreterContext: /request/uid: a number where a string is expected`)},
		"no request":             {"", `{}`, 400, status(`request is missing in the body`)},
		"request null":           {"", `{"request":null}`, 400, status(`request is missing in the body`)},
		"null":                   {"", `null`, 400, status(`request is missing in the body`)},
		"array":                  {"", `[]`, 400, status(`the body is not a ResourceInterpreterContext: an array where an object is expected`)},
		"empty":                  {"", ``, 400, status(`the body is not a ResourceInterpreterContext: not valid JSON: it ends too early`)},
		"cut":                    {"", ok[:len(ok)-1], 400, status(`the body is not a ResourceInterpreterContext: not valid JSON: it ends too early`)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := askHealth(t, health, test.query, test.body)
			if w.Code != test.code || w.Body.String() != test.want {
				t.Errorf("HTTP %d\n%s\nwant HTTP %d\n%s", w.Code, w.Body, test.code, test.want)
			}
			if got := w.Header().Get("Content-Type"); got != "application/json" {
				t.Errorf("Content-Type %s", got)
			}
		})
	}
}

func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

func TestPanicIsLoggedWithStack(t *testing.T) {
	logged.Reset()
	askHealth(t, health, "", healthQuestion(`{"error":"panic"}`))
	for _, want := range []string{"no size", "uid=u", "interpreter_test.go"} {
		if !strings.Contains(logged.String(), want) {
			t.Errorf("%q is not in the log: %s", want, &logged)
		}
	}
}

func TestHTTP(t *testing.T) {
	ok := healthQuestion(`{"size":1}`)
	send := func(h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(ok))
		r.Header.Set("Content-Type", "application/json")
		change(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	contentType := func(v string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Content-Type", v) }
	}
	body := func(b io.Reader, length int64) func(*http.Request) {
		return func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(b), length }
	}
	large := strings.Repeat(" ", DefaultMaxBody-len(ok)) + ok
	tests := map[string]struct {
		handler http.Handler
		change  func(*http.Request)
		code    int
		reason  string
	}{
		"charset":            {health, contentType("application/json; charset=utf-8"), 200, ""},
		"any charset":        {health, contentType(`Application/JSON ;charset="latin1"`), 200, ""},
		"no charset":         {health, contentType("application/json;"), 200, ""},
		"identity":           {health, func(r *http.Request) { r.Header.Set("Content-Encoding", "identity") }, 200, ""},
		"GET":                {health, func(r *http.Request) { r.Method = "GET" }, 405, "MethodNotAllowed"},
		"PUT":                {health, func(r *http.Request) { r.Method = "PUT" }, 405, "MethodNotAllowed"},
		"yaml":               {health, contentType("application/yaml"), 415, "UnsupportedMediaType"},
		"like JSON":          {health, contentType("application/json-patch+json"), 415, "UnsupportedMediaType"},
		"no type":            {health, func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "UnsupportedMediaType"},
		"gzip":               {health, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") }, 415, "UnsupportedMediaType"},
		"largest":            {health, body(strings.NewReader(large), int64(len(large))), 200, ""},
		"too large":          {health, body(strings.NewReader(large+" "), int64(len(large)+1)), 413, "RequestEntityTooLarge"},
		"too large, chunked": {health, body(strings.NewReader(large+" "), -1), 413, "RequestEntityTooLarge"},
		"announced":          {health, body(strings.NewReader(ok), 1<<50), 413, "RequestEntityTooLarge"},
		"cut off":            {health, body(io.MultiReader(strings.NewReader(ok[:9]), broken{}), int64(len(ok))), 400, "BadRequest"},
		"lower limit":        {MaxBody(int64(len(ok)-1), health), func(*http.Request) {}, 413, "RequestEntityTooLarge"},
		"lower limit kept":   {MaxBody(int64(len(ok)), health), func(*http.Request) {}, 200, ""},
		"higher limit":       {MaxBody(2*DefaultMaxBody, health), body(strings.NewReader(large+" "), -1), 200, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := send(test.handler, test.change)
			if w.Code != test.code {
				t.Fatalf("HTTP %d: %s, want %d", w.Code, w.Body, test.code)
			}
			if test.code == http.StatusMethodNotAllowed && w.Header().Get("Allow") != "POST" {
				t.Errorf("Allow: %q", w.Header().Get("Allow"))
			}
			if test.code == http.StatusOK {
				return
			}
			var status struct {
				Kind, APIVersion, Status, Message, Reason string
				Code                                      int
			}
			if err := json.Unmarshal(w.Body.Bytes(), &status); err != nil {
				t.Fatal(err)
			}
			if status.Kind != "Status" || status.APIVersion != "v1" || status.Status != "Failure" || status.Message == "" ||
				status.Reason != test.reason || status.Code != test.code {
				t.Errorf("%+v", status)
			}
		})
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("connection reset") }

func TestDeadlineIsTheCallers(t *testing.T) {
	var left time.Duration
	op := InterpretHealth(gadget, func(ctx context.Context, _ *object) (bool, error) {
		deadline, ok := ctx.Deadline()
		if !ok {
			return false, errors.New("no deadline")
		}
		left = time.Until(deadline)
		return true, nil
	})
	if w := askHealth(t, op, "?timeout=30s", healthQuestion(`{}`)); !strings.Contains(w.Body.String(), `"healthy":true`) {
		t.Fatal(w.Body)
	}
	if left <= 0 || left > 30*time.Second {
		t.Errorf("%s are left", left)
	}
}

func TestStatusMustNotBeNull(t *testing.T) {
	for name, op := range map[string]*Operation{
		"null":      InterpretStatus(gadget, func(context.Context, *object) (*object, error) { return nil, nil }),
		"no JSON":   InterpretStatus(gadget, func(context.Context, *object) (func(), error) { return nil, nil }),
		"bad patch": ReviseReplica(gadget, func(_ context.Context, o *struct{ X any }, _ int32) error { o.X = func() {}; return nil }),
	} {
		body := strings.Replace(healthQuestion(`{}`), `"InterpretHealth"`, quoted(string(op.Name()))+`,"replicas":1`, 1)
		w := askHealth(t, op, "", body)
		if w.Code != 200 || !strings.Contains(w.Body.String(), `"code":500`) || !strings.Contains(w.Body.String(), `"uid":"u"`) {
			t.Errorf("%s: HTTP %d: %s", name, w.Code, w.Body)
		}
	}
}

func TestAggregateStatusLeavesMalformedMembersOut(t *testing.T) {
	type status struct {
		Ready int32 `json:"ready"`
	}
	op := AggregateStatus(gadget, func(_ context.Context, o *object, members []Member[status]) error {
		for _, m := range members {
			if m.Status != nil {
				o.Spec.Size += m.Status.Ready
			}
			o.Spec.Error += fmt.Sprint(m.Cluster, m.Applied, m.AppliedMessage, m.Health, " ")
		}
		return nil
	})
	logged.Reset()
	w := askHealth(t, op, "", strings.Replace(healthQuestion(`{"size":0}`), `"InterpretHealth"`, `"AggregateStatus","aggregatedStatus":[
		{"clusterName":"a","status":{"ready":1,"x":{}},"applied":true,"health":"Healthy"},
		{"clusterName":"word","status":{"ready":"three"}},
		{"clusterName":"string","status":"broken"},
		{"clusterName":"list","status":[1]},
		{"clusterName":"range","status":{"ready":2147483648}},
		{"clusterName":"b","status":null,"appliedMessage":"no quota"},
		{"clusterName":"c"},
		{"clusterName":"d","status":{"ready":5}}]`, 1))
	var answer configv1alpha1.ResourceInterpreterContext
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatal(err)
	}
	want := `[{"op":"add","path":"/spec/error","value":"atrueHealthy bfalseno quota cfalse dfalse "},{"op":"replace","path":"/spec/size","value":6}]`
	if got := string(answer.Response.Patch); got != want {
		t.Errorf("got %s\nwant %s\n%s", got, want, w.Body)
	}
	for _, cluster := range []string{"word", "string", "list", "range"} {
		if !strings.Contains(logged.String(), "cluster="+cluster+" ") {
			t.Errorf("%s is not in the log: %s", cluster, &logged)
		}
	}
	if n := strings.Count(logged.String(), "\n"); n != 4 {
		t.Errorf("%d lines in the log", n)
	}
}

// FuzzServeHTTP posts anything: the answer is always one that Karmada understands.
func FuzzServeHTTP(f *testing.F) {
	for _, operation := range []string{"InterpretHealth", "Retain", "AggregateStatus", "ReviseReplica"} {
		f.Add([]byte(strings.Replace(healthQuestion(`{"size":1}`), "InterpretHealth", operation, 1)))
	}
	f.Add([]byte(strings.Replace(healthQuestion(`{"size":1}`), `"InterpretHealth"`, `"AggregateStatus","aggregatedStatus":[{"clusterName":"a","status":{"spec":{}}},null]`, 1)))
	f.Add([]byte(strings.Replace(healthQuestion(`{"size":1}`), `"InterpretHealth"`, `"Retain","observedObject":{"apiVersion":"example.io/v1","kind":"Gadget"}`, 1)))
	f.Add([]byte(`{"request":{"uid":1}}`))
	operations := []*Operation{
		health,
		Retain(gadget, func(_ context.Context, desired, observed *object) error { desired.Spec = observed.Spec; return nil }),
		ReviseReplica(gadget, func(_ context.Context, o *object, n int32) error { o.Spec.Size = n; return nil }),
		AggregateStatus(gadget, func(_ context.Context, o *object, m []Member[object]) error { o.Spec.Size = int32(len(m)); return nil }),
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, op := range operations {
			logged.Reset()
			w := askHealth(t, op, "", string(body))
			if strings.Contains(logged.String(), "panicked") {
				t.Fatal(logged.String())
			}
			var answer struct {
				Kind     string
				Code     int
				Response *struct {
					UID        string
					Successful bool
					Status     *struct{ Message string }
				}
			}
			if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
				t.Fatalf("%s: %v", w.Body, err)
			}
			switch {
			case w.Code == 200 && answer.Response != nil && answer.Response.UID != "" && (answer.Response.Successful || answer.Response.Status.Message != ""):
			case w.Code == 400 && answer.Kind == "Status" && answer.Code == 400:
			default:
				t.Fatalf("HTTP %d: %s", w.Code, w.Body)
			}
		}
	})
}
