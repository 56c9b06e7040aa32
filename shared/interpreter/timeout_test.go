package interpreter

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

type key struct{}

// TestDeadline has the context of a request end, with somebody who waits for that and without.
func TestDeadline(t *testing.T) {
	for name, watched := range map[string]bool{"with Done": true, "without Done": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, cancelParent := context.WithCancel(context.WithValue(t.Context(), key{}, "one"))
				r := httptest.NewRequest("POST", "/?timeout=3s", nil).WithContext(parent)
				ctx, cancel, err := withTimeout(r)
				if err != nil {
					t.Fatal(err)
				}
				if at, ok := ctx.Deadline(); !ok || time.Until(at) != 3*time.Second {
					t.Errorf("the deadline is in %s", time.Until(at))
				}
				if ctx.Err() != nil || ctx.Value(key{}) != "one" {
					t.Errorf("%v, %v", ctx.Err(), ctx.Value(key{}))
				}
				if watched {
					<-ctx.Done()
				} else {
					time.Sleep(3 * time.Second)
				}
				if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
					t.Errorf("the time is over, but %v", ctx.Err())
				}
				cancel()

				cancelParent()
				ctx, cancelGone, _ := withTimeout(r)
				defer cancelGone()
				if watched {
					<-ctx.Done()
				}
				if !errors.Is(ctx.Err(), context.Canceled) {
					t.Errorf("the caller is gone, but %v", ctx.Err())
				}
				early, cancelEarly := context.WithTimeout(t.Context(), time.Second)
				defer cancelEarly()
				ctx, cancelLate, _ := withTimeout(r.WithContext(early))
				defer cancelLate()
				if at, _ := ctx.Deadline(); time.Until(at) != time.Second {
					t.Errorf("the caller's own deadline is in 1s, but this in %s", time.Until(at))
				}
			})
		})
	}
}
