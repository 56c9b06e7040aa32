package servingcert

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestCreateMissing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	hosts := []string{"127.0.0.1", "::1", "localhost", "webhook.karmada-system.svc"}
	if created, err := CreateMissing(dir, hosts); err != nil || !created {
		t.Fatalf("created: %v, %v", created, err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read(t, dir, CAFile))
	block, _ := pem.Decode(read(t, dir, CertificateFile))
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range hosts {
		if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, err := leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: "elsewhere.example.com"}); err == nil {
		t.Error("valid for any name")
	}
	if info, err := os.Stat(filepath.Join(dir, KeyFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key's mode is %v, %v", info.Mode(), err)
	}

	before := read(t, dir, CertificateFile)
	if created, err := CreateMissing(dir, hosts); err != nil || created {
		t.Errorf("created again: %v, %v", created, err)
	}
	if err := Create(dir, hosts); err == nil {
		t.Error("Create overwrote files")
	}
	if string(read(t, dir, CertificateFile)) != string(before) {
		t.Error("the certificate changed")
	}

	for _, name := range []string{CAFile, CertificateFile, KeyFile} {
		one := t.TempDir()
		put(t, one, name, []byte("mine"))
		if err := Create(one, hosts); err == nil {
			t.Errorf("no error beside %s", name)
		}
		if entries, err := os.ReadDir(one); err != nil || len(entries) != 1 || string(read(t, one, name)) != "mine" {
			t.Errorf("beside %s there is %v, %v", name, entries, err)
		}
	}

	for _, missing := range []string{CertificateFile, KeyFile} {
		part := t.TempDir()
		for _, name := range []string{CAFile, CertificateFile, KeyFile} {
			if name != missing {
				put(t, part, name, read(t, dir, name))
			}
		}
		if _, err := CreateMissing(part, hosts); err == nil {
			t.Errorf("no error without %s", missing)
		}
	}
}

func TestFilesFollowRotation(t *testing.T) {
	dir, next := t.TempDir(), t.TempDir()
	for _, d := range []string{dir, next} {
		if err := Create(d, []string{"localhost"}); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	leaf := func() string {
		files.checked = time.Time{} // as if a second had gone by
		c, err := files.GetCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return string(c.Certificate[0])
	}
	old := leaf()
	put(t, dir, CertificateFile, read(t, next, CertificateFile))
	if leaf() != old {
		t.Error("a certificate came into use without its key")
	}
	put(t, dir, KeyFile, read(t, next, KeyFile))
	rotated := leaf()
	if rotated == old {
		t.Error("the rotated certificate did not come into use")
	}
	if err := os.Remove(filepath.Join(dir, KeyFile)); err != nil {
		t.Fatal(err)
	}
	if leaf() != rotated {
		t.Error("the certificate was dropped with its file")
	}
	if err := files.Covers("localhost"); err != nil {
		t.Error(err)
	}
	if err := files.Covers("elsewhere.example.com"); err == nil {
		t.Error("covers any name")
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("loaded from an empty directory")
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}
