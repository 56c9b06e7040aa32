package routerconfig

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Edit returns a configuration in which the candidate and the shadow of a function are other than in data: nil for
// none. Whatever else stands in data stays as it is, comments too.
func Edit(data []byte, path Path, operation Operation, candidate, shadow *Share) ([]byte, error) {
	config, err := Parse(data)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(config.Routes, func(r Route) bool { return r.Path == path })
	if i < 0 {
		return nil, fmt.Errorf("there is no route %s", path)
	}
	want, ok := config.Routes[i].Functions[operation]
	if !ok {
		return nil, fmt.Errorf("%s has no %s", path, operation)
	}
	want.Candidate, want.Shadow = candidate, shadow
	config.Routes[i].Functions[operation] = want
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		return nil, err
	}
	routes := *member(document.Content[0], "routes")
	function := *member(*member(routes.Content[i], "functions"), string(operation))
	set(function, "candidate", candidate)
	set(function, "shadow", shadow)
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(&document); err != nil {
		return nil, err
	}
	edited, err := Parse(out.Bytes())
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(edited, config) {
		return nil, fmt.Errorf("%s of %s shares what is written of it with another function, by an alias: write both out", operation, path)
	}
	return out.Bytes(), nil
}

// member is where the value of a key stands in a mapping, nil if there is none. An alias leads to what it stands for.
func member(mapping *yaml.Node, key string) **yaml.Node {
	for i := 0; i < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			value := &mapping.Content[i+1]
			if (*value).Alias != nil {
				return &(*value).Alias
			}
			return value
		}
	}
	return nil
}

func set(function *yaml.Node, key string, share *Share) {
	if share == nil {
		for i := 0; i < len(function.Content); i += 2 {
			if function.Content[i].Value == key {
				function.Content = slices.Delete(function.Content, i, i+2)
				return
			}
		}
		return
	}
	node := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle, Content: []*yaml.Node{
		scalar("url", "!!str"), scalar(share.URL.String(), "!!str"),
		scalar("percent", "!!str"), scalar(strconv.Itoa(int(*share.Percent)), "!!int"),
	}}
	if value := member(function, key); value != nil {
		*value = node
		return
	}
	function.Content = append(function.Content, scalar(key, "!!str"), node)
}

func scalar(value, tag string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}
