// Command floor is the least that an HTTPS server of this project can cost: it reads a request and answers with as many
// bytes as its path says.
package main

import (
	"bytes"
	"io"
	"net/http"
	"strconv"

	"interpreter-functions/knative"
)

func main() {
	answer := bytes.Repeat([]byte("x"), 1<<20)
	knative.Serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size, err := strconv.Atoi(r.URL.Path[1:])
		if err != nil || size > len(answer) {
			http.Error(w, "the path is the size of the answer", http.StatusBadRequest)
			return
		}
		body := bytes.NewBuffer(make([]byte, 0, max(r.ContentLength, 0)+bytes.MinRead))
		if _, err := body.ReadFrom(r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(size))
		_, _ = io.Copy(w, bytes.NewReader(answer[:size]))
	}))
}
