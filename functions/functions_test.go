package functions

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interpreter-functions/shared/codec/codectest"
	"interpreter-functions/shared/router"
)

var update = flag.Bool("update", false, "write the answers of this run as the golden ones")

// TestGolden asks the functions what lies in testdata/*.request.json and wants testdata/*.response.json. To add a case,
// write a request and run the test with -update; read what it wrote.
func TestGolden(t *testing.T) {
	files := glob(t, "testdata/*.request.json")
	if len(files) == 0 {
		t.Fatal("no cases")
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".request.json")
		t.Run(filepath.Base(name), func(t *testing.T) {
			golden(t, readFile(t, file), name+".response.json")
		})
	}
}

// TestRecorded asks what Karmada's client was recorded to ask.
func TestRecorded(t *testing.T) {
	files := glob(t, "../../shared/karmada-requests/*.json")
	if len(files) == 0 {
		t.Skip("the recorded requests are not here")
	}
	for _, file := range files {
		var recorded struct{ Request struct{ Body string } }
		if err := json.Unmarshal(readFile(t, file), &recorded); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			golden(t, []byte(recorded.Request.Body), "testdata/recorded/"+name+".response.json")
		})
	}
}

// golden asks both URLs of the operation, and holds the answer against a file.
func golden(t *testing.T, request []byte, file string) {
	t.Helper()
	var asked struct {
		Request struct {
			Operation string
			Object    json.RawMessage
		}
	}
	if err := json.Unmarshal(request, &asked); err != nil {
		t.Fatal(err)
	}
	got := readable(t, ask(t, Path, request), asked.Request.Object)
	if byPath := ask(t, Path+"/"+asked.Request.Operation, request); byPath.Code == http.StatusNotFound {
		t.Logf("%s is not an operation", asked.Request.Operation)
	} else if byPath := readable(t, byPath, asked.Request.Object); !bytes.Equal(byPath, got) {
		t.Errorf("by path the answer is another one:\n%s", byPath)
	}
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want := readFile(t, file); !bytes.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func ask(t *testing.T, path string, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path+"?timeout=3s", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	router.New(Route()).ServeHTTP(w, r)
	return w
}

// readable returns an answer as indented JSON, its patch in the clear. The patch must apply.
func readable(t *testing.T, w *httptest.ResponseRecorder, object []byte) []byte {
	t.Helper()
	if w.Code != http.StatusOK {
		t.Fatalf("HTTP %d: %s", w.Code, w.Body)
	}
	answer := map[string]any{}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	response := answer["response"].(map[string]any)
	var wire struct {
		Response struct {
			Patch     []byte
			PatchType string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &wire); err != nil {
		t.Fatal(err)
	}
	if patch := wire.Response.Patch; patch != nil || wire.Response.PatchType != "" {
		if wire.Response.PatchType != "JSONPatch" {
			t.Errorf("a patch of type %q", wire.Response.PatchType)
		}
		codectest.Apply(t, patch, object)
		response["patch"] = json.RawMessage(patch)
	}
	indented, err := json.MarshalIndent(answer, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(indented, '\n')
}

func glob(t testing.TB, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
