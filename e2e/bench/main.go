// Command bench measures what answers cost, beside the least that they could cost and the usual way to give them.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"interpreter-functions/shared/servingcert"
)

const usage = `Measure what answers cost: the programs are built, run, and asked over TLS on loopback.

  make bench                       everything, in about six minutes
  make bench ARGS='-only Retain'   what has Retain in its name
  make bench-check                 fails when a ratio is worse than in e2e/bench/bounds.json

  -only TEXT      only measurements with that text in their names
  -for DURATION   how long each is, 3s if not given
  -json FILE      where the figures are written, bin/bench.json if not given
  -check FILE     the bounds that ratios must keep
`

func main() {
	var b bench
	flag.StringVar(&b.only, "only", "", "")
	flag.DurationVar(&b.duration, "for", 3*time.Second, "")
	output := flag.String("json", "../bin/bench.json", "")
	bounds := flag.String("check", "", "")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := b.run(ctx, *output, *bounds)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// Figure is what was measured of a program under one load.
type Figure struct {
	Program     string  `json:"program"`
	Body        string  `json:"body"`
	Protocol    string  `json:"protocol"`
	Concurrency int     `json:"concurrency"`
	PerSecond   float64 `json:"requestsPerSecond"`
	P50         float64 `json:"p50Micros"`
	P99         float64 `json:"p99Micros"`
	// CPU is the servers' user and system time per request.
	CPU float64 `json:"cpuMicrosPerRequest"`
	// Memory is the resident memory of the largest server at its most.
	Memory float64 `json:"memoryMiB"`
	// Allocations are those of a function between a request and its answer, besides what every handler has.
	Allocations int `json:"allocations,omitempty"`
	// Floor and Usual are by how much CPU is more than the floor's and less than the usual program's.
	Floor float64 `json:"timesTheFloor,omitempty"`
	Usual float64 `json:"timesLessThanUsual,omitempty"`
}

type bench struct {
	only     string
	duration time.Duration

	dir     string // of the programs, and of the certificate
	roots   *x509.CertPool
	figures []*Figure
	starts  []*Start
}

func (b *bench) run(ctx context.Context, output, bounds string) error {
	var err error
	if b.dir, err = os.MkdirTemp("", "bench"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(b.dir) }()
	if err := b.build(ctx); err != nil {
		return err
	}
	if err := b.measure(ctx); err != nil {
		return err
	}
	if b.only == "" {
		if err := b.measureStarts(ctx); err != nil {
			return err
		}
		if err := b.allocations(ctx); err != nil {
			return err
		}
	}
	b.print(os.Stdout)
	data, err := json.MarshalIndent(map[string]any{"figures": b.figures, "starts": b.starts}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(output, append(data, '\n'), 0o600); err != nil {
		return err
	}
	if bounds != "" {
		return b.check(bounds)
	}
	return nil
}

func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }

func (b *bench) build(ctx context.Context) error {
	progress("building")
	for dir, packages := range map[string][]string{"..": {"./infra/interpretctl", "./knative/..."}, ".": {"./bench/floor", "./bench/usual"}} {
		// As the images are built.
		cmd := exec.CommandContext(ctx, "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", b.dir + "/"}, packages...)...) //nolint:gosec // of this program's own making
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, out)
		}
	}
	if err := servingcert.Create(b.dir, []string{"127.0.0.1"}); err != nil {
		return err
	}
	ca, err := os.ReadFile(filepath.Join(b.dir, servingcert.CAFile))
	if err != nil {
		return err
	}
	b.roots = x509.NewCertPool()
	b.roots.AppendCertsFromPEM(ca)
	return nil
}

// servers are the processes that answer together; the first is asked.
type servers []*process

func (s servers) stop() {
	for _, p := range s {
		p.stop()
	}
}

func (s servers) cpu() (time.Duration, error) {
	var sum time.Duration
	for _, p := range s {
		used, err := p.cpu()
		if err != nil {
			return 0, err
		}
		sum += used
	}
	return sum, nil
}

// start starts what answers a body: one program, or the router and the function.
func (b *bench) start(ctx context.Context, program string, body *body) (servers, error) {
	certs := "CERT_DIR=" + b.dir
	function := filepath.Join(b.dir, strings.ToLower(string(body.operation)))
	switch program {
	case "function":
		p, err := start(ctx, function, certs)
		return servers{p}, err
	case "router and function":
		f, err := start(ctx, function)
		if err != nil {
			return nil, err
		}
		routes := fmt.Sprintf("routes:\n- path: /interpreter-workload\n  functions:\n    %s: {url: http://%s}\n", body.operation, f.address)
		file := filepath.Join(b.dir, "routes.yaml")
		if err := os.WriteFile(file, []byte(routes), 0o600); err != nil {
			return nil, err
		}
		r, err := start(ctx, filepath.Join(b.dir, "router"), certs, "ROUTER_CONFIG="+file)
		if err != nil {
			f.stop()
			return nil, err
		}
		return servers{r, f}, nil
	default:
		p, err := start(ctx, filepath.Join(b.dir, program), certs)
		return servers{p}, err
	}
}

// measure asks every program about every body.
func (b *bench) measure(ctx context.Context) error {
	type how struct {
		http2       bool
		concurrency int
	}
	for _, body := range bodies() {
		loads := []how{{false, 16}}
		if body.name == "InterpretHealth" || body.name == "Retain" {
			loads = []how{{false, 16}, {false, 1}, {false, 64}, {true, 1}, {true, 16}, {true, 64}}
		}
		for _, how := range loads {
			protocol := map[bool]string{false: "HTTP/1.1", true: "HTTP/2"}[how.http2]
			name := fmt.Sprintf("%s, %s, %d at a time", body.name, protocol, how.concurrency)
			if !strings.Contains(name, b.only) {
				continue
			}
			progress("%s", name)
			programs := []string{"function", "floor"}
			if !how.http2 && how.concurrency == 16 {
				programs = append(programs, "usual", "router and function")
			}
			row := map[string]*Figure{}
			for _, program := range programs {
				figure, err := b.figure(ctx, program, body, how.http2, how.concurrency)
				if err != nil {
					return fmt.Errorf("%s: %s: %w", program, name, err)
				}
				figure.Protocol = protocol
				row[program] = figure
				b.figures = append(b.figures, figure)
			}
			for _, figure := range row {
				figure.Floor = figure.CPU / row["floor"].CPU
				if row["usual"] != nil {
					figure.Usual = row["usual"].CPU / figure.CPU
				}
			}
		}
	}
	if len(b.figures) == 0 {
		return errors.New("there is nothing with that text in its name")
	}
	return nil
}

// figure measures one program, after it has warmed up.
func (b *bench) figure(ctx context.Context, program string, body *body, http2 bool, concurrency int) (*Figure, error) {
	s, err := b.start(ctx, program, body)
	if err != nil {
		return nil, err
	}
	defer s.stop()
	path := "/interpreter-workload"
	if program == "floor" {
		path = fmt.Sprintf("/%d", body.answer)
	}
	l := load{"https://" + s[0].address + path + "?timeout=10s", body.data, http2, concurrency, b.duration / 6}
	warm, err := l.run(ctx, b.roots)
	if err != nil {
		return nil, err
	}
	if program == "function" {
		if !strings.Contains(string(warm.answer), `"successful":true`) {
			return nil, fmt.Errorf("the answer is %.300s", warm.answer)
		}
		body.answer = len(warm.answer)
	}
	before, err := s.cpu()
	if err != nil {
		return nil, err
	}
	l.duration = b.duration
	r, err := l.run(ctx, b.roots)
	if err != nil {
		return nil, err
	}
	after, err := s.cpu()
	if err != nil {
		return nil, err
	}
	figure := &Figure{
		Program: program, Body: body.name, Concurrency: concurrency,
		PerSecond: float64(r.requests) / r.elapsed.Seconds(), P50: micros(r.p50), P99: micros(r.p99),
		CPU: micros(after-before) / float64(r.requests),
	}
	for _, p := range s {
		most, err := p.memory("VmHWM")
		if err != nil {
			return nil, err
		}
		figure.Memory = max(figure.Memory, float64(most)/(1<<20))
	}
	return figure, nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// Start is what was measured of a function from its start to its first answer.
type Start struct {
	Program string `json:"program"`
	// FirstAnswer is the median of 20.
	FirstAnswer float64 `json:"firstAnswerMillis"`
	// Memory is the resident memory after that answer.
	Memory float64 `json:"memoryMiB"`
	// Size is that of the program's file, and Layer that of the layer which an image has of it.
	Size  float64 `json:"sizeMB"`
	Layer float64 `json:"layerMB"`
}

func (b *bench) measureStarts(ctx context.Context) error {
	progress("starts")
	list := bodies()
	for _, name := range []string{"InterpretHealth", "InterpretReplica", "Retain"} {
		body := list[slices.IndexFunc(list, func(b *body) bool { return b.name == name })]
		program := filepath.Join(b.dir, strings.ToLower(name))
		var times []time.Duration
		var memory int64
		for range 20 {
			started := time.Now()
			p, err := start(ctx, program)
			if err != nil {
				return err
			}
			c := client(nil, false, 1)
			_, err = post(ctx, c, "http://"+p.address, body.data)
			times = append(times, time.Since(started))
			if err == nil {
				memory, err = p.memory("VmRSS")
			}
			p.stop()
			if err != nil {
				return err
			}
		}
		slices.Sort(times)
		file, err := os.ReadFile(program) //nolint:gosec // a program that was built here
		if err != nil {
			return err
		}
		var layer bytes.Buffer
		compressed := gzip.NewWriter(&layer)
		if _, err := compressed.Write(file); err != nil {
			return err
		}
		if err := compressed.Close(); err != nil {
			return err
		}
		b.starts = append(b.starts, &Start{
			name, micros(times[len(times)/2]) / 1000, float64(memory) / (1 << 20), float64(len(file)) / 1e6, float64(layer.Len()) / 1e6,
		})
	}
	return nil
}
