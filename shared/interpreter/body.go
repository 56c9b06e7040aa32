package interpreter

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultMaxBody is the number of bytes that a request body may have: room for the two objects of a Retain at etcd's
// limit of 1.5 MiB each, and for the statuses of thousands of clusters.
const DefaultMaxBody = 8 << 20

// setAside is how many bytes are set aside for a body before any has come.
const setAside = 64 << 10

// MaxBody lets request bodies to next have up to limit bytes instead of DefaultMaxBody.
func MaxBody(limit int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, withBody(r, &limitedBody{r.Body, limit}))
	})
}

type limitedBody struct {
	io.ReadCloser
	limit int64
}

// readBody is a body that is in memory as a whole; whoever wants it as a stream can read it as one.
type readBody struct {
	bytes.Reader
	data []byte
}

func (*readBody) Close() error { return nil }

func withBody(r *http.Request, body io.ReadCloser) *http.Request {
	r2 := *r
	r2.Body = body
	return &r2
}

// WithBody returns r with a body that was read from it, so that ReadBody need not read it again.
func WithBody(r *http.Request, body []byte) *http.Request {
	b := &readBody{data: body}
	b.Reset(body)
	return withBody(r, b)
}

// ReadBody reads the body of a POST of JSON. Its errors are of 405 (not a POST), 415 (not JSON), 413 (too large) and
// 400 (cut off).
func ReadBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if b, ok := r.Body.(*readBody); ok {
		return b.data, nil
	}
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return nil, StatusError(http.StatusMethodNotAllowed, metav1.StatusReasonMethodNotAllowed,
			"the method is %s: ask by POST", r.Method)
	}
	mediaType, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(mediaType), "application/json") {
		return nil, StatusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the Content-Type is %q: send application/json", r.Header.Get("Content-Type"))
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, StatusError(http.StatusUnsupportedMediaType, metav1.StatusReasonUnsupportedMediaType,
			"the Content-Encoding is %q: send the body as it is", encoding)
	}
	limit := int64(DefaultMaxBody)
	if b, ok := r.Body.(*limitedBody); ok {
		limit = b.limit
	}
	return readAll(w, r, limit)
}

func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	tooLarge := func() error {
		return StatusError(http.StatusRequestEntityTooLarge, metav1.StatusReasonRequestEntityTooLarge,
			"the body has more than %d bytes", limit)
	}
	if r.ContentLength > limit {
		return nil, tooLarge()
	}
	if 0 <= r.ContentLength && r.ContentLength <= setAside {
		body := make([]byte, r.ContentLength)
		if n, err := io.ReadFull(r.Body, body); err != nil {
			return nil, cutOff(n, err)
		}
		return body, nil
	}
	// A client can announce more than it sends: what is set aside grows with what has come.
	buffer := bytes.NewBuffer(make([]byte, 0, min(max(r.ContentLength, 0)+bytes.MinRead, setAside)))
	_, err := buffer.ReadFrom(http.MaxBytesReader(w, r.Body, limit))
	var exceeded *http.MaxBytesError
	switch {
	case errors.As(err, &exceeded):
		return nil, tooLarge()
	case err != nil:
		return nil, cutOff(buffer.Len(), err)
	}
	return buffer.Bytes(), nil
}

func cutOff(after int, err error) error {
	return BadRequest("the body was cut off after %d bytes: %v", after, err)
}
