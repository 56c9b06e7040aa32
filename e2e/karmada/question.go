package karmada

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"
	"k8s.io/client-go/rest"
)

// Timeout is the timeoutSeconds with which questions are asked.
const Timeout = 3 * time.Second

// Question is a request that was recorded or written, and the right answer to it.
type Question struct {
	Name    string
	Request *configv1alpha1.ResourceInterpreterContext
	answer  map[string]any
}

// Questions are the cases of the functions' tests in a directory, without the one that no client of Karmada's can send,
// and those in a directory of recorded requests, if it is there.
func Questions(testdata, recordings string) ([]*Question, error) {
	files, err := filepath.Glob(filepath.Join(testdata, "*.request.json"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("there are no questions in %s", testdata)
	}
	var list []*Question
	add := func(name string, request []byte, answer string) error {
		q, err := newQuestion(name, request, filepath.Join(testdata, answer))
		list = append(list, q)
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".request.json")
		if name == "revisereplica-out-of-range" {
			continue
		}
		request, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if err := add(name, request, name+".response.json"); err != nil {
			return nil, err
		}
	}
	records, err := os.ReadDir(recordings)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, entry := range records {
		name, isJSON := strings.CutSuffix(entry.Name(), ".json")
		if !isJSON {
			continue
		}
		data, err := os.ReadFile(filepath.Join(recordings, entry.Name()))
		if err != nil {
			return nil, err
		}
		var record struct{ Request struct{ Body string } }
		if err := json.Unmarshal(data, &record); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := add(name, []byte(record.Request.Body), filepath.Join("recorded", name+".response.json")); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func newQuestion(name string, request []byte, answerFile string) (*Question, error) {
	q := &Question{Name: name, Request: &configv1alpha1.ResourceInterpreterContext{}}
	if err := json.Unmarshal(request, q.Request); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	answer, err := os.ReadFile(answerFile)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(answer, &q.answer); err != nil {
		return nil, fmt.Errorf("%s: %w", answerFile, err)
	}
	return q, nil
}

// Answered says whether the right answer is one, and not an error.
func (q *Question) Answered() bool {
	response, _ := q.answer["response"].(map[string]any)
	return response["successful"] == true
}

// Ask sends the question as Karmada does. It is an error if another answer comes back than the right one.
func (q *Question) Ask(ctx context.Context, client *rest.RESTClient) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	answer := &configv1alpha1.ResourceInterpreterContext{}
	if err := client.Post().Timeout(Timeout).Body(q.Request).Do(ctx).Into(answer); err != nil {
		return fmt.Errorf("%s: %w", q.Name, err)
	}
	return q.check(answer)
}

// check compares an answer with the right one, which has its patch in the clear.
func (q *Question) check(answer *configv1alpha1.ResourceInterpreterContext) error {
	if answer.Response == nil {
		return fmt.Errorf("%s: the answer has no response", q.Name)
	}
	patch := answer.Response.Patch
	answer.Response.Patch = nil
	data, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	if patch != nil {
		var tree any
		if err := json.Unmarshal(patch, &tree); err != nil {
			return err
		}
		got["response"].(map[string]any)["patch"] = tree
	}
	gotJSON, err := json.Marshal(got)
	if err != nil {
		return err
	}
	wantJSON, err := json.Marshal(q.answer)
	if err != nil {
		return err
	}
	if !bytes.Equal(gotJSON, wantJSON) {
		return fmt.Errorf("%s:\n got %s\nwant %s", q.Name, gotJSON, wantJSON)
	}
	return nil
}
