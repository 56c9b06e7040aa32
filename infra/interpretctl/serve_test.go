package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"sigs.k8s.io/yaml"

	"interpreter-functions/functions"
	"interpreter-functions/shared/servingcert"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "interpretctl")
	if err != nil {
		panic(err)
	}
	binary = filepath.Join(dir, "interpretctl")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// server is a running interpretctl serve.
type server struct {
	*exec.Cmd
	certDir string
	url     string // of the webhook
	shown   string // what it printed up to the end of the configuration
	stderr  bytes.Buffer
}

func start(t *testing.T, certDir string, flags ...string) *server {
	t.Helper()
	s := &server{certDir: certDir}
	s.Cmd = exec.Command(binary, append([]string{"serve", "--addr", "127.0.0.1:0", "--cert-dir", certDir}, flags...)...)
	s.Stderr = &s.stderr
	out, err := s.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	lines := bufio.NewScanner(out)
	for lines.Scan() && lines.Text() != "EOF" {
		s.shown += lines.Text() + "\n"
		if url, ok := strings.CutPrefix(lines.Text(), "Serving "); ok {
			s.url = url
		}
	}
	if s.url == "" {
		t.Fatalf("no URL in %q: %s", s.shown, &s.stderr)
	}
	return s
}

func (s *server) address() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.url, "https://"), functions.Path)
}

// stop sends SIGTERM and wants the exit code 0.
func (s *server) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("%v: %s", err, &s.stderr)
	}
}

func (s *server) tlsConfig(t *testing.T) *tls.Config {
	t.Helper()
	ca, err := os.ReadFile(filepath.Join(s.certDir, servingcert.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots}
}

func TestServe(t *testing.T) {
	s := start(t, filepath.Join(t.TempDir(), "certs"))

	for _, operation := range functions.All {
		if !strings.Contains(s.shown, "\n"+string(operation.Name())+" ") {
			t.Errorf("%s is not in the table", operation.Name())
		}
	}
	if strings.Contains(s.shown, "FAILED") {
		t.Error(s.shown)
	}

	_, manifest, _ := strings.Cut(s.shown, "<<'EOF'\n")
	var configuration configv1alpha1.ResourceInterpreterWebhookConfiguration
	if err := yaml.UnmarshalStrict([]byte(manifest), &configuration); err != nil {
		t.Fatalf("%s: %v", manifest, err)
	}
	webhook := configuration.Webhooks[0]
	ca, _ := os.ReadFile(filepath.Join(s.certDir, servingcert.CAFile))
	if *webhook.ClientConfig.URL != s.url || !bytes.Equal(webhook.ClientConfig.CABundle, ca) || len(webhook.Rules[0].Operations) != 7 {
		t.Errorf("%+v", webhook)
	}

	t.Run("curl", func(t *testing.T) {
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("no curl")
		}
		_, line, _ := strings.Cut(s.shown, "\ncurl ")
		line, _, _ = strings.Cut(line, "\n")
		out, err := exec.Command("sh", "-c", "curl -sS "+line).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"replicas":3`) {
			t.Errorf("%v: %s", err, out)
		}
	})

	t.Run("protocols", func(t *testing.T) {
		for _, http2 := range []bool{true, false} {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.tlsConfig(t), ForceAttemptHTTP2: http2}}
			for _, path := range []string{"/healthz", "/readyz"} {
				res, err := client.Get("https://" + s.address() + path)
				if err != nil {
					t.Fatal(err)
				}
				_ = res.Body.Close()
				if want := map[bool]int{true: 2, false: 1}[http2]; res.StatusCode != 200 || res.ProtoMajor != want {
					t.Errorf("GET %s: %s %s", path, res.Proto, res.Status)
				}
			}
			res, err := client.Post("https://"+s.address()+"/healthz", "text/plain", nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != 404 {
				t.Errorf("POST /healthz: %s", res.Status)
			}
			client.CloseIdleConnections()
		}
		old := s.tlsConfig(t)
		old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
		if conn, err := tls.Dial("tcp", s.address(), old); err == nil {
			_ = conn.Close()
			t.Error("TLS 1.1 is spoken")
		}
	})

	t.Run("too large", func(t *testing.T) {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.tlsConfig(t)}}
		defer client.CloseIdleConnections()
		for _, body := range []io.Reader{bytes.NewReader(make([]byte, 9<<20)), io.LimitReader(zeros{}, 100<<20)} {
			res, err := client.Post(s.url, "application/json", body)
			if err != nil {
				t.Fatal(err)
			}
			answer, _ := io.ReadAll(res.Body)
			_ = res.Body.Close()
			if res.StatusCode != 413 || !bytes.Contains(answer, []byte(`"kind":"Status"`)) {
				t.Errorf("%s: %s", res.Status, answer)
			}
		}
	})

	t.Run("rotation", func(t *testing.T) {
		next := t.TempDir()
		if err := servingcert.Create(next, []string{"127.0.0.1"}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{servingcert.CAFile, servingcert.KeyFile, servingcert.CertificateFile} {
			if err := os.Rename(filepath.Join(next, name), filepath.Join(s.certDir, name)); err != nil {
				t.Fatal(err)
			}
		}
		config := s.tlsConfig(t)
		var err error
		for range 50 {
			var conn *tls.Conn
			if conn, err = tls.Dial("tcp", s.address(), config); err == nil {
				_ = conn.Close()
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("the rotated certificate is not in use: %v", err)
		}
	})
	s.stop(t)
	if !strings.Contains(s.stderr.String(), "made a CA") || strings.Contains(s.stderr.String(), "did not pass") {
		t.Error(&s.stderr)
	}

	again := start(t, s.certDir)
	if strings.Contains(again.shown, "FAILED") {
		t.Errorf("with the certificate of before: %s", again.shown)
	}
	again.stop(t)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestDrain ends the server while a request is on its way in: it is answered.
func TestDrain(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		s := start(t, t.TempDir())
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: s.tlsConfig(t), ForceAttemptHTTP2: http2}}
		request, _, err := sampleRequest(functions.All[0])
		if err != nil {
			t.Fatal(err)
		}
		body := compact(envelope(request))
		reader, writer := io.Pipe()
		answered := make(chan string, 1)
		go func() {
			res, err := client.Post(s.url, "application/json", reader)
			if err != nil {
				answered <- err.Error()
				return
			}
			defer res.Body.Close()
			answer, err := io.ReadAll(res.Body)
			answered <- fmt.Sprint(res.Proto, " ", res.Status, " ", string(answer), err)
		}()
		fmt.Fprint(writer, body[:100])
		time.Sleep(200 * time.Millisecond) // for the server to have begun with it
		if err := s.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		waitUntilRefused(t, s.address())
		fmt.Fprint(writer, body[100:])
		_ = writer.Close()
		if answer := <-answered; !strings.Contains(answer, `"replicas":3`) || strings.HasPrefix(answer, "HTTP/2") != http2 {
			t.Error(answer)
		}
		client.CloseIdleConnections()
		if err := s.Wait(); err != nil {
			t.Errorf("%v: %s", err, &s.stderr)
		}
	}
}

func waitUntilRefused(t *testing.T, address string) {
	t.Helper()
	for range 100 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		_ = conn.Close()
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server still listens")
}

func TestServeRefusesToStart(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	half := t.TempDir()
	if err := os.WriteFile(filepath.Join(half, servingcert.CertificateFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	broken := t.TempDir()
	for _, name := range []string{servingcert.CertificateFile, servingcert.KeyFile} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{
		"choose another address with --addr": {"--addr", busy.Addr().String(), "--cert-dir", t.TempDir()},
		"but not both tls.crt and tls.key":   {"--addr", "127.0.0.1:0", "--cert-dir", half},
		"tls.crt and tls.key in " + broken:   {"--addr", "127.0.0.1:0", "--cert-dir", broken},
		"it must be above zero":              {"--max-body", "0"},
		"quantities must match":              {"--max-body", "much"},
		"must be a DNS name":                 {"--host", "https://interpreter.example.com"},
		`"*.example.com": it must be`:        {"--host", "*.example.com"},
		"unknown command":                    {"more"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		out, err := exec.CommandContext(ctx, binary, append([]string{"serve"}, args...)...).CombinedOutput()
		cancel()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("serve %v: %v: %s, want %q", args, err, out, want)
		}
	}
}

func TestServeWarnsOfAWrongCertificate(t *testing.T) {
	dir := t.TempDir()
	if err := servingcert.Create(dir, []string{"elsewhere.example.com"}); err != nil {
		t.Fatal(err)
	}
	s := start(t, dir)
	s.stop(t)
	if !strings.Contains(s.shown, "FAILED") || !strings.Contains(s.stderr.String(), "remove it to have a new one made") {
		t.Errorf("%s\n%s", s.shown, &s.stderr)
	}
}

func TestServeUnderAName(t *testing.T) {
	s := start(t, t.TempDir(), "--host", "interpreter.example.com", "--host", "192.0.2.7")
	s.stop(t)
	if !strings.HasPrefix(s.url, "https://interpreter.example.com:") || strings.Contains(s.shown, "FAILED") {
		t.Errorf("%s\n%s", s.shown, &s.stderr)
	}
}

func TestCertificateHosts(t *testing.T) {
	for addr, wants := range map[string][]string{
		"127.0.0.1:8443":               {"127.0.0.1", "::1", "localhost"},
		"interpreter.example.com:8443": {"interpreter.example.com"},
		":8443":                        {"interpreter-workload.karmada-system.svc", "interpreter-workload.karmada-system.svc.cluster.local"},
		"0.0.0.0:8443":                 {"extra.example.com", "127.0.0.1"},
		"192.0.2.7:8443":               {"192.0.2.7"},
	} {
		o := serveOptions{addr: addr, hosts: []string{"extra.example.com"}}
		hosts := o.certificateHosts()
		for _, want := range wants {
			if !slices.Contains(hosts, want) {
				t.Errorf("%s: %q lacks %s", addr, hosts, want)
			}
		}
		for _, never := range []string{"", "0.0.0.0", "::"} {
			if slices.Contains(hosts, never) {
				t.Errorf("%s: %q has %q", addr, hosts, never)
			}
		}
	}
}
