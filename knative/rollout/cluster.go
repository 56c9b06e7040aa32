package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// patience is how long the cluster may take for a step: a kubelet alone may need two minutes to see a new ConfigMap.
const patience = 3 * time.Minute

// kubectl runs kubectl and returns what it prints. Its error is what it says of the failure.
func (o *options) kubectl(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"--namespace", o.namespace}, args...)...) //nolint:gosec // kubectl is what is to be run
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		if stderr.Len() == 0 {
			return nil, fmt.Errorf("kubectl: %w", err)
		}
		return nil, errors.New(strings.TrimSpace(stderr.String()))
	}
	return out.Bytes(), nil
}

// get decodes an object, or a list of them, of the cluster.
func get[T any](ctx context.Context, o *options, args ...string) (*T, error) {
	out, err := o.kubectl(ctx, append([]string{"get", "-o", "json"}, args...)...)
	if err != nil {
		return nil, err
	}
	object := new(T)
	return object, json.Unmarshal(out, object)
}

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// patch changes an object, unless somebody else has changed it since it was read.
func (o *options) patch(ctx context.Context, object, resourceVersion string, operations ...operation) error {
	unchanged := operation{"test", "/metadata/resourceVersion", resourceVersion}
	data, err := json.Marshal(append([]operation{unchanged}, operations...))
	if err != nil {
		return err
	}
	_, err = o.kubectl(ctx, "patch", object, "--type=json", "-p", string(data))
	return err
}

// metadata is what is looked at of any object's.
type metadata struct {
	Name              string  `json:"name"`
	ResourceVersion   string  `json:"resourceVersion"`
	Generation        int64   `json:"generation"`
	DeletionTimestamp *string `json:"deletionTimestamp"`
}

// traffic is a share of a Knative Service's traffic.
type traffic struct {
	RevisionName   string `json:"revisionName,omitempty"`
	LatestRevision bool   `json:"latestRevision,omitempty"`
	Percent        int    `json:"percent"`
	Tag            string `json:"tag,omitempty"`
}

// service is what is looked at of a Knative Service.
type service struct {
	Metadata metadata `json:"metadata"`
	Spec     struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Image string `json:"image"`
				} `json:"containers"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
	Status struct {
		ObservedGeneration        int64       `json:"observedGeneration"`
		LatestCreatedRevisionName string      `json:"latestCreatedRevisionName"`
		LatestReadyRevisionName   string      `json:"latestReadyRevisionName"`
		Traffic                   []traffic   `json:"traffic"`
		Conditions                []condition `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Message string `json:"message"`
}

func (s *service) image() string { return s.Spec.Template.Spec.Containers[0].Image }

// stable is the revision that takes the Service's traffic.
func (s *service) stable() string {
	for _, t := range s.Status.Traffic {
		if t.Percent == 100 {
			return t.RevisionName
		}
	}
	return ""
}

// candidate is the revision with the tag, or "".
func (s *service) candidate() string {
	for _, t := range s.Status.Traffic {
		if t.Tag == candidateTag {
			return t.RevisionName
		}
	}
	return ""
}

// until asks again and again, for as long as the cluster may take, until done says so or fails.
func until(ctx context.Context, done func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for {
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// ready waits until Knative has done what the Service's specification says.
func (r *rollout) ready(ctx context.Context) (*service, error) {
	var s *service
	err := until(ctx, func() (bool, error) {
		var err error
		if s, err = get[service](ctx, r.options, "ksvc/"+r.service); err != nil {
			return false, err
		}
		if s.Status.ObservedGeneration != s.Metadata.Generation {
			return false, nil
		}
		for _, c := range s.Status.Conditions {
			if c.Type == "Ready" && c.Status == "False" {
				return false, fmt.Errorf("%s is not ready: %s", r.service, c.Message)
			}
			if c.Type == "Ready" {
				return c.Status == "True" && s.Status.LatestReadyRevisionName == s.Status.LatestCreatedRevisionName, nil
			}
		}
		return false, nil
	})
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%s was not ready within %s", r.service, patience)
	}
	return s, err
}

// routerLogs are the logs of the routers that run.
func (o *options) routerLogs(ctx context.Context) ([]string, error) {
	pods, err := get[struct {
		Items []struct {
			Metadata metadata `json:"metadata"`
		} `json:"items"`
	}](ctx, o, "pods", "--selector", routerPods, "--field-selector", "status.phase=Running")
	if err != nil {
		return nil, err
	}
	var logs []string
	for _, pod := range pods.Items {
		if pod.Metadata.DeletionTimestamp != nil {
			continue
		}
		log, err := o.kubectl(ctx, "logs", pod.Metadata.Name, "--all-containers")
		if err != nil {
			return nil, err
		}
		logs = append(logs, string(log))
	}
	return logs, nil
}

// lastLine is the last line of a log that has all of some texts in it, or "".
func lastLine(log string, texts ...string) string {
	found := ""
	for line := range strings.Lines(log) {
		if !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) }) {
			found = line
		}
	}
	return found
}
