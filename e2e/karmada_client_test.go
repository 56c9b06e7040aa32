// Package e2e tests the built programs as Karmada and its users meet them.
package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"
)

// serve builds interpretctl, runs interpretctl serve until the test ends, and returns its address and CA.
func serve(t *testing.T) (address string, ca []byte) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "interpretctl")
	build := exec.Command("go", "build", "-o", binary, "./infra/interpretctl")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	certs := t.TempDir()
	cmd := exec.Command(binary, "serve", "--addr", "127.0.0.1:0", "--cert-dir", certs)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "EOF" {
		if serving, ok := strings.CutPrefix(lines.Text(), "Serving "); ok {
			u, err := url.Parse(serving)
			if err != nil {
				t.Fatal(err)
			}
			address = u.Host
		}
	}
	if address == "" {
		t.Fatal("interpretctl serve printed no URL")
	}
	if ca, err = os.ReadFile(filepath.Join(certs, "ca.crt")); err != nil {
		t.Fatal(err)
	}
	return address, ca
}

// karmadaClient is a client made the way Karmada makes its own (pkg/resourceinterpreter/customized/webhook of Karmada):
// from the API server's ClientManager.
func karmadaClient(t *testing.T, address string, config webhook.ClientConfig) *rest.RESTClient {
	t.Helper()
	manager, err := webhook.NewClientManager([]schema.GroupVersion{schema.GroupVersion(configv1alpha1.GroupVersion)}, configv1alpha1.Install)
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := webhook.NewDefaultAuthenticationInfoResolver("")
	if err != nil {
		t.Fatal(err)
	}
	manager.SetAuthenticationInfoResolver(resolver)
	manager.SetServiceResolver(serviceAt(address))
	if err := manager.Validate(); err != nil {
		t.Fatal(err)
	}
	client, err := manager.HookClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// serviceAt resolves every Service to one address.
type serviceAt string

func (s serviceAt) ResolveEndpoint(string, string, int32) (*url.URL, error) {
	return &url.URL{Scheme: "https", Host: string(s)}, nil
}

// question is a request that was recorded or written, and the golden answer to it.
type question struct {
	name    string
	request *configv1alpha1.ResourceInterpreterContext
	golden  map[string]any
}

// questions are the cases of the functions' golden tests, without the one that no client of Karmada's can send.
func questions(t *testing.T) []question {
	t.Helper()
	const testdata = "../functions/testdata/"
	files, err := filepath.Glob(testdata + "*.request.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no questions: %v", err)
	}
	var list []question
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".request.json")
		if name == "revisereplica-out-of-range" {
			continue
		}
		list = append(list, read(t, name, readFile(t, file), testdata+name+".response.json"))
	}
	recorded, err := filepath.Glob("../../shared/karmada-requests/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range recorded {
		var record struct{ Request struct{ Body string } }
		if err := json.Unmarshal(readFile(t, file), &record); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		list = append(list, read(t, name, []byte(record.Request.Body), testdata+"recorded/"+name+".response.json"))
	}
	return list
}

func read(t *testing.T, name string, request []byte, golden string) question {
	t.Helper()
	q := question{name: name, request: &configv1alpha1.ResourceInterpreterContext{}}
	if err := json.Unmarshal(request, q.request); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(readFile(t, golden), &q.golden); err != nil {
		t.Fatalf("%s: %v", golden, err)
	}
	return q
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// ask sends a question as Karmada does and holds the answer against the golden one.
func (q question) ask(ctx context.Context, client *rest.RESTClient) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	answer := &configv1alpha1.ResourceInterpreterContext{}
	if err := client.Post().Timeout(3 * time.Second).Body(q.request).Do(ctx).Into(answer); err != nil {
		return fmt.Errorf("%s: %w", q.name, err)
	}
	patch := answer.Response.Patch
	answer.Response.Patch = nil
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	if patch != nil {
		var tree any
		if err := json.Unmarshal(patch, &tree); err != nil {
			return err
		}
		got["response"].(map[string]any)["patch"] = tree
	}
	gotJSON, _ := json.Marshal(got)
	wantJSON, _ := json.Marshal(q.golden)
	if !bytes.Equal(gotJSON, wantJSON) {
		return fmt.Errorf("%s:\n got %s\nwant %s", q.name, gotJSON, wantJSON)
	}
	return nil
}

func TestKarmadaClient(t *testing.T) {
	address, ca := serve(t)
	byURL := func(path string) webhook.ClientConfig {
		return webhook.ClientConfig{Name: "interpreter.workload.example.io", URL: "https://" + address + path, CABundle: ca}
	}
	list := questions(t)

	t.Run("one URL", func(t *testing.T) {
		client := karmadaClient(t, address, byURL("/interpreter-workload"))
		for _, q := range list {
			if err := q.ask(t.Context(), client); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a URL per operation", func(t *testing.T) {
		for _, q := range list {
			operation := q.request.Request.Operation
			if operation == "Foo" || operation == "Prune" {
				continue
			}
			if err := q.ask(t.Context(), karmadaClient(t, address, byURL("/interpreter-workload/"+string(operation)))); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("service", func(t *testing.T) {
		client := karmadaClient(t, address, webhook.ClientConfig{
			Name: "interpreter.workload.example.io", CABundle: ca,
			Service: &webhook.ClientConfigService{Name: "interpreter-workload", Namespace: "karmada-system", Path: "/interpreter-workload", Port: 443},
		})
		for _, q := range list {
			if err := q.ask(t.Context(), client); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("five workers at a time", func(t *testing.T) {
		client := karmadaClient(t, address, byURL("/interpreter-workload"))
		var workers sync.WaitGroup
		for range 5 {
			workers.Go(func() {
				for range 3 {
					for _, q := range list {
						if err := q.ask(t.Context(), client); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		workers.Wait()
	})
	t.Run("errors are shown", func(t *testing.T) {
		client := karmadaClient(t, address, byURL("/elsewhere"))
		err := list[0].ask(t.Context(), client)
		if err == nil || !strings.Contains(err.Error(), `nothing is served at "/elsewhere"`) {
			t.Errorf("%v", err)
		}
		client = karmadaClient(t, address, byURL("/interpreter-workload"))
		large := *list[0].request
		request := *large.Request
		large.Request = &request
		request.Object.Raw = []byte(`{"x":"` + strings.Repeat("x", 9<<20) + `"}`)
		err = client.Post().Body(&large).Do(t.Context()).Error()
		if err == nil || !strings.Contains(err.Error(), "the body has more than 8388608 bytes") {
			t.Errorf("%v", err)
		}
	})
	t.Run("another CA", func(t *testing.T) {
		_, other := serve(t)
		config := byURL("/interpreter-workload")
		config.CABundle = other
		if err := list[0].ask(t.Context(), karmadaClient(t, address, config)); err == nil {
			t.Error("the certificate of another CA is trusted")
		}
	})
	t.Run("probes", func(t *testing.T) {
		client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Get("https://" + address + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		if res.StatusCode != http.StatusOK {
			t.Error(res.Status)
		}
	})
}
