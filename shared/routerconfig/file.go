package routerconfig

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/shared/remote"
	"interpreter-functions/shared/router"
)

const (
	// reloadInterval is how often the file is looked at.
	reloadInterval = time.Second
	// reportInterval is how often the log says how shadows do, if there is news.
	reportInterval = 10 * time.Second
)

// File is an http.Handler that routes requests as a file says at the time.
type File struct {
	name   string
	router atomic.Pointer[router.Router]

	// The rest is that of Follow alone.
	data    []byte
	targets map[string]*remote.Target
	shadows map[shadowKey]*shadow
}

// shadowKey is what a shadow's counts are about, whatever else changes in the file.
type shadowKey struct {
	path      Path
	operation Operation
	url       string
}

type shadow struct {
	*remote.Shadow
	reported *remote.Counts // nil until the log has told of it
}

// Load reads the file.
func Load(name string) (*File, error) {
	f := &File{name: name, targets: map[string]*remote.Target{}, shadows: map[shadowKey]*shadow{}}
	return f, f.load()
}

// ServeHTTP passes a request on to its function.
func (f *File) ServeHTTP(w http.ResponseWriter, r *http.Request) { f.router.Load().ServeHTTP(w, r) }

// Follow loads the file again when it has changed, until ctx is done. A file that is not right is logged, and what was
// loaded before stays. It also logs how the shadows do.
func (f *File) Follow(ctx context.Context) {
	reload, report := time.NewTicker(reloadInterval), time.NewTicker(reportInterval)
	defer reload.Stop()
	defer report.Stop()
	for {
		select {
		case <-ctx.Done():
			f.report()
			return
		case <-reload.C:
			if err := f.load(); err != nil {
				slog.Error("the new routes cannot be loaded, those before stay in use", "error", err)
			}
		case <-report.C:
			f.report()
		}
	}
}

// Digest tells one content of the file from another, in the log and to whoever waits for it there.
func Digest(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data))[:12] }

// load loads the file if it has changed since the last time. It compares what it holds: neither times nor the symbolic
// links of a mounted ConfigMap tell of every change.
func (f *File) load() error {
	data, err := os.ReadFile(f.name)
	if err != nil {
		return err
	}
	if f.data != nil && bytes.Equal(data, f.data) {
		return nil
	}
	f.data = data
	config, err := Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	f.use(config)
	slog.Info("loaded the routes", "file", f.name, "digest", Digest(data))
	return nil
}

// use routes as config says. Targets and shadows that were there before are kept, with their connections and counts.
func (f *File) use(config *Config) {
	targets, shadows := map[string]*remote.Target{}, map[shadowKey]*shadow{}
	target := func(u URL) *remote.Target {
		return keep(targets, f.targets, u.String(), func() *remote.Target { return remote.NewTarget(u.URL) })
	}
	routes := make([]router.Route, 0, len(config.Routes))
	for _, route := range config.Routes {
		functions := map[configv1alpha1.InterpreterOperation]http.Handler{}
		for operation, function := range route.Functions {
			handler := &remote.Function{Name: string(operation) + " of " + string(route.Path), Stable: target(function.URL)}
			if c := function.Candidate; c != nil {
				handler.Candidate = remote.Share{Target: target(c.URL), Percent: int(*c.Percent)}
			}
			if s := function.Shadow; s != nil {
				key, at := shadowKey{route.Path, operation, s.URL.String()}, target(s.URL)
				handler.Shadow = keep(shadows, f.shadows, key, func() *shadow { return &shadow{Shadow: remote.NewShadow(at)} }).Shadow
				handler.ShadowPercent = int(*s.Percent)
			}
			functions[configv1alpha1.InterpreterOperation(operation)] = handler
		}
		routes = append(routes, router.Route{Path: string(route.Path), Functions: functions})
	}
	f.router.Store(router.New(routes...))
	for name, t := range f.targets {
		if targets[name] != t {
			t.Close()
		}
	}
	f.report()
	f.targets, f.shadows = targets, shadows
	f.report()
}

// keep returns the value of a key, from before if there was one, and has it in now.
func keep[K comparable, V any](now, before map[K]V, key K, make func() V) V {
	value, ok := now[key]
	if !ok {
		if value, ok = before[key]; !ok {
			value = make()
		}
		now[key] = value
	}
	return value
}

// report logs the counts of the shadows that have changed, and those of new ones, which begin at zero.
func (f *File) report() {
	for key, s := range f.shadows {
		counts := s.Counts()
		if s.reported == nil || counts != *s.reported {
			s.reported = &counts
			slog.Info("shadow", "operation", key.operation, "path", key.path, "url", key.url,
				"compared", counts.Compared, "differed", counts.Differed, "failed", counts.Failed, "dropped", counts.Dropped)
		}
	}
}
