package e2e

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/util/webhook"

	"interpreter-functions/functions"
	"interpreter-functions/shared/servingcert"
)

// TestFunctionIsDown asks a router, as Karmada does, for a function that does not run. Karmada's client takes the answer
// as one to wait and ask again, for which its timeout leaves no time; so the router's log must tell.
func TestFunctionIsDown(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "router"), "./knative/router")
	build.Dir = ".."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := servingcert.Create(dir, []string{"127.0.0.1"}); err != nil {
		t.Fatal(err)
	}
	routes := "routes:\n- path: " + functions.Path + "\n  functions:\n"
	for _, operation := range functions.All {
		routes += "    " + string(operation.Name()) + ": {url: 'http://127.0.0.1:1'}\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "routes.yaml"), []byte(routes), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	router := exec.Command(filepath.Join(dir, "router"))
	router.Env = append(os.Environ(), "CERT_DIR="+dir, "ROUTER_CONFIG="+filepath.Join(dir, "routes.yaml"), "PORT="+port)
	var log bytes.Buffer
	router.Stderr = &log
	if err := router.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = router.Process.Kill() })
	for range 500 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	c := client(t, address, webhook.ClientConfig{
		Name: "interpreter.workload.example.io", URL: "https://" + address + functions.Path, CABundle: readFile(t, filepath.Join(dir, servingcert.CAFile)),
	})
	q := questions(t)[0]
	if err := q.Ask(t.Context(), c); err == nil {
		t.Error("there is an answer")
	}
	_ = router.Process.Kill()
	_ = router.Wait()
	want := `function="` + string(q.Request.Request.Operation) + ` of ` + functions.Path + `" url=http://127.0.0.1:1 error="dial tcp 127.0.0.1:1: connect: connection refused"`
	if !strings.Contains(log.String(), want) {
		t.Errorf("%s is not in the log: %s", want, &log)
	}
}
