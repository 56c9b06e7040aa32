package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"

	"interpreter-functions/functions"
	"interpreter-functions/shared/servingcert"
)

// welcome shows what a server does and what Karmada needs to ask it.
type welcome struct {
	address string // by which the server can be called from elsewhere
	certDir string
	dial    string // where the server listens
}

func (w *welcome) print(ctx context.Context, out io.Writer) error {
	caBundle, err := os.ReadFile(filepath.Join(w.certDir, servingcert.CAFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	url := "https://" + w.address + functions.Path
	fmt.Fprintf(out, "Serving %s\n\n", url)
	tried := w.tryAll(ctx, out, url, caBundle)
	if err := w.printCurl(out, url, caBundle != nil); err != nil {
		return errors.Join(tried, err)
	}
	return errors.Join(tried, printConfiguration(out, url, caBundle))
}

// tryAll puts the sample Workload through all operations, as Karmada would, and prints what comes back.
func (w *welcome) tryAll(ctx context.Context, out io.Writer, url string, caBundle []byte) error {
	client := w.client(caBundle)
	defer client.CloseIdleConnections()
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OPERATION\tASKED OF\tANSWER")
	var failed error
	for _, operation := range functions.All {
		request, about, err := sampleRequest(operation)
		if err != nil {
			return err
		}
		answer := ""
		if response, err := ask(ctx, client, url, request); err == nil {
			answer = describe(response)
		} else {
			answer = "FAILED: " + err.Error()
			failed = errors.Join(failed, fmt.Errorf("%s: %w", operation.Name(), err))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", operation.Name(), about, answer)
	}
	return errors.Join(failed, table.Flush())
}

// client reaches this server where it listens, whatever its URL says, and otherwise like Karmada's client.
func (w *welcome) client(caBundle []byte) *http.Client {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if caBundle != nil {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(caBundle)
	}
	dialer := &net.Dialer{}
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   config,
			ForceAttemptHTTP2: true,
			DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return dialer.DialContext(ctx, network, w.dial)
			},
		},
	}
}

func (w *welcome) printCurl(out io.Writer, url string, ownCA bool) error {
	request, _, err := sampleRequest(functions.All[0])
	if err != nil {
		return err
	}
	trust := ""
	if ownCA {
		file, err := filepath.Abs(filepath.Join(w.certDir, servingcert.CAFile))
		if err != nil {
			return err
		}
		trust = " --cacert " + quote(file)
	}
	_, err = fmt.Fprintf(out, "\nAsk it yourself:\n\ncurl%s -H 'Content-Type: application/json' %s -d %s\n", trust, url, quote(compact(envelope(request))))
	return err
}

// quote writes a word for a POSIX shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func printConfiguration(out io.Writer, url string, caBundle []byte) error {
	manifest, err := webhookConfiguration(admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: caBundle})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, `
Let Karmada ask it (paste with KUBECONFIG set to the Karmada control plane's):

kubectl apply -f - <<'EOF'
%sEOF
`, manifest)
	return err
}
