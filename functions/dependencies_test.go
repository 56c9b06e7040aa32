package functions

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestDependencies keeps clients of the API server and what only commands need out of what is linked into a function
// and into the router: they would multiply their size and their start time.
func TestDependencies(t *testing.T) {
	programs := []string{"../knative/router"}
	for _, operation := range All {
		programs = append(programs, "../knative/"+strings.ToLower(string(operation.Name())))
	}
	out, err := exec.Command("go", append([]string{"list", "-deps"}, programs...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	packages := strings.Fields(string(out))
	if !slices.Contains(packages, "interpreter-functions/shared/interpreter") {
		t.Fatalf("these are not the dependencies of the functions: %q", packages)
	}
	// The types of Karmada's API name two interfaces of it, which link nothing else.
	allowed := "sigs.k8s.io/controller-runtime/pkg/conversion"
	for _, p := range packages {
		for _, banned := range []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "k8s.io/apiserver", "github.com/spf13/cobra"} {
			if (p == banned || strings.HasPrefix(p, banned+"/")) && p != allowed {
				t.Errorf("the programs link %s", p)
			}
		}
	}
}
