// Package routerconfig reads which functions a router leads to from a file, and follows the file's changes.
package routerconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"go.yaml.in/yaml/v3"
)

// Config is a configuration as it is written in YAML:
//
//	routes:
//	- path: /interpreter-workload
//	  functions:
//	    ReviseReplica:
//	      url: http://revisereplica.interpreter.svc.cluster.local
//	      candidate: {url: http://candidate-revisereplica.interpreter.svc.cluster.local, percent: 10}
//	      shadow:    {url: http://candidate-revisereplica.interpreter.svc.cluster.local, percent: 100}
type Config struct {
	Routes []Route `yaml:"routes"`
}

// Route is a URL path of the webhook and the functions behind it, by operation.
type Route struct {
	Path      Path                   `yaml:"path"`
	Functions map[Operation]Function `yaml:"functions"`
}

// Function is where a function is asked.
type Function struct {
	// URL is that of the version that answers for all objects but the candidate's.
	URL URL `yaml:"url"`
	// Candidate answers for a share of the objects, always the same.
	Candidate *Share `yaml:"candidate,omitempty"`
	// Shadow is asked about a share of the objects as well, and its answers are compared.
	Shadow *Share `yaml:"shadow,omitempty"`
}

// Share is a version of a function and the share of the objects that it is asked about.
type Share struct {
	URL     URL      `yaml:"url"`
	Percent *Percent `yaml:"percent"`
}

// Parse reads a configuration. Its errors name the line.
func Parse(data []byte) (*Config, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	config := &Config{}
	if err := decoder.Decode(config); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("it is empty: there must be routes")
		}
		return nil, explain(err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one YAML document in it")
	}
	if err := config.check(); err != nil {
		return nil, err
	}
	return config, nil
}

// explain takes from an error of the YAML package what its reader cannot know: the names of Go types.
func explain(err error) error {
	var typed *yaml.TypeError
	if !errors.As(err, &typed) {
		return err
	}
	messages := make([]string, 0, len(typed.Errors))
	for _, message := range typed.Errors {
		message = strings.ReplaceAll(message, "routerconfig.", "")
		if before, _, found := strings.Cut(message, " not found in type "); found {
			message = strings.Replace(before, ": field ", ": unknown key ", 1)
		}
		messages = append(messages, message)
	}
	return errors.New(strings.Join(messages, "; "))
}

func (c *Config) check() error {
	if len(c.Routes) == 0 {
		return errors.New("there are no routes")
	}
	paths := map[Path]bool{}
	for i, route := range c.Routes {
		switch {
		case route.Path == "":
			return fmt.Errorf("routes[%d] has no path", i)
		case paths[route.Path]:
			return fmt.Errorf("the path %s is there twice", route.Path)
		case len(route.Functions) == 0:
			return fmt.Errorf("%s has no functions", route.Path)
		}
		paths[route.Path] = true
		for operation, function := range route.Functions {
			if err := function.check(); err != nil {
				return fmt.Errorf("%s of %s %w", operation, route.Path, err)
			}
		}
	}
	return nil
}

func (f *Function) check() error {
	if f.URL.URL == nil {
		return errors.New("has no url")
	}
	for name, share := range map[string]*Share{"candidate": f.Candidate, "shadow": f.Shadow} {
		switch {
		case share == nil:
		case share.URL.URL == nil:
			return fmt.Errorf("has a %s without url", name)
		case share.Percent == nil:
			return fmt.Errorf("has a %s without percent", name)
		}
	}
	return nil
}

// Path is a path of a URL, such as /interpreter-workload.
type Path string

// UnmarshalYAML refuses what cannot be the path of a webhook's URL as Karmada cleans it.
func (p *Path) UnmarshalYAML(node *yaml.Node) error {
	var s string
	if err := node.Decode(&s); err != nil {
		return err
	}
	if !strings.HasPrefix(s, "/") || path.Clean(s) != s || s == "/" {
		return at(node, "the path is %q: it must be clean and begin with a slash, such as /interpreter-workload", s)
	}
	*p = Path(s)
	return nil
}

// Operation is an operation of Karmada's that a function can answer.
type Operation configv1alpha1.InterpreterOperation

var operations = []Operation{
	Operation(configv1alpha1.InterpreterOperationInterpretReplica),
	Operation(configv1alpha1.InterpreterOperationInterpretComponent),
	Operation(configv1alpha1.InterpreterOperationReviseReplica),
	Operation(configv1alpha1.InterpreterOperationRetain),
	Operation(configv1alpha1.InterpreterOperationAggregateStatus),
	Operation(configv1alpha1.InterpreterOperationInterpretStatus),
	Operation(configv1alpha1.InterpreterOperationInterpretHealth),
	Operation(configv1alpha1.InterpreterOperationInterpretDependency),
}

// UnmarshalYAML refuses what Karmada does not ask.
func (o *Operation) UnmarshalYAML(node *yaml.Node) error {
	var s string
	if err := node.Decode(&s); err != nil {
		return err
	}
	if !slices.Contains(operations, Operation(s)) {
		return at(node, "%q is no operation: there are %v", s, operations)
	}
	*o = Operation(s)
	return nil
}

// URL is the http or https URL of a function.
type URL struct{ *url.URL }

// UnmarshalYAML refuses what cannot be asked.
func (u *URL) UnmarshalYAML(node *yaml.Node) error {
	var s string
	if err := node.Decode(&s); err != nil {
		return err
	}
	parsed, err := url.Parse(s)
	if err != nil {
		return at(node, "the url: %v", err)
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return at(node, "the url is %q: it must be like http://name.namespace.svc.cluster.local", s)
	}
	if parsed.User != nil || parsed.RawQuery != "" || parsed.Fragment != "" {
		return at(node, "the url %s must have neither user, query nor fragment", parsed.Redacted())
	}
	u.URL = parsed
	return nil
}

// Percent is a share of the objects, 0 to 100.
type Percent int

// UnmarshalYAML refuses what is no share.
func (p *Percent) UnmarshalYAML(node *yaml.Node) error {
	n, err := strconv.Atoi(node.Value)
	if err != nil || n < 0 || n > 100 {
		return at(node, "the percent is %q: it must be a whole number from 0 to 100", node.Value)
	}
	*p = Percent(n)
	return nil
}

func at(node *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("line %d: %s", node.Line, fmt.Sprintf(format, args...))
}
