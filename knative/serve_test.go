package knative

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"interpreter-functions/functions"
	"interpreter-functions/shared/servingcert"
)

// programs is the directory of the built programs: one per operation, and the router.
var programs string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "knative")
	if err != nil {
		panic(err)
	}
	programs = dir
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", dir+"/", "./...")
	if out, err := build.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("%v: %s", err, out))
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// program is a running program.
type program struct {
	*exec.Cmd
	address string
	stderr  bytes.Buffer
}

func start(t *testing.T, name string, env ...string) *program {
	t.Helper()
	p := &program{Cmd: exec.Command(filepath.Join(programs, name)), address: freeAddress(t)}
	_, port, _ := net.SplitHostPort(p.address)
	p.Env = append(os.Environ(), append(env, "PORT="+port)...)
	p.Stderr = &p.stderr
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.ProcessState == nil {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
	})
	for range 500 {
		if conn, err := net.Dial("tcp", p.address); err == nil {
			conn.Close()
			return p
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not listen: %s", name, &p.stderr)
	return nil
}

// freeAddress is an address of loopback at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// end sends SIGTERM and wants the exit code 0.
func (p *program) end(t *testing.T) {
	t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v: %s", err, &p.stderr)
	}
}

func readCase(t *testing.T, name string) (request, answer []byte) {
	t.Helper()
	request, err := os.ReadFile("../functions/testdata/" + name + ".request.json")
	if err != nil {
		t.Fatal(err)
	}
	if answer, err = os.ReadFile("../functions/testdata/" + name + ".response.json"); err != nil {
		t.Fatal(err)
	}
	return request, answer
}

func post(client *http.Client, url string, body []byte) (string, *http.Response, error) {
	res, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return "", nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return string(answer), res, err
}

func h2c() *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{Protocols: protocols}}
}

// TestPrograms starts the program of every operation and asks it what it is for.
func TestPrograms(t *testing.T) {
	for _, operation := range functions.All {
		t.Run(string(operation.Name()), func(t *testing.T) {
			t.Parallel()
			p := start(t, strings.ToLower(string(operation.Name())))
			body := fmt.Sprintf(`{"request":{"uid":"u","operation":%q}}`, operation.Name())
			answer, _, err := post(http.DefaultClient, "http://"+p.address+"/any/path?timeout=3s", []byte(body))
			// Another operation would complain of the operation first.
			if want := `"message":"request.kind does not say of which kind it is`; err != nil || !strings.Contains(answer, want) {
				t.Errorf("%v: %s", err, answer)
			}
			p.end(t)
		})
	}
}

func TestProtocolsAndProbes(t *testing.T) {
	p := start(t, "interprethealth")
	request, _ := readCase(t, "interprethealth-healthy")
	for major, client := range map[int]*http.Client{1: {}, 2: h2c()} {
		answer, res, err := post(client, "http://"+p.address, request)
		if err != nil || res.ProtoMajor != major || !strings.Contains(answer, `"healthy":true`) {
			t.Errorf("HTTP/%d: %v: %s", major, err, answer)
		}
		for name, probe := range map[string]struct {
			path   string
			header [2]string
			code   int
		}{
			"healthz":           {"/healthz", [2]string{}, 200},
			"readyz":            {"/readyz", [2]string{}, 200},
			"kubelet":           {"/", [2]string{"User-Agent", "kube-probe/1.36"}, 200},
			"Knative":           {"/", [2]string{"K-Network-Probe", "probe"}, 200},
			"neither of these":  {"/", [2]string{}, 405},
			"not by this path":  {"/healthz/", [2]string{}, 405},
			"nor by any method": {"/readyz", [2]string{"", "PUT"}, 405},
		} {
			r, _ := http.NewRequest(http.MethodGet, "http://"+p.address+probe.path, nil)
			if probe.header[0] == "" && probe.header[1] != "" {
				r.Method = probe.header[1]
			} else if probe.header[0] != "" {
				r.Header.Set(probe.header[0], probe.header[1])
			}
			r.Header.Set("K-Network-Hash", "hash")
			res, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if res.StatusCode != probe.code {
				t.Errorf("HTTP/%d %s: %s", major, name, res.Status)
			}
			if name == "Knative" && res.Header.Get("K-Network-Hash") != "hash" {
				t.Error("the hash of the probe does not come back")
			}
		}
	}
}

// TestDrain has clients that do not stop asking while the program is told to end: every request is answered, on
// connections that are not kept.
func TestDrain(t *testing.T) {
	for name, client := range map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{}}, "h2c": h2c()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t, "interprethealth")
			request, _ := readCase(t, "interprethealth-healthy")
			asking, told := make(chan struct{}), make(chan struct{})
			var clients sync.WaitGroup
			for range 8 {
				clients.Go(func() {
					// One whose connections are kept asks until nobody answers any more.
					for closed := false; !closed || !isClosed(asking); {
						wasTold := isClosed(told)
						answer, res, err := post(client, "http://"+p.address, request)
						if err != nil || !strings.Contains(answer, `"healthy":true`) {
							t.Errorf("%v: %s", err, answer)
							return
						}
						// HTTP/2 has no such header: there it is a frame, which the client follows by itself.
						closed = wasTold && (res.Close || res.ProtoMajor == 2)
					}
				})
			}
			time.Sleep(100 * time.Millisecond)
			if err := p.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			for code := 0; code != http.StatusServiceUnavailable; time.Sleep(10 * time.Millisecond) {
				res, err := http.Get("http://" + p.address + "/readyz")
				if err != nil {
					t.Fatalf("readyz does not fail before the server is gone: %v", err)
				}
				_ = res.Body.Close()
				code = res.StatusCode
			}
			close(told)
			time.Sleep(time.Second)
			close(asking)
			clients.Wait()
			if err := p.Wait(); err != nil {
				t.Errorf("%v: %s", err, &p.stderr)
			}
		})
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestHTTPS(t *testing.T) {
	certs := t.TempDir()
	if err := servingcert.Create(certs, []string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(certs, servingcert.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	p := start(t, "interprethealth", "CERT_DIR="+certs)
	request, _ := readCase(t, "interprethealth-healthy")
	for _, http2 := range []bool{false, true} {
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: http2}}
		answer, res, err := post(client, "https://"+p.address, request)
		if err != nil || !strings.Contains(answer, `"healthy":true`) || (res.ProtoMajor == 2) != http2 {
			t.Errorf("%v: %s", err, answer)
		}
		client.CloseIdleConnections()
	}
	p.end(t)
}

func TestWrongEnvironment(t *testing.T) {
	for want, env := range map[string]string{
		`$PORT is \"http\": it must be a port number such as 8080`: "PORT=http",
		`the certificate in $CERT_DIR: open /nowhere/tls.crt`:      "CERT_DIR=/nowhere",
	} {
		cmd := exec.Command(filepath.Join(programs, "retain"))
		cmd.Env = append(os.Environ(), env)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %v: %s", env, err, out)
		}
	}
	for name, want := range map[string]string{"retain": "PORT=8081 retain", "router": "ROUTER_CONFIG=routes.yaml"} {
		out, err := exec.Command(filepath.Join(programs, name), "--help").CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%v: %s", err, out)
		}
	}
}
