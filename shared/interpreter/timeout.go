package interpreter

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// Timeout is how long the caller of r waits for an answer by the timeout in its query, such as timeout=3s; 0 if it does
// not say. A timeout that is no duration above zero is an error of 400.
func Timeout(r *http.Request) (time.Duration, error) {
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return 0, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil || timeout <= 0 {
		return 0, BadRequest("the timeout in the query is %q: it must be a duration above zero such as 3s", text)
	}
	return timeout, nil
}

// withTimeout returns the request's context with the caller's timeout as its deadline.
func withTimeout(r *http.Request) (context.Context, context.CancelFunc, error) {
	timeout, err := Timeout(r)
	if err != nil || timeout == 0 {
		return r.Context(), func() {}, err
	}
	ctx := &deadline{Context: r.Context(), at: time.Now().Add(timeout)}
	return ctx, ctx.cancel, nil
}

// deadline is a context with a deadline, and with a timer only once somebody waits for it: to set and stop one would be
// a tenth of what a function does.
type deadline struct {
	context.Context
	at time.Time

	mu   sync.Mutex
	wait context.Context
	stop context.CancelFunc
}

func (d *deadline) Deadline() (time.Time, bool) {
	if parent, ok := d.Context.Deadline(); ok && parent.Before(d.at) {
		return parent, true
	}
	return d.at, true
}

func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.wait == nil {
		d.wait, d.stop = context.WithDeadline(d.Context, d.at)
	}
	return d.wait.Done()
}

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.wait != nil:
		return d.wait.Err()
	case d.Context.Err() != nil:
		return d.Context.Err()
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

// cancel is for when the function has returned: it lets go of the timer, if there is one.
func (d *deadline) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
	}
}
