package remote

import (
	"bufio"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// script is a server that answers the requests on each connection with what stands there, and then closes it. It counts
// the connections.
func script(t *testing.T, answers ...string) (*Target, *atomic.Int32) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	opened := new(atomic.Int32)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			opened.Add(1)
			go func() {
				defer conn.Close()
				r := bufio.NewReader(conn)
				for _, answer := range answers {
					request, err := http.ReadRequest(r)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, request.Body)
					_, _ = io.WriteString(conn, answer)
				}
			}()
		}
	}()
	target := NewTarget(&url.URL{Scheme: "http", Host: listener.Addr().String(), Path: "/f"})
	t.Cleanup(target.Close)
	return target, opened
}

// TestConnections asks one question after another, and wants each answered at once and not after a pause.
func TestConnections(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
	tests := map[string]struct {
		answers []string
		opened  int32 // by six questions
	}{
		"kept":                   {[]string{ok, ok, ok, ok, ok, ok}, 1},
		"closed while idle":      {[]string{ok, ok}, 3},
		"closed after each":      {[]string{"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}"}, 6},
		"chunked":                {[]string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n", ok, ok, ok, ok, ok}, 1},
		"announced":              {[]string{"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok, ok, ok, ok, ok, ok}, 1},
		"more than was asked":    {[]string{ok + ok, ok}, 6},
		"an answer without size": {[]string{"HTTP/1.0 200 OK\r\n\r\n{}"}, 6},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target, opened := script(t, test.answers...)
			for range 6 {
				a, err := target.try(t.Context(), &question{http.Header{}, url.Values{}, []byte("{}")})
				if err != nil || a.code != 200 || string(a.body) != "{}" {
					t.Fatalf("%+v, %v", a, err)
				}
				if strings.HasPrefix(name, "closed while") {
					time.Sleep(20 * time.Millisecond) // until it is closed
				}
			}
			if got := opened.Load(); got != test.opened {
				t.Errorf("%d connections, want %d", got, test.opened)
			}
		})
	}
}

// TestPorts resolves addresses of URLs without a port, and of IPv6.
func TestPorts(t *testing.T) {
	for text, want := range map[string]string{
		"http://127.0.0.1/f":     "127.0.0.1:80",
		"https://127.0.0.1/f":    "127.0.0.1:443",
		"http://127.0.0.1:8080":  "127.0.0.1:8080",
		"https://[::1]":          "[::1]:443",
		"http://[::1]:8080/path": "[::1]:8080",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := net.ResolveTCPAddr("tcp", newConnections(u).address); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
}

// TestNoAnswer has servers answer with what is no answer.
func TestNoAnswer(t *testing.T) {
	tests := map[string]struct{ answer, want string }{
		"nothing":           {"", "EOF"},
		"no HTTP":           {"hello\r\n\r\n", "malformed HTTP"},
		"cut off":           {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "cut off"},
		"an endless header": {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", maxHeader+maxAnswer) + "\r\n\r\n", "unexpected EOF"},
		"too long":          {fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", maxAnswer+1, strings.Repeat(" ", maxAnswer+1)), "more than"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			target, opened := script(t, test.answer)
			_, err := target.try(t.Context(), &question{http.Header{}, url.Values{}, []byte("{}")})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s", err, test.want)
			}
			if opened.Load() != 1 {
				t.Errorf("%d connections", opened.Load())
			}
		})
	}
}

// TestCallerGoes has the caller go while the server thinks, and another come.
func TestCallerGoes(t *testing.T) {
	asked := make(chan struct{})
	first := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if first {
			first = false
			_, _ = io.Copy(io.Discard, r.Body)
			close(asked)
			<-r.Context().Done() // the connection is closed
		}
		_, _ = io.WriteString(w, "{}")
	}))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	target := NewTarget(u)
	defer target.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-asked
		cancel()
	}()
	q := &question{http.Header{}, url.Values{}, []byte("{}")}
	if _, err := target.try(ctx, q); err == nil || ctx.Err() == nil {
		t.Errorf("answered: %v", err)
	}
	if a, err := target.try(t.Context(), q); err != nil || string(a.body) != "{}" {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestTargetHTTPS asks over TLS: the certificate is checked, and the connection kept.
func TestTargetHTTPS(t *testing.T) {
	server := httptest.NewTLSServer(constant("{}"))
	defer server.Close()
	u, _ := url.Parse(server.URL)
	target := NewTarget(u)
	defer target.Close()
	q := &question{http.Header{}, url.Values{}, []byte("{}")}
	if _, err := target.try(t.Context(), q); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody's: %v", err)
	}
	target.connections.tls.RootCAs = x509.NewCertPool()
	target.connections.tls.RootCAs.AddCert(server.Certificate())
	for range 3 {
		if a, err := target.try(t.Context(), q); err != nil || string(a.body) != "{}" {
			t.Fatalf("%+v, %v", a, err)
		}
	}
	if len(target.connections.idle) != 1 {
		t.Errorf("%d connections are kept", len(target.connections.idle))
	}
}
