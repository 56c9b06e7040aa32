package routerconfig

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	config, err := Parse([]byte(`
routes:
- path: /interpreter-workload
  functions:
    ReviseReplica:
      url: http://revisereplica.interpreter.svc.cluster.local
      candidate: {url: http://candidate-revisereplica.interpreter.svc.cluster.local, percent: 10}
      shadow:    {url: https://shadow:8443/any/path, percent: 0}
    Retain: {url: "http://retain"}
`))
	if err != nil {
		t.Fatal(err)
	}
	revise := config.Routes[0].Functions["ReviseReplica"]
	if len(config.Routes) != 1 || len(config.Routes[0].Functions) != 2 || *revise.Candidate.Percent != 10 || *revise.Shadow.Percent != 0 ||
		revise.Shadow.URL.String() != "https://shadow:8443/any/path" {
		t.Errorf("%+v", config)
	}
}

func TestParseRefuses(t *testing.T) {
	const function = "routes:\n- path: /w\n  functions:\n    Retain:\n      "
	for want, data := range map[string]string{
		"it is empty":                                      "",
		"there are no routes":                              "routes: []",
		"line 1: unknown key rules":                        "rules: []",
		"line 6: unknown key urk":                          function + "url: http://a\n      urk: b",
		"line 7: unknown key weight":                       function + "url: http://a\n      candidate:\n        weight: 1",
		`line 6: mapping key "url"`:                        function + "url: http://a\n      url: http://a",
		"line 3: cannot unmarshal !!seq":                   "routes:\n- path: /w\n  functions: []",
		"did not find expected":                            "routes:\n- path: /w\n functions:",
		"more than one YAML document":                      "routes:\n- path: /w\n  functions: {Retain: {url: http://a}}\n---\n",
		"routes[0] has no path":                            "routes:\n- functions: {Retain: {url: http://a}}",
		"/w has no functions":                              "routes:\n- path: /w",
		"the path /w is there twice":                       "routes:\n- path: /w\n  functions: {Retain: {url: http://a}}\n- path: /w\n  functions: {Retain: {url: http://a}}",
		`line 2: the path is "w"`:                          "routes:\n- path: w",
		`line 2: the path is "/w/"`:                        "routes:\n- path: /w/",
		`line 2: the path is "/"`:                          "routes:\n- path: /",
		`line 3: "retain" is no operation`:                 "routes:\n- path: /w\n  functions: {retain: {url: http://a}}",
		`line 3: "Prune" is no operation`:                  "routes:\n- path: /w\n  functions: {Prune: {url: http://a}}",
		"Retain of /w has no url":                          function + "shadow: {url: http://a, percent: 1}",
		"Retain of /w has a candidate without url":         function + "url: http://a\n      candidate: {percent: 1}",
		"Retain of /w has a shadow without percent":        function + "url: http://a\n      shadow: {url: http://a}",
		`line 5: the url is "retain"`:                      function + "url: retain",
		`line 5: the url is "ftp://a"`:                     function + "url: ftp://a",
		"line 5: the url http://a:xxxxx@b must have":       function + "url: http://a:secret@b",
		"line 5: the url http://b?x must have":             function + "url: http://b?x",
		"line 5: the url: parse":                           function + "url: 'http://a b'",
		`line 6: the percent is "101": it must be a whole`: function + "url: http://a\n      candidate: {url: http://a, percent: 101}",
		`line 6: the percent is "1.5"`:                     function + "url: http://a\n      candidate: {url: http://a, percent: 1.5}",
		`line 6: the percent is "-1"`:                      function + "url: http://a\n      shadow: {url: http://a, percent: -1}",
	} {
		_, err := Parse([]byte(data))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "routerconfig.") || strings.Contains(err.Error(), "secret") {
			t.Errorf("got %v\nwant %s of\n%s", err, want, data)
		}
	}
}

func TestEdit(t *testing.T) {
	const before = `# of the team
routes:
  - path: /other
    functions:
      Retain: {url: 'http://other'}
  - path: /w
    functions:
      # asked at every sync
      Retain:
        url: http://retain # here
        candidate: {url: 'http://old', percent: 5}
`
	share := func(address string, percent int) *Share {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		p := Percent(percent)
		return &Share{URL{u}, &p}
	}
	got, err := Edit([]byte(before), "/w", "Retain", share("http://new", 10), share("http://new", 100))
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "{url: 'http://old', percent: 5}", "{url: 'http://new', percent: 10}\n        shadow: {url: 'http://new', percent: 100}", 1)
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	back, err := Edit(got, "/w", "Retain", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Replace(before, "        candidate: {url: 'http://old', percent: 5}\n", "", 1); string(back) != want {
		t.Errorf("got\n%s\nwant\n%s", back, want)
	}
	for want, args := range map[string][2]string{"there is no route /x": {"/x", "Retain"}, "/w has no ReviseReplica": {"/w", "ReviseReplica"}} {
		if _, err := Edit([]byte(before), Path(args[0]), Operation(args[1]), nil, nil); err == nil || err.Error() != want {
			t.Errorf("%v", err)
		}
	}
	shared := "routes:\n- path: /w\n  functions:\n    Retain: &r {url: http://a}\n    InterpretHealth: *r\n"
	if _, err := Edit([]byte(shared), "/w", "Retain", share("http://new", 10), nil); err == nil || !strings.Contains(err.Error(), "by an alias") {
		t.Errorf("%v", err)
	}
	if _, err := Edit([]byte("routes: []"), "/w", "Retain", nil, nil); err == nil {
		t.Error("what is wrong can be edited")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("routes:\n- path: /w\n  functions: {Retain: {url: http://a, shadow: {url: http://a, percent: 1}}}"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse(data)
		if err != nil {
			return
		}
		for _, route := range config.Routes {
			for _, function := range route.Functions {
				if function.URL.Host == "" {
					t.Errorf("%+v", config)
				}
			}
		}
		if len(config.Routes) == 0 {
			t.Error("no routes")
		}
	})
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *syncBuffer) contains(s string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.String(), s)
}

// TestFollow changes a file in the way that a ConfigMap is changed where it is mounted: by a symbolic link.
func TestFollow(t *testing.T) {
	log := &syncBuffer{}
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	defer slog.SetDefault(before)

	answering := func(body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		t.Cleanup(server.Close)
		return server.URL
	}
	one, two := answering(`{"response":{"uid":"u","successful":true,"healthy":true}}`), answering(`{"response":{"uid":"u","successful":true,"healthy":false}}`)
	dir := t.TempDir()
	revision := 0
	write := func(data string) {
		t.Helper()
		revision++
		version := filepath.Join(dir, strings.Repeat("v", revision))
		if err := os.Mkdir(version, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(version, "routes.yaml"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(version, filepath.Join(dir, "new")); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "data")); err != nil {
			t.Fatal(err)
		}
	}
	config := func(url, more string) string {
		return "routes:\n- path: /w\n  functions:\n    InterpretHealth:\n      url: " + url + "\n" + more
	}
	write(config(one, ""))
	f, err := Load(filepath.Join(dir, "data", "routes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		f.Follow(ctx)
		close(done)
	}()
	ask := func() string {
		r := httptest.NewRequest(http.MethodPost, "/w", strings.NewReader(`{"request":{"uid":"u","operation":"InterpretHealth","object":{}}}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		f.ServeHTTP(w, r)
		return w.Body.String()
	}
	logged := func(want string) {
		t.Helper()
		for range 500 {
			if log.contains(want) {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%q is not in the log: %s", want, log)
	}
	if got := ask(); !strings.Contains(got, "true}}") {
		t.Error(got)
	}

	write("routes:\n- path: /w\n  fun: {}\n")
	logged("line 3: unknown key fun")
	if got := ask(); !strings.Contains(got, "true}}") {
		t.Error(got)
	}

	shadowed := config(two, "      shadow: {url: "+one+", percent: 100}\n")
	write(shadowed)
	logged("digest=" + Digest([]byte(shadowed)))
	if got := ask(); !strings.Contains(got, "false}}") {
		t.Error(got)
	}
	logged("the shadow answers differently")

	// The counts of a shadow outlive a change of something else.
	write(config(two, "      shadow: {url: "+one+", percent: 50}\n"))
	logged("compared=1 differed=1 failed=0 dropped=0")
	write(config(two, "      shadow: {url: "+one+", percent: 100}\n      candidate: {url: "+one+", percent: 0}\n"))
	logged("digest=" + Digest(f.contents(t)))
	if got := ask(); !strings.Contains(got, "false}}") {
		t.Error(got)
	}
	stop()
	<-done
	for _, s := range f.shadows {
		for s.Counts().Compared < 2 {
			time.Sleep(time.Millisecond)
		}
	}
	f.report()
	logged("compared=2 differed=2 failed=0 dropped=0")
}

func (f *File) contents(t *testing.T) []byte {
	data, err := os.ReadFile(f.name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
