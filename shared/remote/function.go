package remote

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"interpreter-functions/shared/codec"
	"interpreter-functions/shared/interpreter"
)

// defaultBudget is the caller's timeout where the request does not say it; Karmada's own default is the same.
const defaultBudget = 30 * time.Second

// Function is an http.Handler that passes a request on to a function elsewhere, and its answer back, bytes as they are.
// The caller's timeout is the budget in which a function that is not there yet is asked again. If it runs out, the
// answer is 503 with Retry-After: 1, upon which Karmada's client asks again if it has the time.
type Function struct {
	// Name is the function's name in errors and logs.
	Name string
	// Stable answers for the objects that are not the candidate's.
	Stable *Target
	// Candidate, if any, is another version of the function, which answers for a share of the objects.
	Candidate Share
	// Shadow, if any, is another version of the function, whose answers about a share of the objects are compared with
	// those that were given.
	Shadow *Shadow
	// ShadowPercent is that share.
	ShadowPercent int

	log sometimes
}

// Share is a share of the objects.
type Share struct {
	Target *Target
	// Percent is the share, 0 to 100.
	Percent int
}

// ServeHTTP answers a POST of a ResourceInterpreterContext.
func (f *Function) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := interpreter.ReadBody(w, r)
	if err != nil {
		interpreter.Refuse(w, nil, err)
		return
	}
	budget, err := interpreter.Timeout(r)
	if err != nil {
		interpreter.Refuse(w, body, err)
		return
	}
	if budget == 0 {
		budget = defaultBudget
	}
	// The caller's time began before this; what is said to it last must still find it waiting.
	ctx, cancel := context.WithTimeout(r.Context(), budget-min(budget/10, 100*time.Millisecond))
	defer cancel()
	q := newQuestion(r, body)
	target, place := f.Stable, 100 // beyond any share
	if f.Candidate.Percent > 0 || f.ShadowPercent > 0 {
		place = bucket(body)
	}
	if place < f.Candidate.Percent {
		target = f.Candidate.Target
	}
	started := time.Now()
	a, err := target.ask(ctx, q)
	if err != nil {
		if r.Context().Err() != nil {
			return // nobody waits for an answer any more
		}
		f.refuse(w, target, err, time.Since(started))
		return
	}
	a.write(w)
	if place < f.ShadowPercent {
		f.Shadow.follow(f.Name, q, a)
	}
}

func (f *Function) refuse(w http.ResponseWriter, target *Target, err error, after time.Duration) {
	if errors.Is(err, errTooLong) {
		interpreter.Refuse(w, nil, interpreter.StatusError(http.StatusBadGateway, metav1.StatusReasonInternalError,
			"the function %s at %s: %v", f.Name, target.url, err))
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = errors.New("no answer")
	}
	// Karmada's client waits as the header says, has no time left to ask again, and never shows the message.
	if f.log.now() {
		slog.Warn("a function is not available", "function", f.Name, "url", target.url.String(), "error", err, "within", after.Round(time.Millisecond))
	}
	w.Header().Set("Retry-After", "1")
	interpreter.Refuse(w, nil, interpreter.StatusError(http.StatusServiceUnavailable, metav1.StatusReasonServiceUnavailable,
		"the function %s is not available at %s: %v within %s", f.Name, target.url, err, after.Round(time.Millisecond)))
}

// bucket is one of 100 to which the object of a request belongs for ever: Karmada asks again and again about one
// object, and one that two versions answer for in turn would be rewritten for ever.
func bucket(body []byte) int {
	h := fnv.New64a()
	if uid := find(body, "object", "metadata", "uid"); len(uid) > 2 {
		_, _ = h.Write(uid)
	} else {
		fmt.Fprintf(h, "%s/%s", find(body, "namespace"), find(body, "name"))
	}
	return int(h.Sum64() % 100)
}

// find returns the JSON of a member of the request; nil where there is none, which the function will complain of.
func find(body []byte, path ...string) []byte {
	value, err := codec.Find(body, append([]string{"request"}, path...)...)
	if err != nil {
		return nil
	}
	return value
}
