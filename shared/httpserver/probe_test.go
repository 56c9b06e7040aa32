package httpserver

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestWaitQuiet has requests come while the server drains, on a clock of the test's own.
func TestWaitQuiet(t *testing.T) {
	for name, test := range map[string]struct {
		requests int // one every second, after one before the end was told
		want     time.Duration
	}{
		"nobody asks":    {0, 5 * time.Second},
		"a few ask":      {3, 8 * time.Second},
		"nobody relents": {20, 15 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				g := newGate(ctx, http.NotFoundHandler())
				ask := func() { g.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", nil)) }
				time.Sleep(time.Hour)
				ask()
				stop()
				var asking sync.WaitGroup
				asking.Go(func() {
					for range test.requests {
						time.Sleep(time.Second)
						ask()
					}
				})
				started := time.Now()
				g.waitQuiet(5*time.Second, 15*time.Second)
				if got := time.Since(started); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				asking.Wait()
			})
		})
	}
}

// TestProbes asks before and while the server drains.
func TestProbes(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	g := newGate(ctx, http.NotFoundHandler())
	probe := func(path, name, value string) *http.Response {
		r := httptest.NewRequest(http.MethodGet, path, nil)
		if name != "" {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		g.ServeHTTP(w, r)
		return w.Result()
	}
	for _, ready := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		for name, got := range map[string]*http.Response{
			"readyz":         probe("/readyz", "", ""),
			"kubelet":        probe("/x", "User-Agent", "kube-probe/1.36"),
			"kubelet's mark": probe("/x", "K-Kubelet-Probe", "queue"),
			"Knative":        probe("/x", "K-Network-Probe", "probe"),
		} {
			if got.StatusCode != ready {
				t.Errorf("%s: %s, want %d", name, got.Status, ready)
			}
		}
		if got := probe("/healthz", "", ""); got.StatusCode != http.StatusOK {
			t.Errorf("healthz: %s", got.Status)
		}
		if got := probe("/x", "K-Network-Probe", "queue"); got.StatusCode != http.StatusNotFound {
			t.Errorf("a probe of others: %s", got.Status)
		}
		stop()
	}
}
