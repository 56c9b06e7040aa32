// Package httpserver runs a handler as an HTTP server that an orchestrator can probe and stop without losing requests.
package httpserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"interpreter-functions/shared/servingcert"
)

const (
	// maxQuiet bounds the wait for a quiet period under clients that do not stop asking. With flight it stays within
	// the grace period that the manifests of this project set.
	maxQuiet = 15 * time.Second
	// flight is how long requests in flight are waited for: Karmada waits at most 30 seconds for an answer.
	flight = 30 * time.Second
)

// Server answers with a handler. GET /healthz and GET /readyz answer probes at any time, as do the kubelet's and
// Knative's own probes at any path; once the server is told to stop, all but /healthz fail.
type Server struct {
	Handler http.Handler
	// Certificate makes it a server of HTTPS, HTTP/2 and HTTP/1.1. Without one it serves HTTP/1.1 and h2c, which is
	// HTTP/2 without TLS.
	Certificate *servingcert.Files
	// Quiet is for how long no request must have come, after the server was told to stop, before it closes its
	// connections: as long as it takes until nobody is sent here any more. Zero closes them at once.
	Quiet time.Duration
}

// Run serves until ctx is done, then drains: it asks clients to connect anew, and ends when the requests in flight are
// answered. It returns nil unless it could not serve or some were not answered in time.
func (s *Server) Run(ctx context.Context, listener net.Listener) error {
	if os.Getenv("GOGC") == "" {
		// Requests leave garbage and little else: collecting it half as often costs 4 MiB and saves a tenth of the time.
		debug.SetGCPercent(200)
	}
	gate := newGate(ctx, s.Handler)
	server := &http.Server{
		Handler:           gate,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		IdleTimeout:       5 * time.Minute, // longer than clients keep a connection, so that it is they who close it
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
		Protocols:         new(http.Protocols),
	}
	server.Protocols.SetHTTP1(true)
	serve := server.Serve
	if s.Certificate != nil {
		server.Protocols.SetHTTP2(true)
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.Certificate.GetCertificate}
		serve = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	} else {
		server.Protocols.SetUnencryptedHTTP2(true)
	}
	served := make(chan error, 1)
	go func() { served <- serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	slog.Info("draining")
	gate.waitQuiet(s.Quiet, maxQuiet)
	return shutDown(server)
}

func shutDown(server *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), flight)
	defer cancel()
	if err := server.Shutdown(ctx); err != nil {
		return errors.Join(fmt.Errorf("requests were still in flight after %s: %w", flight, err), server.Close())
	}
	return nil
}
