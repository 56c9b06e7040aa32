// Command knative tries this project on a Knative cluster from the deployment to the clean-up, and measures it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"interpreter-functions/e2e/knative/report"
)

const usage = `Try the functions on the Knative cluster that kubectl talks to, and measure them.

It needs kubectl, the right to create the namespace interpreter, which must not exist, and KO_DOCKER_REPO, where images
are pushed and pulled from by the cluster. It deploys, asks as Karmada does from a pod in the cluster, lets all functions
scale to zero and asks again, rolls one out under load, deletes pods under load, prints a table, and deletes the
namespace. With Knative's default settings it takes half an hour, most of it waiting for the scale to zero.

  KO_DOCKER_REPO=registry.example.com/interpreter make e2e-knative

  -keep      leave the namespace as it is at the end
  -rounds N  measure cold starts N times, 3 if not given
`

func main() {
	keep := flag.Bool("keep", false, "")
	rounds := flag.Int("rounds", 3, "")
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := try(ctx, *rounds, *keep)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED:", err)
		os.Exit(1)
	}
}

// trial is what has been measured so far.
type trial struct {
	rounds int
	cold   map[string][]report.Request // "direct" and "router"
	lines  []line
	facts  []string
	failed []string
}

// line is one measurement of the table.
type line struct {
	what     string
	requests []report.Request
}

func try(ctx context.Context, rounds int, keep bool) error {
	if os.Getenv("KO_DOCKER_REPO") == "" {
		return errors.New("KO_DOCKER_REPO is not set; see make e2e-knative ARGS=-help")
	}
	if _, err := run(ctx, "", "kubectl", "get", "namespace", namespace); err == nil {
		return fmt.Errorf("the namespace %s exists: it would be deleted at the end; delete it first, or choose another cluster", namespace)
	}
	if !keep {
		defer func() {
			progress("cleaning up")
			// The one that was interrupted cleans up as well.
			if _, err := run(context.Background(), "", "kubectl", "delete", "namespace", namespace, "--wait=true"); err != nil {
				progress("%v", err)
			}
		}()
	}
	t := &trial{rounds: rounds, cold: map[string][]report.Request{}}
	for _, step := range []struct {
		what string
		do   func(context.Context) error
	}{
		{"deploying", t.deploy},
		{"asking all cases", t.all},
		{"measuring warm requests", t.warm},
		{"measuring cold starts", t.coldStarts},
		{"asking all functions at once, all at zero", t.together},
		{"asking of 20 objects at once, the function at zero", t.burst},
		{"rolling out under load", t.rollout},
		{"finding a wrong candidate by its shadow", t.wrongCandidate},
		{"deleting pods under load", t.deletions},
		{"asking now and then, while functions scale down", t.scaleDown},
	} {
		progress("%s", step.what)
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	t.print(os.Stdout)
	if len(t.failed) > 0 {
		return fmt.Errorf("%d requests or checks failed:\n%s", len(t.failed), strings.Join(t.failed[:min(len(t.failed), 20)], "\n"))
	}
	return nil
}

// measure starts the prober and adds a line to the table.
func (t *trial) measure(ctx context.Context, what string, args ...string) error {
	requests, err := probe(ctx, args...)
	if err != nil {
		return err
	}
	t.add(what, requests)
	return nil
}

func (t *trial) add(what string, requests []report.Request) {
	t.lines = append(t.lines, line{what, requests})
	for _, failure := range report.Failures(requests) {
		t.failed = append(t.failed, what+": "+failure)
	}
}

// during does something while the prober asks, and adds a line to the table.
func (t *trial) during(ctx context.Context, what string, do func(context.Context) error, args ...string) error {
	done := make(chan error, 1)
	go func() { done <- t.measure(ctx, what, args...) }()
	time.Sleep(3 * time.Second)
	err := do(ctx)
	return errors.Join(err, <-done)
}

func (t *trial) deploy(ctx context.Context) error {
	if _, err := run(ctx, "..", "knative/deploy.sh"); err != nil {
		return err
	}
	if _, err := kubectl(ctx, "create", "configmap", "cases", "--from-file=../functions/testdata"); err != nil {
		return err
	}
	manifest, err := run(ctx, "", "../bin/ko", "resolve", "--base-import-paths", "--sbom=none", "-f", "knative/prober/pod.yaml")
	if err != nil {
		return err
	}
	if err := apply(ctx, manifest); err != nil {
		return err
	}
	_, err = kubectl(ctx, "wait", "pod/prober", "--for=condition=Ready", "--timeout=120s")
	return err
}

func (t *trial) all(ctx context.Context) error {
	return t.measure(ctx, "all cases, after the deployment", "all")
}

func (t *trial) warm(ctx context.Context) error {
	if _, err := probe(ctx, "each"); err != nil {
		return err
	}
	if err := t.measure(ctx, "warm, one request after the other", "load", "-workers", "1", "-for", "20s"); err != nil {
		return err
	}
	if err := t.measure(ctx, "warm, five workers", "load", "-for", "20s"); err != nil {
		return err
	}
	if bytes, err := memory(ctx); err != nil {
		progress("the memory of the functions cannot be read: %v", err)
	} else {
		t.facts = append(t.facts, fmt.Sprintf("Resident memory of a function after that: at most %.1f MiB.", float64(bytes)/(1<<20)))
	}
	if bytes, err := imageSize(ctx); err != nil {
		progress("the size of the images cannot be read: %v", err)
	} else {
		t.facts = append(t.facts, fmt.Sprintf("Image of a function: at most %.1f MB.", float64(bytes)/1e6))
	}
	return nil
}

func (t *trial) coldStarts(ctx context.Context) error {
	for range t.rounds {
		for how, args := range map[string][]string{"direct": {"each", "-direct"}, "router": {"each"}} {
			if err := scaledToZero(ctx); err != nil {
				return err
			}
			requests, err := probe(ctx, args...)
			if err != nil {
				return err
			}
			t.cold[how] = append(t.cold[how], requests...)
			for _, failure := range report.Failures(requests) {
				t.failed = append(t.failed, "cold, "+how+": "+failure)
			}
		}
	}
	return nil
}

func (t *trial) together(ctx context.Context) error {
	var requests []report.Request
	for range t.rounds {
		if err := scaledToZero(ctx); err != nil {
			return err
		}
		round, err := probe(ctx, "together")
		if err != nil {
			return err
		}
		requests = append(requests, round...)
	}
	t.add("all eight at zero, asked at once", requests)
	return nil
}

func (t *trial) burst(ctx context.Context) error {
	if err := scaledToZero(ctx); err != nil {
		return err
	}
	return t.measure(ctx, "20 objects at once, the function at zero", "burst", "-operation", "InterpretStatus", "-objects", "20")
}

func (t *trial) rolloutCommand(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, "..", "bin/rollout", args...)
}

// rollout changes the version of one function while all are asked.
func (t *trial) rollout(ctx context.Context) error {
	image, err := run(ctx, "..", "bin/ko", "build", "--base-import-paths", "--sbom=none", "--image-label", "version=2", "./knative/revisereplica")
	if err != nil {
		return err
	}
	before, err := revisions(ctx, "revisereplica")
	if err != nil {
		return err
	}
	err = t.during(ctx, "rollout from shadow to promotion, under load", func(ctx context.Context) error {
		for _, args := range [][]string{
			{"start", "ReviseReplica", "--image", strings.TrimSpace(string(image))},
			{"shadow", "ReviseReplica", "100"},
			{"candidate", "ReviseReplica", "10"},
			{"promote", "ReviseReplica"},
		} {
			if _, err := t.rolloutCommand(ctx, args...); err != nil {
				return err
			}
			time.Sleep(5 * time.Second)
		}
		return nil
	}, "load", "-for", "50s", "-pause", "20ms")
	if err != nil {
		return err
	}
	after, err := revisions(ctx, "revisereplica")
	if err != nil {
		return err
	}
	if before != after {
		t.failed = append(t.failed, fmt.Sprintf("the other revisions changed from %s to %s", before, after))
	}
	return nil
}

// wrongCandidate starts a candidate that answers wrong: its shadow must tell, and nobody get its answers.
func (t *trial) wrongCandidate(ctx context.Context) error {
	image, err := run(ctx, "", "../bin/ko", "build", "--base-import-paths", "--sbom=none", "./knative/candidate")
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"start", "ReviseReplica", "--image", strings.TrimSpace(string(image))},
		{"shadow", "ReviseReplica", "100"},
	} {
		if _, err := t.rolloutCommand(ctx, args...); err != nil {
			return err
		}
	}
	if err := t.measure(ctx, "a wrong candidate as shadow", "load", "-for", "15s", "-pause", "20ms"); err != nil {
		return err
	}
	status, err := t.rolloutCommand(ctx, "status")
	if err != nil {
		return err
	}
	compared, differed := 0, 0
	for line := range strings.Lines(string(status)) {
		fields := strings.Fields(line)
		if len(fields) > 8 && fields[1] == "ReviseReplica" {
			// PATH OPERATION STABLE CANDIDATE 100 % COMPARED DIFFERED FAILED DROPPED
			_, err = fmt.Sscan(strings.Join(fields[6:8], " "), &compared, &differed)
		}
	}
	if err != nil || compared == 0 || differed != compared {
		t.failed = append(t.failed, fmt.Sprintf("of %d answers of the wrong candidate %d were found to differ (%v) in\n%s", compared, differed, err, status))
	}
	t.facts = append(t.facts, fmt.Sprintf("Answers of the wrong candidate that were compared, and found to differ: %d, %d.", compared, differed))
	_, err = t.rolloutCommand(ctx, "back", "ReviseReplica")
	return err
}

// deletions deletes a pod of a function at once, as when its node is lost, and one of the routers in order.
func (t *trial) deletions(ctx context.Context) error {
	return t.during(ctx, "a function's pod killed, a router's deleted, under load", func(ctx context.Context) error {
		function, err := podOf(ctx, "serving.knative.dev/service=interpretstatus")
		if err != nil {
			return err
		}
		if _, err := kubectl(ctx, "delete", "pod", function, "--grace-period=0", "--force", "--wait=false"); err != nil {
			return err
		}
		time.Sleep(5 * time.Second)
		router, err := podOf(ctx, "app.kubernetes.io/component=router")
		if err != nil {
			return err
		}
		_, err = kubectl(ctx, "delete", "pod", router, "--wait=false")
		return err
	}, "load", "-for", "30s", "-pause", "20ms")
}

func (t *trial) scaleDown(ctx context.Context) error {
	if _, err := probe(ctx, "burst", "-operation", "InterpretHealth", "-objects", "50"); err != nil {
		return err
	}
	return t.measure(ctx, "now and then, over scale-downs to zero", "trickle", "-operation", "InterpretHealth", "-for", "2m")
}
