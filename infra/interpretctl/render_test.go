package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"sigs.k8s.io/yaml"

	"interpreter-functions/functions"
	"interpreter-functions/shared/servingcert"
)

// TestCertsAndRender makes a certificate for a Service and the configuration with which Karmada asks there.
func TestCertsAndRender(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	makeCerts := func() (string, error) {
		out, err := exec.Command(binary, "certs", "--dir", dir, "--host", "w.interpreter.svc", "--host", "192.0.2.1").CombinedOutput()
		return string(out), err
	}
	if out, err := makeCerts(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	certificate, err := servingcert.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"w.interpreter.svc", "192.0.2.1"} {
		if err := certificate.Covers(host); err != nil {
			t.Error(err)
		}
	}
	if out, err := makeCerts(); err == nil || !strings.Contains(out, "nothing is overwritten") {
		t.Errorf("%v: %s", err, out)
	}

	caFile := filepath.Join(dir, servingcert.CAFile)
	ca, err := os.ReadFile(caFile)
	if err != nil {
		t.Fatal(err)
	}
	for flag, value := range map[string]string{"--url": "https://w.example.com/interpreter-workload", "--service": "interpreter/w"} {
		out, err := exec.Command(binary, "render", flag, value, "--ca", caFile).Output()
		if err != nil {
			t.Fatal(err)
		}
		var configuration configv1alpha1.ResourceInterpreterWebhookConfiguration
		if err := yaml.UnmarshalStrict(out, &configuration); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		client := configuration.Webhooks[0].ClientConfig
		if string(client.CABundle) != string(ca) {
			t.Errorf("the CA bundle is %s", client.CABundle)
		}
		if flag == "--url" && (client.Service != nil || *client.URL != value) {
			t.Errorf("%+v", client)
		}
		if s := client.Service; flag == "--service" && (client.URL != nil || s.Namespace+"/"+s.Name != value || *s.Path != functions.Path) {
			t.Errorf("%+v", client)
		}
	}
}

func TestCertsAndRenderRefuse(t *testing.T) {
	for want, args := range map[string][]string{
		`required flag(s) "host" not set`:                       {"certs"},
		`--host is "*"`:                                         {"certs", "--host", "*"},
		"at least one of the flags in the group [url service]":  {"render"},
		"none of the others can be":                             {"render", "--url", "https://a/b", "--service", "a/b"},
		"--url must be an https URL":                            {"render", "--url", "http://a/b"},
		"such as https://interpreter.example.com/interpreter-w": {"render", "--url", "https://a/b?c"},
		"--service is \"a\": it must be":                        {"render", "--service", "a"},
		"open /nowhere: no such file":                           {"render", "--service", "a/b", "--ca", "/nowhere"},
	} {
		out, err := exec.Command(binary, args...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
}
