package httpserver

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// gate passes requests on, and answers probes itself. Once ctx is done it tells clients to connect anew.
type gate struct {
	ctx  context.Context
	next http.Handler
	// last is when the last request came since ctx is done, in nanoseconds since begin.
	last  atomic.Int64
	begin time.Time
}

func newGate(ctx context.Context, next http.Handler) *gate {
	return &gate{ctx: ctx, next: next, begin: time.Now()}
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	draining := g.ctx.Err() != nil
	if draining {
		// Whoever kept a connection would keep coming here, however many others are ready.
		w.Header().Set("Connection", "close")
	}
	switch {
	case !isProbe(r):
		if draining {
			g.last.Store(int64(time.Since(g.begin)))
		}
		g.next.ServeHTTP(w, r)
	case draining && r.URL.Path != "/healthz":
		http.Error(w, "shutting down", http.StatusServiceUnavailable)
	default:
		if hash := r.Header.Get("K-Network-Hash"); hash != "" {
			w.Header().Set("K-Network-Hash", hash) // by which a probe of Knative's knows whom it has reached
		}
		_, _ = io.WriteString(w, "ok\n")
	}
}

// isProbe says whether a request only asks whether this server is there: by its path, or as a kubelet or Knative
// (knative.dev/networking, pkg/http/header) does it at any path.
func isProbe(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz") ||
		strings.HasPrefix(r.Header.Get("User-Agent"), "kube-probe/") || r.Header.Get("K-Kubelet-Probe") != "" ||
		r.Header.Get("K-Network-Probe") == "probe"
}

// waitQuiet returns when no request has come for the time quiet, but after most in any case.
func (g *gate) waitQuiet(quiet, most time.Duration) {
	start := time.Since(g.begin)
	for {
		now := time.Since(g.begin)
		last := max(start, time.Duration(g.last.Load()))
		left := min(last+quiet, start+most) - now
		if left <= 0 {
			return
		}
		time.Sleep(left)
	}
}
