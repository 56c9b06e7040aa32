package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"interpreter-functions/functions"
	"interpreter-functions/infra/karmada"
	"interpreter-functions/shared/httpserver"
	"interpreter-functions/shared/interpreter"
	"interpreter-functions/shared/router"
	"interpreter-functions/shared/servingcert"
)

type serveOptions struct {
	addr    string
	certDir string
	hosts   []string
	maxBody resource.QuantityValue
}

func serveCommand() *cobra.Command {
	o := serveOptions{}
	o.maxBody.Quantity = *resource.NewQuantity(interpreter.DefaultMaxBody, resource.BinarySI)
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve all functions at one HTTPS URL from this process",
		Long: `Serve all functions at one HTTPS URL from this process.

The certificate is read from tls.crt and tls.key in the certificate directory, and read again when they change. If the
directory has none, a CA (ca.crt) and a certificate are made there, for the address, for all addresses and the name of
this machine, and for the Service ` + karmada.ServiceName + ` in ` + karmada.ServiceNamespace + `.

On start the sample Workload is put through every operation, and what Karmada needs to ask this server is printed.
On SIGTERM or SIGINT the requests in flight are answered before it ends.`,
		Example: `  # On loopback, for a try:
  interpretctl serve

  # For a Karmada control plane elsewhere, which knows this machine as interpreter.example.com:
  interpretctl serve --addr 0.0.0.0:8443 --host interpreter.example.com`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second signal ends the process at once
			return o.serve(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.addr, "addr", "127.0.0.1:8443", "`address` to listen on")
	flags.StringVar(&o.certDir, "cert-dir", "certs", "`directory` of the certificate")
	flags.StringSliceVar(&o.hosts, "host", nil, "`name` or IP address by which clients call this server: the first is in the printed URL, and a certificate that is made is for all (repeatable)")
	flags.Var(&o.maxBody, "max-body", "largest request body in bytes, as a `quantity` such as 8Mi; larger ones are refused with 413")
	return cmd
}

func (o *serveOptions) serve(ctx context.Context) error {
	if o.maxBody.Value() < 1 {
		return fmt.Errorf("--max-body is %s: it must be above zero", o.maxBody.String())
	}
	if err := checkHosts(o.hosts); err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.addr)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	defer listener.Close()
	host := reachableHost(listener.Addr())
	if len(o.hosts) > 0 {
		host = o.hosts[0]
	}
	made, err := servingcert.CreateMissing(o.certDir, o.certificateHosts())
	if err != nil {
		return err
	}
	if made {
		slog.Info("made a CA and a serving certificate", "dir", o.certDir)
	}
	certificate, err := servingcert.Load(o.certDir)
	if err != nil {
		return err
	}
	if err := certificate.Covers(host); err != nil {
		slog.Warn("clients will refuse the certificate: replace it, or remove it to have a new one made", "dir", o.certDir, "error", err)
	}
	server := &httpserver.Server{
		Handler:     interpreter.MaxBody(o.maxBody.Value(), router.New(functions.Route())),
		Certificate: certificate,
	}
	served := make(chan error, 1)
	go func() { served <- server.Run(ctx, listener) }()

	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return err
	}
	w := welcome{address: net.JoinHostPort(host, port), certDir: o.certDir, dial: listener.Addr().String()}
	if err := w.print(ctx, os.Stdout); err != nil {
		slog.Warn("this server did not pass its own try", "error", err)
	}

	return <-served
}

// checkHosts refuses what no client can call a server by.
func checkHosts(hosts []string) error {
	for _, host := range hosts {
		if net.ParseIP(host) == nil && len(validation.IsDNS1123Subdomain(host)) > 0 {
			return fmt.Errorf("--host is %q: it must be a DNS name such as interpreter.example.com or an IP address", host)
		}
	}
	return nil
}

// reachableHost is the host by which a listener can be called from elsewhere: its own address, or, where it listens on
// all of them, the first that is not loopback.
func reachableHost(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return addr.String()
	}
	if !tcp.IP.IsUnspecified() {
		return tcp.IP.String()
	}
	for _, ip := range interfaceIPs() {
		if !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
			return ip.String()
		}
	}
	return "127.0.0.1"
}

func interfaceIPs() []net.IP {
	var ips []net.IP
	// Without the interfaces' addresses the certificate is good for the names all the same.
	addrs, _ := net.InterfaceAddrs()
	for _, addr := range addrs {
		if network, ok := addr.(*net.IPNet); ok {
			ips = append(ips, network.IP)
		}
	}
	return ips
}

// certificateHosts are the names and addresses under which this server may be called, now or when it is started with
// another address.
func (o *serveOptions) certificateHosts() []string {
	service := karmada.ServiceName + "." + karmada.ServiceNamespace + ".svc"
	hosts := []string{"localhost", "127.0.0.1", "::1", service, service + ".cluster.local"}
	for _, ip := range interfaceIPs() {
		hosts = append(hosts, ip.String())
	}
	// A machine that does not know its name is not called by it.
	if name, err := os.Hostname(); err == nil {
		hosts = append(hosts, name)
	}
	given, _, _ := net.SplitHostPort(o.addr) // it could be listened on, so it is well-formed
	if given != "" && !net.ParseIP(given).IsUnspecified() {
		hosts = append(hosts, given)
	}
	hosts = append(hosts, o.hosts...)
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
