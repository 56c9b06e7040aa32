package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// load is how a server is asked.
type load struct {
	url         string
	body        []byte
	http2       bool
	concurrency int
	duration    time.Duration
}

// result is what came of it.
type result struct {
	requests int
	elapsed  time.Duration
	p50, p99 time.Duration
	answer   []byte
}

func client(roots *x509.CertPool, http2 bool, connections int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:   http2,
		MaxIdleConnsPerHost: connections,
		DisableCompression:  true,
	}}
}

func post(ctx context.Context, c *http.Client, url string, body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	res, err := c.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %.300s", res.StatusCode, answer)
	}
	return answer, err
}

// run asks as long as it is to, by as many at a time. Every answer must be the same.
func (l load) run(ctx context.Context, roots *x509.CertPool) (result, error) {
	c := client(roots, l.http2, l.concurrency)
	defer c.CloseIdleConnections()
	first, err := post(ctx, c, l.url, l.body)
	if err != nil {
		return result{}, err
	}
	var mu sync.Mutex
	var times []time.Duration
	var failed error
	var asking sync.WaitGroup
	started := time.Now()
	for range l.concurrency {
		asking.Go(func() {
			var own []time.Duration
			var err error
			for err == nil && time.Since(started) < l.duration {
				before := time.Now()
				var answer []byte
				answer, err = post(ctx, c, l.url, l.body)
				own = append(own, time.Since(before))
				if err == nil && !bytes.Equal(answer, first) {
					err = fmt.Errorf("two answers to one question: %.300s and %.300s", first, answer)
				}
			}
			mu.Lock()
			defer mu.Unlock()
			times = append(times, own...)
			if err != nil {
				failed = err
			}
		})
	}
	asking.Wait()
	elapsed := time.Since(started)
	slices.Sort(times)
	return result{len(times), elapsed, times[len(times)/2], times[len(times)*99/100], first}, failed
}
