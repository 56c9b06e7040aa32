// Package remote asks functions that run elsewhere, behind a URL.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"interpreter-functions/shared/interpreter"
)

const (
	// maxAnswer bounds what is read of an answer: a patch may replace all of an object of etcd's limit of 1.5 MiB.
	maxAnswer = interpreter.DefaultMaxBody
	// firstPause and lastPause bound the time between two tries, which doubles from one to the next.
	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// Target is one version of a function, behind a URL. It keeps connections of its own, so that one that hangs takes
// none away from others.
type Target struct {
	url         *url.URL
	connections *connections
}

// NewTarget returns the target behind an http or https URL, which is asked by POST as it is, over HTTP/1.1.
func NewTarget(u *url.URL) *Target { return &Target{u, newConnections(u)} }

// Close lets go of the connections that are not in use.
func (t *Target) Close() { t.connections.close() }

// reply is what a target answered, whole.
type reply struct {
	code   int
	header http.Header
	body   []byte
}

func (a *reply) write(w http.ResponseWriter) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.code)
	// A caller that is gone cannot be told.
	_, _ = w.Write(a.body)
}

// question is a request that may be sent more than once.
type question struct {
	header http.Header
	query  url.Values
	body   []byte
}

func newQuestion(r *http.Request, body []byte) *question {
	q := &question{withoutHop(r.Header), r.URL.Query(), body}
	// What is not asked for is not compressed, and an answer is passed on as it came.
	q.header.Del("Accept-Encoding")
	q.header.Del("Content-Length")
	return q
}

// ask asks until there is an answer other than that the target is not there: functions are pure, so asking twice does
// no harm. The error is why the last try failed that ctx left the time for; it matches ctx.Err() if there was none.
func (t *Target) ask(ctx context.Context, q *question) (*reply, error) {
	var reason error
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		a, err := t.try(ctx, q)
		switch {
		case err == nil && !unavailable(a.code):
			return a, nil
		case errors.Is(err, errTooLong):
			return nil, err
		case err == nil:
			reason = fmt.Errorf("HTTP %d %s", a.code, strings.TrimSpace(string(a.body[:min(len(a.body), 200)])))
		case ctx.Err() == nil || reason == nil:
			reason = err
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, reason
		}
	}
}

// unavailable says whether a code is what proxies and servers answer with on behalf of a function that is not there.
func unavailable(code int) bool {
	return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
}

func (t *Target) try(ctx context.Context, q *question) (*reply, error) {
	u := *t.url
	if deadline, ok := ctx.Deadline(); ok {
		left := max(time.Until(deadline), time.Millisecond).Truncate(time.Millisecond)
		q.query.Set("timeout", left.String())
		u.RawQuery = q.query.Encode()
	}
	getBody := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }
	r := &http.Request{
		Method: http.MethodPost, URL: &u, Host: u.Host, Header: q.header,
		GetBody: getBody, ContentLength: int64(len(q.body)),
		ProtoMajor: 1, ProtoMinor: 1,
	}
	r.Body, _ = getBody()
	a := &reply{}
	return a, t.connections.roundTrip(ctx, r, a.read)
}

func (a *reply) read(res *http.Response) error {
	body := bytes.NewBuffer(make([]byte, 0, min(max(res.ContentLength, 0), 64<<10)+bytes.MinRead))
	switch _, err := body.ReadFrom(io.LimitReader(res.Body, maxAnswer+1)); {
	case err != nil:
		return fmt.Errorf("the answer was cut off: %w", err)
	case body.Len() > maxAnswer:
		return errTooLong
	}
	header := withoutHop(res.Header)
	header.Del("Date") // the server that passes it on writes its own
	*a = reply{res.StatusCode, header, body.Bytes()}
	return nil
}

var errTooLong = fmt.Errorf("its answer has more than %d bytes", maxAnswer)

// hop are the headers that are for one connection and not for what is behind it (RFC 9110, section 7.6.1).
var hop = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade",
}

func withoutHop(header http.Header) http.Header {
	passed := maps.Clone(header) // whose lists nobody changes
	for _, list := range header["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			passed.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range hop {
		delete(passed, name)
	}
	return passed
}
