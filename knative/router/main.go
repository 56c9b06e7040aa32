// Command router leads Karmada's webhook URL to the functions that $ROUTER_CONFIG names.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"interpreter-functions/knative"
	"interpreter-functions/shared/routerconfig"
)

const usage = `The router leads requests of Karmada to functions. It takes no arguments, but environment variables:

  ROUTER_CONFIG  YAML file of the routes; when it changes they are loaded again
  CERT_DIR       directory with tls.crt and tls.key, for HTTPS; HTTP/1.1 and h2c if unset
  PORT           port to listen on, 8080 if unset

For example, with ROUTER_CONFIG=routes.yaml CERT_DIR=certs PORT=8443 and this routes.yaml:

  routes:
  - path: /interpreter-workload
    functions:
      Retain:
        url: http://retain.interpreter.svc.cluster.local
        # a tenth of the objects are answered by another version, and all of them asked of a third, to compare
        candidate: {url: http://candidate-retain.interpreter.svc.cluster.local, percent: 10}
        shadow: {url: http://shadow-retain.interpreter.svc.cluster.local, percent: 100}
`

func main() {
	name := os.Getenv("ROUTER_CONFIG")
	if name == "" || len(os.Args) > 1 {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	routes, err := routerconfig.Load(name)
	if err != nil {
		slog.Error("the routes in $ROUTER_CONFIG cannot be loaded", "error", err)
		os.Exit(1)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		routes.Follow(ctx)
		close(done)
	}()
	knative.Serve(routes)
	stop()
	<-done
}
