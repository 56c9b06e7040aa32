// Package servingcert makes and loads the certificate of an HTTPS server from a directory that holds tls.crt, tls.key
// and, if it is known, ca.crt: the names of a kubernetes.io/tls Secret, so that such a Secret can be mounted there.
package servingcert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The files of a directory.
const (
	CertificateFile = "tls.crt"
	KeyFile         = "tls.key"
	CAFile          = "ca.crt"
)

// Validity is how long the certificates of Create are valid. Nobody renews them, so it is long.
const Validity = 10 * 365 * 24 * time.Hour

// CreateMissing creates a CA and a serving certificate for hosts in dir if none of the files is there, and says whether
// it did. Files that are there are never changed; a directory with some of them is an error unless tls.crt and tls.key
// are among them.
func CreateMissing(dir string, hosts []string) (bool, error) {
	found, err := present(dir)
	switch {
	case err != nil:
		return false, err
	case slices.Contains(found, CertificateFile) && slices.Contains(found, KeyFile):
		return false, nil
	case len(found) > 0:
		return false, fmt.Errorf("%s has %s, but not both %s and %s: add what is missing, or remove the rest to have new ones made",
			dir, strings.Join(found, " and "), CertificateFile, KeyFile)
	}
	return true, Create(dir, hosts)
}

// present returns which of the files are in dir.
func present(dir string) ([]string, error) {
	var found []string
	for _, name := range []string{CAFile, CertificateFile, KeyFile} {
		_, err := os.Stat(filepath.Join(dir, name))
		switch {
		case err == nil:
			found = append(found, name)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return found, nil
}

// Create writes a new CA certificate and a serving certificate of it for hosts, which are DNS names and IP addresses,
// into dir. The names are subject alternative names: clients look at nothing else. The CA's key is not kept, so nothing
// else can be signed with it. If one of the files exists, it fails and writes none.
func Create(dir string, hosts []string) error {
	found, err := present(dir)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("%s has %s already: nothing is overwritten", dir, strings.Join(found, " and "))
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	ca, err := template("interpreter-functions CA")
	if err != nil {
		return err
	}
	ca.IsCA, ca.BasicConstraintsValid, ca.MaxPathLenZero = true, true, true
	ca.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageCRLSign
	serving, err := template("interpreter-functions")
	if err != nil {
		return err
	}
	serving.KeyUsage = x509.KeyUsageDigitalSignature
	serving.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			serving.IPAddresses = append(serving.IPAddresses, ip)
		} else {
			serving.DNSNames = append(serving.DNSNames, host)
		}
	}
	return write(dir, ca, caKey, serving, key)
}

func template(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	return &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name},
		NotBefore:    now.Add(-time.Hour), // the clock of a client may be behind
		NotAfter:     now.Add(Validity),
	}, nil
}

func write(dir string, ca *x509.Certificate, caKey crypto.Signer, serving *x509.Certificate, key crypto.Signer) error {
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return err
	}
	servingDER, err := x509.CreateCertificate(rand.Reader, serving, ca, key.Public(), caKey)
	if err != nil {
		return err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, KeyFile), 0o600, "PRIVATE KEY", keyDER); err != nil {
		return err
	}
	if err := writePEM(filepath.Join(dir, CertificateFile), 0o644, "CERTIFICATE", servingDER); err != nil {
		return err
	}
	return writePEM(filepath.Join(dir, CAFile), 0o644, "CERTIFICATE", caDER)
}

func writePEM(file string, mode fs.FileMode, blockType string, der []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	return errors.Join(pem.Encode(f, &pem.Block{Type: blockType, Bytes: der}), f.Close())
}
