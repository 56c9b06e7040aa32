// Package e2e tests the built programs as Karmada and its users meet them.
package e2e

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/rest"

	"interpreter-functions/e2e/karmada"
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

// client asks at an address as Karmada does.
func client(t *testing.T, address string, config webhook.ClientConfig) *rest.RESTClient {
	t.Helper()
	client, err := karmada.Client(address, config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func questions(t *testing.T) []*karmada.Question {
	t.Helper()
	list, err := karmada.Questions("../functions/testdata", "../../shared/karmada-requests")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestKarmadaClient(t *testing.T) {
	address, ca := serve(t)
	byURL := func(path string) webhook.ClientConfig {
		return webhook.ClientConfig{Name: "interpreter.workload.example.io", URL: "https://" + address + path, CABundle: ca}
	}
	list := questions(t)

	t.Run("one URL", func(t *testing.T) {
		c := client(t, address, byURL("/interpreter-workload"))
		for _, q := range list {
			if err := q.Ask(t.Context(), c); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("a URL per operation", func(t *testing.T) {
		for _, q := range list {
			operation := q.Request.Request.Operation
			if operation == "Foo" || operation == "Prune" {
				continue
			}
			if err := q.Ask(t.Context(), client(t, address, byURL("/interpreter-workload/"+string(operation)))); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("service", func(t *testing.T) {
		c := client(t, address, webhook.ClientConfig{
			Name: "interpreter.workload.example.io", CABundle: ca,
			Service: &webhook.ClientConfigService{Name: "interpreter-workload", Namespace: "karmada-system", Path: "/interpreter-workload", Port: 443},
		})
		for _, q := range list {
			if err := q.Ask(t.Context(), c); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("five workers at a time", func(t *testing.T) {
		c := client(t, address, byURL("/interpreter-workload"))
		var workers sync.WaitGroup
		for range 5 {
			workers.Go(func() {
				for range 3 {
					for _, q := range list {
						if err := q.Ask(t.Context(), c); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		workers.Wait()
	})
	t.Run("errors are shown", func(t *testing.T) {
		c := client(t, address, byURL("/elsewhere"))
		err := list[0].Ask(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), `nothing is served at "/elsewhere"`) {
			t.Errorf("%v", err)
		}
		c = client(t, address, byURL("/interpreter-workload"))
		large := *list[0].Request
		request := *large.Request
		large.Request = &request
		request.Object.Raw = []byte(`{"x":"` + strings.Repeat("x", 9<<20) + `"}`)
		err = c.Post().Body(&large).Do(t.Context()).Error()
		if err == nil || !strings.Contains(err.Error(), "the body has more than 8388608 bytes") {
			t.Errorf("%v", err)
		}
	})
	t.Run("another CA", func(t *testing.T) {
		_, other := serve(t)
		config := byURL("/interpreter-workload")
		config.CABundle = other
		if err := list[0].Ask(t.Context(), client(t, address, config)); err == nil {
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
