package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"interpreter-functions/e2e/knative/report"
)

const namespace = "interpreter"

// run runs a command and returns what it prints. Its error is what the command says of the failure.
func run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // commands of this program's own making
	cmd.Dir = dir
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()+out.String()))
	}
	return out.Bytes(), nil
}

func kubectl(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, "", "kubectl", append([]string{"--namespace", namespace}, args...)...)
}

// apply gives a manifest to the cluster.
func apply(ctx context.Context, manifest []byte) error {
	cmd := exec.CommandContext(ctx, "kubectl", "apply", "-f", "-")
	cmd.Stdin = bytes.NewReader(manifest)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl apply: %w: %s", err, out)
	}
	return nil
}

// get decodes an object, or a list of them, of the cluster.
func get[T any](ctx context.Context, args ...string) (*T, error) {
	out, err := kubectl(ctx, append([]string{"get", "-o", "json"}, args...)...)
	if err != nil {
		return nil, err
	}
	object := new(T)
	return object, json.Unmarshal(out, object)
}

type metadata struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
}

// items is a list of objects with what is looked at of any of them.
type items struct {
	Items []struct {
		Metadata metadata `json:"metadata"`
	} `json:"items"`
}

// scaledToZero waits until no function has a pod, not even one that still ends: what that takes would be measured.
func scaledToZero(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		pods, err := get[items](ctx, "pods", "--selector", "serving.knative.dev/service")
		if err != nil {
			return err
		}
		wait := time.Second
		if len(pods.Items) == 0 {
			wait = 3 * time.Second
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%d pods of functions are still there: %w", len(pods.Items), ctx.Err())
		case <-time.After(wait):
		}
		if len(pods.Items) == 0 {
			return nil
		}
	}
}

// probe starts the prober in its pod.
func probe(ctx context.Context, args ...string) ([]report.Request, error) {
	out, err := kubectl(ctx, append([]string{"exec", "prober", "--", "/ko-app/prober"}, args...)...)
	if err != nil {
		return nil, err
	}
	var requests []report.Request
	return requests, json.Unmarshal(out, &requests)
}

// revisions are the names of the revisions of all Knative Services but one.
func revisions(ctx context.Context, except string) (string, error) {
	list, err := get[items](ctx, "revisions.serving.knative.dev")
	if err != nil {
		return "", err
	}
	var names []string
	for _, revision := range list.Items {
		if revision.Metadata.Labels["serving.knative.dev/service"] != except {
			names = append(names, revision.Metadata.Name)
		}
	}
	return strings.Join(names, " "), nil
}

// podOf is a pod that runs, of those that a selector selects.
func podOf(ctx context.Context, selector string) (string, error) {
	pods, err := get[items](ctx, "pods", "--selector", selector, "--field-selector", "status.phase=Running")
	if err != nil {
		return "", err
	}
	if len(pods.Items) == 0 {
		return "", fmt.Errorf("no pod of %s runs", selector)
	}
	return pods.Items[0].Metadata.Name, nil
}

// memory is the resident memory, in bytes, of the containers of functions that run; the largest counts. It is not to
// be had from every cluster.
func memory(ctx context.Context) (int64, error) {
	nodes, err := get[items](ctx, "nodes")
	if err != nil {
		return 0, err
	}
	var most int64
	for _, node := range nodes.Items {
		out, err := kubectl(ctx, "get", "--raw", "/api/v1/nodes/"+node.Metadata.Name+"/proxy/stats/summary")
		if err != nil {
			return 0, err
		}
		var summary struct {
			Pods []struct {
				PodRef     struct{ Namespace string }
				Containers []struct {
					Name   string
					Memory struct{ RSSBytes int64 }
				}
			}
		}
		if err := json.Unmarshal(out, &summary); err != nil {
			return 0, err
		}
		for _, pod := range summary.Pods {
			for _, container := range pod.Containers {
				if pod.PodRef.Namespace == namespace && container.Name == "user-container" {
					most = max(most, container.Memory.RSSBytes)
				}
			}
		}
	}
	if most == 0 {
		return 0, errors.New("no function runs")
	}
	return most, nil
}

// imageSize is the size, in bytes, of the largest image of the functions, as it is pulled.
func imageSize(ctx context.Context) (int64, error) {
	nodes, err := get[struct {
		Items []struct {
			Status struct {
				Images []struct {
					Names     []string `json:"names"`
					SizeBytes int64    `json:"sizeBytes"`
				} `json:"images"`
			} `json:"status"`
		} `json:"items"`
	}](ctx, "nodes")
	if err != nil {
		return 0, err
	}
	pods, err := get[struct {
		Items []struct {
			Spec struct {
				Template struct {
					Spec struct {
						Containers []struct {
							Image string `json:"image"`
						} `json:"containers"`
					} `json:"spec"`
				} `json:"template"`
			} `json:"spec"`
		} `json:"items"`
	}](ctx, "ksvc")
	if err != nil {
		return 0, err
	}
	sizes := map[string]int64{}
	for _, node := range nodes.Items {
		for _, image := range node.Status.Images {
			for _, name := range image.Names {
				sizes[name] = image.SizeBytes
			}
		}
	}
	var most int64
	for _, pod := range pods.Items {
		most = max(most, sizes[pod.Spec.Template.Spec.Containers[0].Image])
	}
	if most == 0 {
		return 0, errors.New("the nodes do not tell")
	}
	return most, nil
}

// progress says on standard error what is being done.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format("15:04:05")+" "+format+"\n", args...)
}
