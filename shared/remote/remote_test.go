package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func question1(uid string) string {
	return fmt.Sprintf(`{"request":{"uid":"1","operation":"InterpretHealth","name":"n","namespace":"d","object":{"metadata":{"uid":%q}}}}`, uid)
}

// target is what a handler answers at a URL until the test ends.
func target(t *testing.T, h http.HandlerFunc) *Target {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return targetAt(t, server.URL)
}

func targetAt(t *testing.T, address string) *Target {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	made := NewTarget(u)
	t.Cleanup(made.Close)
	return made
}

// constant answers with a body.
func constant(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

func ask(h http.Handler, query, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/x"+query, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestPassesOn(t *testing.T) {
	const body = "{\"request\": {\"uid\":\"\\u0031\", \"x\":1.00}}\n\n"
	f := &Function{Name: "F", Stable: target(t, func(w http.ResponseWriter, r *http.Request) {
		got, err := io.ReadAll(r.Body)
		if err != nil || string(got) != body {
			t.Errorf("%v: %q", err, got)
		}
		timeout, err := time.ParseDuration(r.URL.Query().Get("timeout"))
		if err != nil || timeout <= 0 || timeout > 3*time.Second || r.URL.Query().Get("other") != "a b" {
			t.Errorf("%v: %s", err, r.URL)
		}
		for name, want := range map[string]string{
			"Traceparent": "00-1", "Content-Type": "application/json", "X-For-The-Router": "", "Keep-Alive": "", "Accept-Encoding": "",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s: %q", name, got)
			}
		}
		w.Header().Set("X-Answer", "a")
		w.Header().Set("Connection", "X-Not-On")
		w.Header().Set("X-Not-On", "b")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "{ \"kind\":1.0}\n")
	})}
	r := httptest.NewRequest(http.MethodPost, "/x?timeout=3s&other=a+b", strings.NewReader(body))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Traceparent": "00-1", "Connection": "X-For-The-Router", "X-For-The-Router": "x",
		"Keep-Alive": "5", "Accept-Encoding": "gzip",
	} {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	f.ServeHTTP(w, r)
	if w.Code != http.StatusTeapot || w.Body.String() != "{ \"kind\":1.0}\n" || w.Header().Get("X-Answer") != "a" || w.Header().Get("X-Not-On") != "" {
		t.Errorf("HTTP %d %v %q", w.Code, w.Header(), w.Body)
	}
}

// TestAsksAgain has a function that is not there, in one way or another, until it is.
func TestAsksAgain(t *testing.T) {
	abort := func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		conn.Close()
	}
	for name, absent := range map[string]http.HandlerFunc{
		"502":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) },
		"503":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
		"504":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(504) },
		"closed": abort,
		"cut off": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"response":`)
			_ = http.NewResponseController(w).Flush()
			abort(w, r)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var tries atomic.Int32
			f := &Function{Name: "F", Stable: target(t, func(w http.ResponseWriter, r *http.Request) {
				if got, err := io.ReadAll(r.Body); err != nil || string(got) != question1("a") {
					t.Errorf("%v: %s", err, got)
				}
				if tries.Add(1) <= 3 {
					absent(w, r)
					return
				}
				constant("answer")(w, r)
			})}
			if w := ask(f, "?timeout=10s", question1("a")); w.Code != 200 || w.Body.String() != "answer" {
				t.Errorf("HTTP %d: %s", w.Code, w.Body)
			}
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		listener.Close()
		f := &Function{Name: "F", Stable: targetAt(t, "http://"+address)}
		time.AfterFunc(300*time.Millisecond, func() {
			again, err := net.Listen("tcp", address)
			if err != nil {
				t.Error(err)
				return
			}
			server := &http.Server{Handler: constant("answer")}
			t.Cleanup(func() { _ = server.Close() })
			_ = server.Serve(again)
		})
		if w := ask(f, "?timeout=10s", question1("a")); w.Code != 200 || w.Body.String() != "answer" {
			t.Errorf("HTTP %d: %s", w.Code, w.Body)
		}
	})
}

func TestBudgetEnds(t *testing.T) {
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}
	for name, test := range map[string]struct {
		stable *Target
		want   string
	}{
		"nobody listens": {targetAt(t, "http://127.0.0.1:1/f"), "is not available at http://127.0.0.1:1/f: dial tcp 127.0.0.1:1: connect: connection refused within "},
		"503": {target(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no revision", http.StatusServiceUnavailable)
		}), "HTTP 503 no revision within "},
		"hangs": {target(t, hang), "no answer within "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &Function{Name: "Retain of /x", Stable: test.stable}
			router := httptest.NewServer(f)
			defer router.Close()
			// The caller gives up when its own timeout ends: it must have been answered.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			r, _ := http.NewRequestWithContext(ctx, http.MethodPost, router.URL+"?timeout=1s", strings.NewReader(question1("a")))
			r.Header.Set("Content-Type", "application/json")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			var status metav1.Status
			if err := json.NewDecoder(res.Body).Decode(&status); err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != 503 || res.Header.Get("Retry-After") != "1" || status.Code != 503 || status.Kind != "Status" ||
				!strings.HasPrefix(status.Message, "the function Retain of /x is not available at http://127.0.0.1:") || !strings.Contains(status.Message, test.want) {
				t.Errorf("%s %v %+v", res.Status, res.Header, status)
			}
		})
	}
}

func TestRefuses(t *testing.T) {
	f := &Function{Name: "F", Stable: target(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxAnswer+1)) })}
	if w := ask(f, "", question1("a")); w.Code != 502 || !strings.Contains(w.Body.String(), "its answer has more than 8388608 bytes") {
		t.Errorf("HTTP %d: %.300s", w.Code, w.Body)
	}
	if w := ask(f, "?timeout=soon", question1("a")); w.Code != 200 || !strings.Contains(w.Body.String(), `"uid":"1","successful":false`) {
		t.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
	if w := ask(f, "", strings.Repeat("x", 9<<20)); w.Code != 413 {
		t.Errorf("HTTP %d: %s", w.Code, w.Body)
	}
}

// TestOneHangs holds more requests at a function that hangs than it has connections, and asks another.
func TestOneHangs(t *testing.T) {
	release := make(chan struct{})
	var open atomic.Int32
	hangs := &Function{Name: "H", Stable: target(t, func(w http.ResponseWriter, r *http.Request) {
		if open.Add(1) > maxConnections {
			t.Error("more connections than there may be")
		}
		<-release
		open.Add(-1)
		constant("late")(w, r)
	})}
	works := &Function{Name: "W", Stable: target(t, constant("answer"))}
	var waiting sync.WaitGroup
	for range maxConnections + 50 {
		waiting.Go(func() {
			if w := ask(hangs, "", question1("a")); w.Body.String() != "late" {
				t.Errorf("HTTP %d: %s", w.Code, w.Body)
			}
		})
	}
	for open.Load() < maxConnections {
		time.Sleep(time.Millisecond)
	}
	for range 100 {
		if w := ask(works, "?timeout=1s", question1("a")); w.Body.String() != "answer" {
			t.Errorf("HTTP %d: %s", w.Code, w.Body)
		}
	}
	close(release)
	waiting.Wait()
}

func TestCandidateIsSticky(t *testing.T) {
	stable, candidate := target(t, constant("stable")), target(t, constant("candidate"))
	const objects = 1000
	chosen := map[int]map[string]bool{}
	for _, percent := range []int{0, 10, 50, 100} {
		f := &Function{Name: "F", Stable: stable, Candidate: Share{candidate, percent}}
		chosen[percent] = map[string]bool{}
		for i := range objects {
			uid := fmt.Sprintf("6c84fb90-12c4-11e1-840d-%012d", i)
			first := ask(f, "", question1(uid)).Body.String()
			second := ask(f, "", strings.Replace(question1(uid), `"uid":"1","operation":"InterpretHealth"`, `"uid":"2","operation":"Retain","replicas":3`, 1)).Body.String()
			if first != second {
				t.Fatalf("%s is answered by %s and %s", uid, first, second)
			}
			chosen[percent][uid] = first == "candidate"
		}
	}
	count := func(percent int) (n int) {
		for _, is := range chosen[percent] {
			if is {
				n++
			}
		}
		return n
	}
	if count(0) != 0 || count(100) != objects || count(10) < 60 || count(10) > 140 || count(50) < 430 || count(50) > 570 {
		t.Errorf("of %d objects the candidate had %d, %d, %d, %d", objects, count(0), count(10), count(50), count(100))
	}
	for uid, is := range chosen[10] {
		if is && !chosen[50][uid] {
			t.Errorf("%s left the candidate when its share rose", uid)
		}
	}
}

func TestBucketWithoutUID(t *testing.T) {
	seen := map[int]bool{}
	for i := range 50 {
		body := fmt.Sprintf(`{"request":{"uid":"%d","name":"n%d","namespace":"d","object":{"metadata":{"uid":""}}}}`, i, i)
		again := fmt.Sprintf(`{"request":{"namespace":"d","uid":"again","name":"n%d"}}`, i)
		if bucket([]byte(body)) != bucket([]byte(again)) {
			t.Errorf("%s and %s differ", body, again)
		}
		seen[bucket([]byte(body))] = true
	}
	if len(seen) < 20 {
		t.Errorf("50 objects are in %d buckets", len(seen))
	}
	for _, body := range []string{``, `[]`, `{"request":{"object":`, `{"request":null}`} {
		if n := bucket([]byte(body)); n < 0 || n > 99 {
			t.Errorf("%s: %d", body, n)
		}
	}
}

func TestShadow(t *testing.T) {
	var logged bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
	defer slog.SetDefault(before)

	answers := func(healthy string) http.HandlerFunc {
		return constant(`{"response":{"uid":"1","successful":true,"healthy":` + healthy + `}}`)
	}
	shadow := NewShadow(target(t, answers("false")))
	f := &Function{Name: "F", Stable: target(t, answers("true")), Shadow: shadow, ShadowPercent: 50}
	for i := range 100 {
		if w := ask(f, "", question1(fmt.Sprint(i))); !strings.Contains(w.Body.String(), `"healthy":true`) {
			t.Fatal(w.Body)
		}
		waitFor(t, shadow, func() bool { return shadow.waiting == 0 })
	}
	counts := shadow.Counts()
	if counts.Compared != counts.Differed || counts.Compared < 30 || counts.Compared > 70 || counts.Failed != 0 || counts.Dropped != 0 {
		t.Errorf("%+v", counts)
	}
	if log := logged.String(); strings.Count(log, "\n") != 1 ||
		!strings.Contains(log, "function=F") || !strings.Contains(log, "operation=InterpretHealth namespace=d name=n uid=1 differences=1 at=[/healthy]") {
		t.Errorf("the log says %q", log)
	}
}

func waitFor(t *testing.T, s *Shadow, condition func() bool) {
	t.Helper()
	for range 5000 {
		s.mu.Lock()
		is := condition()
		s.mu.Unlock()
		if is {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("it does not come")
}

// TestShadowHangs has a shadow that answers nothing: requests are answered, and what it has no room for is dropped.
func TestShadowHangs(t *testing.T) {
	release := make(chan struct{})
	shadow := NewShadow(target(t, func(http.ResponseWriter, *http.Request) { <-release }))
	defer close(release)
	f := &Function{Name: "F", Stable: target(t, constant("{}")), Shadow: shadow, ShadowPercent: 100}
	for i := range maxShadows + 30 {
		if w := ask(f, "?timeout=1s", question1(fmt.Sprint(i))); w.Code != 200 {
			t.Fatalf("HTTP %d: %s", w.Code, w.Body)
		}
	}
	if counts := shadow.Counts(); counts != (Counts{Dropped: 30}) {
		t.Errorf("%+v", counts)
	}
	large := strings.Replace(question1("a"), `"n"`, `"`+strings.Repeat("n", 6<<20)+`"`, 1)
	shadow = NewShadow(shadow.target)
	f.Shadow = shadow
	for range 6 {
		if w := ask(f, "?timeout=5s", large); w.Code != 200 {
			t.Fatalf("HTTP %d: %s", w.Code, w.Body)
		}
	}
	if counts := shadow.Counts(); counts != (Counts{Dropped: 1}) {
		t.Errorf("%+v", counts)
	}
}
