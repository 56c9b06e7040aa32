// Package knative runs a handler as a container of Knative, or of any Kubernetes workload.
package knative

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"knative.dev/pkg/signals"

	"interpreter-functions/shared/httpserver"
	"interpreter-functions/shared/servingcert"
)

// quiet is how long a pod that is told to stop still takes requests: within it the rest of a cluster learns that the
// pod is going.
const quiet = 5 * time.Second

const usage = `%s is made to run in a container and takes no arguments, but environment variables:

  PORT      port to listen on, 8080 if unset
  CERT_DIR  directory with tls.crt and tls.key, for HTTPS; HTTP/1.1 and h2c if unset

GET /healthz and /readyz answer probes. SIGTERM drains. For example:

  PORT=8081 %[1]s
`

// Serve answers with h at $PORT until SIGTERM or SIGINT, and then until every request is answered; a second signal ends
// it at once. It is the whole of a main function: what keeps it from serving is logged, and the process exits with 1.
func Serve(h http.Handler) {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, usage, filepath.Base(os.Args[0]))
		os.Exit(2)
	}
	if err := serve(signals.NewContext(), h); err != nil {
		slog.Error("this server ends", "error", err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, h http.Handler) error {
	server := &httpserver.Server{Handler: h, Quiet: quiet}
	if dir := os.Getenv("CERT_DIR"); dir != "" {
		certificate, err := servingcert.Load(dir)
		if err != nil {
			return fmt.Errorf("the certificate in $CERT_DIR: %w", err)
		}
		server.Certificate = certificate
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8080"
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("$PORT is %q: it must be a port number such as 8080", port)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", ":"+port)
	if err != nil {
		return err
	}
	return server.Run(ctx, listener)
}
