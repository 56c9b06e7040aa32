// Command prober asks the functions from inside a cluster, as Karmada does, and prints what came of it as JSON. It runs
// in a pod that waits, in which it is started once more for each measurement.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"interpreter-functions/e2e/karmada"
	"interpreter-functions/e2e/knative/report"
	"interpreter-functions/functions"
	service "interpreter-functions/infra/karmada"
)

const (
	// namespace is where the functions and the router are.
	namespace = "interpreter"
	// caFile is where the CA of the router's certificate is mounted.
	caFile = "/etc/router/certs/ca.crt"
	// cases is where the cases of the functions' tests are mounted.
	cases = "/etc/cases"
)

const usage = `prober asks the functions from inside a cluster, and prints the requests it made as JSON.

  prober wait                      until it is told to end
  prober all                       all cases, one after the other
  prober each [-direct]            every operation once, one after the other; past the router
  prober together                  every operation once, all at once
  prober burst -objects N -operation O      of N objects at once
  prober load -for D [-workers N] [-pause D]  every operation in turn, about 100 objects
  prober trickle -for D -operation O        with pauses of up to 15 seconds
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// prober asks questions and keeps what came of it.
type prober struct {
	client   *rest.RESTClient
	byName   map[string]*karmada.Question // one with an answer for each operation
	all      []*karmada.Question
	mu       sync.Mutex
	requests []report.Request
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	flags.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	direct := flags.Bool("direct", false, "")
	objects := flags.Int("objects", 1, "")
	operation := flags.String("operation", "", "")
	duration := flags.Duration("for", 10*time.Second, "")
	pause := flags.Duration("pause", 0, "")
	workers := flags.Int("workers", 5, "")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "wait" {
		<-ctx.Done()
		return nil
	}
	p, err := newProber()
	if err != nil {
		return err
	}
	if *operation != "" && p.byName[*operation] == nil {
		return fmt.Errorf("there is no operation %q", *operation)
	}
	switch args[0] {
	case "all":
		for _, q := range p.all {
			p.ask(ctx, q)
		}
	case "each":
		for _, name := range p.operations() {
			if *direct {
				p.askDirectly(ctx, p.byName[name])
			} else {
				p.ask(ctx, p.byName[name])
			}
		}
	case "together":
		var asking sync.WaitGroup
		for _, q := range p.byName {
			asking.Go(func() { p.ask(ctx, q) })
		}
		asking.Wait()
	case "burst":
		var asking sync.WaitGroup
		for i := range *objects {
			asking.Go(func() { p.ask(ctx, about(p.byName[*operation], i)) })
		}
		asking.Wait()
	case "load":
		p.load(ctx, *workers, *duration, *pause)
	case "trickle":
		for end := time.Now().Add(*duration); time.Now().Before(end) && ctx.Err() == nil; {
			p.ask(ctx, p.byName[*operation])
			time.Sleep(rand.N(15 * time.Second)) //nolint:gosec // nobody minds if it is guessed
		}
	default:
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	return json.NewEncoder(os.Stdout).Encode(p.requests)
}

func newProber() (*prober, error) {
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	client, err := karmada.Client(service.ServiceName+"."+namespace+".svc:443", webhook.ClientConfig{
		Name: "interpreter", CABundle: ca,
		Service: &webhook.ClientConfigService{Name: service.ServiceName, Namespace: namespace, Path: functions.Path, Port: 443},
	})
	if err != nil {
		return nil, err
	}
	p := &prober{client: client, byName: map[string]*karmada.Question{}}
	if p.all, err = karmada.Questions(cases, ""); err != nil {
		return nil, err
	}
	for _, q := range p.all {
		name := string(q.Request.Request.Operation)
		if q.Answered() && p.byName[name] == nil {
			p.byName[name] = q
		}
	}
	return p, nil
}

func (p *prober) operations() []string {
	names := make([]string, 0, len(p.byName))
	for name := range p.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// note makes a request and keeps what came of it.
func (p *prober) note(q *karmada.Question, request func() error) {
	started := time.Now()
	err := request()
	r := report.Request{Operation: string(q.Request.Request.Operation), Took: time.Since(started)}
	if err != nil {
		r.Error = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, r)
}

func (p *prober) ask(ctx context.Context, q *karmada.Question) {
	p.note(q, func() error { return q.Ask(ctx, p.client) })
}

// askDirectly asks the function of an operation where the router asks it.
func (p *prober) askDirectly(ctx context.Context, q *karmada.Question) {
	p.note(q, func() error {
		body, err := json.Marshal(q.Request)
		if err != nil {
			return err
		}
		url := "http://" + strings.ToLower(string(q.Request.Request.Operation)) + "." + namespace + ".svc.cluster.local?timeout=10s"
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		answer, err := io.ReadAll(res.Body)
		if err == nil && res.StatusCode != http.StatusOK {
			err = fmt.Errorf("HTTP %d: %s", res.StatusCode, answer)
		}
		return err
	})
}

// about is a question about another object.
func about(q *karmada.Question, object int) *karmada.Question {
	other, request, wrapper := *q, *q.Request.Request, *q.Request
	var tree map[string]any
	if err := json.Unmarshal(request.Object.Raw, &tree); err != nil {
		panic(err) // it is a case that has an answer
	}
	metadata, _ := tree["metadata"].(map[string]any)
	metadata["uid"] = fmt.Sprintf("00000000-0000-4000-8000-%012d", object)
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	request.Object.Raw = raw
	wrapper.Request = &request
	other.Request = &wrapper
	return &other
}

// load asks as a busy Karmada does: with workers, of which it has five, that ask one thing after the other.
func (p *prober) load(ctx context.Context, workers int, duration, pause time.Duration) {
	const objects = 100
	operations := p.operations()
	questions := make([]*karmada.Question, 0, objects*len(operations))
	for i := range objects {
		for _, name := range operations {
			questions = append(questions, about(p.byName[name], i))
		}
	}
	end := time.Now().Add(duration)
	var working sync.WaitGroup
	for worker := range workers {
		working.Go(func() {
			for i := worker; time.Now().Before(end) && ctx.Err() == nil; i += workers {
				p.ask(ctx, questions[i%len(questions)])
				time.Sleep(pause)
			}
		})
	}
	working.Wait()
}
