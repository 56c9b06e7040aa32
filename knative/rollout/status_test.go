package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"interpreter-functions/functions"
	"interpreter-functions/functions/interprethealth"
	"interpreter-functions/shared/routerconfig"
)

// TestReadsTheRoutersLog runs a router with a shadow that answers otherwise, and reads what it says.
func TestReadsTheRoutersLog(t *testing.T) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "router")
	if out, err := exec.Command("go", "build", "-o", binary, "../router").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	function := httptest.NewServer(interprethealth.Operation)
	defer function.Close()
	shadow := httptest.NewServer(http.NotFoundHandler())
	defer shadow.Close()
	routes := fmt.Sprintf("routes:\n- path: %s\n  functions:\n    InterpretHealth: {url: %s, shadow: {url: %s, percent: 100}}\n",
		functions.Path, function.URL, shadow.URL)
	file := filepath.Join(dir, "routes.yaml")
	if err := os.WriteFile(file, []byte(routes), 0o600); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	router := exec.Command(binary)
	router.Env = append(os.Environ(), "ROUTER_CONFIG="+file, "PORT="+port)
	var stderr bytes.Buffer
	router.Stderr = &stderr
	if err := router.Start(); err != nil {
		t.Fatal(err)
	}
	request, err := os.ReadFile("../../functions/testdata/interprethealth-healthy.request.json")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for tries := 0; asked < 3 && tries < 500; tries++ {
		res, err := http.Post("http://"+address+functions.Path, "application/json", bytes.NewReader(request))
		if err != nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		_ = res.Body.Close()
		asked++
	}
	if err := router.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := router.Wait(); err != nil {
		t.Fatal(err)
	}
	log := stderr.String()
	if !strings.Contains(lastLine(log, loadedLine), routerconfig.Digest([]byte(routes))) {
		t.Errorf("the digest is not in %s", log)
	}
	for what, want := range map[string]int{"compared": 6, "differed": 6, "failed": 0, "dropped": 0} {
		if got := total([]string{log, log}, functions.Path, "InterpretHealth", what); got != want {
			t.Errorf("%s: %d, want %d: %s", what, got, want, log)
		}
	}
	if got := total([]string{log}, functions.Path, "Retain", "compared"); got != 0 {
		t.Errorf("%d", got)
	}
}
