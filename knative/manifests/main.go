// Command manifests writes what Knative is told of the functions, from the registry of them: one Service each, the
// router's routes, and the presets. It writes into the directory that is its argument.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/functions"
)

// service is what a function needs to be known by: the templates see nothing else.
type service struct {
	Operation configv1alpha1.InterpreterOperation
	// Name is that of its Service, and of its program.
	Name string
	// Hot functions are asked at every event of every object in a member cluster.
	Hot bool
	// Member functions are asked inside member clusters in Pull mode, by karmada-agent. The others are not.
	Member bool
}

func services() []service {
	hot := []configv1alpha1.InterpreterOperation{
		configv1alpha1.InterpreterOperationInterpretStatus, configv1alpha1.InterpreterOperationInterpretHealth,
	}
	list := make([]service, 0, len(functions.All))
	for _, operation := range functions.All {
		name := operation.Name()
		s := service{Operation: name, Name: strings.ToLower(string(name)), Hot: slices.Contains(hot, name)}
		s.Member = s.Hot || name == configv1alpha1.InterpreterOperationRetain
		list = append(list, s)
	}
	return list
}

// templates of the files that are written.
var (
	//go:embed functions.yaml.tmpl
	functionsTemplate string
	//go:embed keep-warm.yaml.tmpl
	keepWarmTemplate string
	//go:embed pull-mode.yaml.tmpl
	pullModeTemplate string
	//go:embed routes.yaml.tmpl
	routesTemplate string
)

// render returns the files by their names.
func render() (map[string][]byte, error) {
	all := services()
	member := slices.DeleteFunc(slices.Clone(all), func(s service) bool { return !s.Member })
	files := map[string][]byte{}
	for name, file := range map[string]struct {
		template string
		services []service
	}{
		"base/functions.yaml":                     {functionsTemplate, all},
		"base/routes.yaml":                        {routesTemplate, all},
		"components/keep-warm/kustomization.yaml": {keepWarmTemplate, all},
		"components/pull-mode/kustomization.yaml": {pullModeTemplate, all},
		"components/pull-mode/routes.yaml":        {routesTemplate, member},
	} {
		parsed, err := template.New(name).Parse("# Written by make generate.\n" + file.template)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := parsed.Execute(&out, map[string]any{"Path": functions.Path, "Services": file.services}); err != nil {
			return nil, err
		}
		files[name] = out.Bytes()
	}
	return files, nil
}

func main() {
	if err := write(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: manifests DIRECTORY, such as: go run ./knative/manifests knative/manifests")
	}
	files, err := render()
	if err != nil {
		return err
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(args[0], name), data, 0o644); err != nil { //nolint:gosec // they are to be read
			return err
		}
	}
	return nil
}
