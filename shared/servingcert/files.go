package servingcert

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Files is the certificate in a directory, as it is at the time. It follows a rotation, of the files or of the mounted
// Secret, within a second; a certificate that cannot be loaded is logged, and the one before stays in use.
type Files struct {
	dir string

	mu          sync.Mutex
	checked     time.Time
	pair        [2][]byte // what the files held when they were last looked at
	certificate *tls.Certificate
}

// Load loads the certificate in dir.
func Load(dir string) (*Files, error) {
	f := &Files{dir: dir}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f, nil
}

// GetCertificate is for tls.Config.
func (f *Files) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.checked) >= time.Second {
		if err := f.load(); err != nil {
			slog.Error("the new certificate cannot be loaded, the one before stays in use", "error", err)
		}
	}
	return f.certificate, nil
}

// Covers returns an error if the certificate is not valid now for a host, which is a DNS name or an IP address.
func (f *Files) Covers(host string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	leaf := f.certificate.Leaf
	if now := time.Now(); now.Before(leaf.NotBefore) || now.After(leaf.NotAfter) {
		return fmt.Errorf("it is valid from %s to %s", leaf.NotBefore.Format(time.RFC3339), leaf.NotAfter.Format(time.RFC3339))
	}
	return leaf.VerifyHostname(host)
}

// load loads the certificate if the files have changed since the last time. It compares what they hold: neither times
// nor the symbolic links of a mounted Secret tell of every change.
func (f *Files) load() error {
	f.checked = time.Now()
	certificate, err := os.ReadFile(filepath.Join(f.dir, CertificateFile))
	if err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(f.dir, KeyFile))
	if err != nil {
		return err
	}
	if bytes.Equal(certificate, f.pair[0]) && bytes.Equal(key, f.pair[1]) {
		return nil
	}
	f.pair = [2][]byte{certificate, key}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return fmt.Errorf("%s and %s in %s: %w", CertificateFile, KeyFile, f.dir, err)
	}
	f.certificate = &pair
	return nil
}
