package remote

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"
)

const (
	// maxConnections bounds the connections to one target that are in use, and so the requests that it is asked at a
	// time; more wait for one of them to be free.
	maxConnections = 128
	// maxIdle is how many of them are kept while nobody asks, and idleTimeout for how long: what five workers for each
	// of a few queues need, and less time than servers keep connections.
	maxIdle     = 32
	idleTimeout = 90 * time.Second
	// dialTimeout is short, since a pod that is gone does not answer at all, and another one may.
	dialTimeout = time.Second
	// handshakeTimeout bounds the TLS handshake, with all of the connection.
	handshakeTimeout = 10 * time.Second
	// maxHeader bounds what is read of an answer besides its body.
	maxHeader = 1 << 20
)

// connections are the HTTP/1.1 connections to one target. A request is written and its answer read by the goroutine
// that asks: http.Transport has two more for each connection, and to wake them costs more than the function does.
type connections struct {
	address string // host:port
	tls     *tls.Config
	open    chan struct{} // an element for each connection in use

	mu     sync.Mutex
	idle   []*connection // the one last used comes last
	closed bool
	timer  *time.Timer // runs while there are idle ones
}

type connection struct {
	net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	limit *io.LimitedReader // what r reads from
	since time.Time         // when it became idle; zero if it is new
	began bool              // an answer to the last request has begun
}

func newConnections(u *url.URL) *connections {
	c := &connections{open: make(chan struct{}, maxConnections)}
	port := u.Port()
	if port == "" {
		port = u.Scheme // a name of the port, as net.Dial takes it
	}
	c.address = net.JoinHostPort(u.Hostname(), port)
	if u.Scheme == "https" {
		c.tls = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
	}
	return c
}

// close lets go of the connections that are not in use, and of the others after use.
func (c *connections) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.closeIdle(len(c.idle))
}

// closeIdle closes the n connections that are idle for the longest time.
func (c *connections) closeIdle(n int) {
	for _, conn := range c.idle[:n] {
		_ = conn.Close()
	}
	c.idle = append([]*connection(nil), c.idle[n:]...)
}

// roundTrip sends a request, which must have GetBody, and hands the answer to read, which must read all of its body. If
// there is no answer on a connection that was idle, the server has closed it: the request is sent on another one.
func (c *connections) roundTrip(ctx context.Context, r *http.Request, read func(*http.Response) error) error {
	select {
	case c.open <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.open }()
	for {
		conn, err := c.get(ctx)
		if err != nil {
			return err
		}
		keep, err := conn.exchange(ctx, r, read)
		if err == nil && keep {
			c.put(conn)
			return nil
		}
		_ = conn.Close()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case conn.since.IsZero() || conn.began:
			return err
		}
		if r.Body, err = r.GetBody(); err != nil {
			return err
		}
	}
}

// get returns a connection that is idle, or a new one.
func (c *connections) get(ctx context.Context) (*connection, error) {
	c.mu.Lock()
	if last := len(c.idle) - 1; last >= 0 {
		conn := c.idle[last]
		c.idle = c.idle[:last]
		c.mu.Unlock()
		return conn, nil
	}
	c.mu.Unlock()

	dialer := &net.Dialer{Timeout: dialTimeout}
	raw, err := dialer.DialContext(ctx, "tcp", c.address)
	if err != nil {
		return nil, err
	}
	if c.tls != nil {
		secured := tls.Client(raw, c.tls)
		handshake, cancel := context.WithTimeout(ctx, handshakeTimeout)
		defer cancel()
		if err := secured.HandshakeContext(handshake); err != nil {
			_ = raw.Close()
			return nil, err
		}
		raw = secured
	}
	limit := &io.LimitedReader{R: raw}
	return &connection{Conn: raw, r: bufio.NewReader(limit), w: bufio.NewWriterSize(raw, 8<<10), limit: limit}, nil
}

// put keeps a connection for the next request, unless there are enough.
func (c *connections) put(conn *connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || len(c.idle) == maxIdle {
		_ = conn.Close()
		return
	}
	conn.since = time.Now()
	c.idle = append(c.idle, conn)
	if c.timer == nil {
		c.timer = time.AfterFunc(idleTimeout, c.expire)
	}
}

// expire closes the connections that nobody has used for long.
func (c *connections) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for n < len(c.idle) && time.Since(c.idle[n].since) >= idleTimeout {
		n++
	}
	c.closeIdle(n)
	c.timer = nil
	if len(c.idle) > 0 {
		c.timer = time.AfterFunc(idleTimeout-time.Since(c.idle[0].since), c.expire)
	}
}

// exchange sends a request and reads the answer. keep says whether another one can follow on the connection.
func (conn *connection) exchange(ctx context.Context, r *http.Request, read func(*http.Response) error) (keep bool, err error) {
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer func() {
		if !stop() {
			keep = false // its deadline is over, or will be in a moment
		}
	}()
	conn.limit.N, conn.began = maxHeader+maxAnswer, false
	unsent := r.Write(conn.w)
	if unsent == nil {
		unsent = conn.w.Flush()
	}
	// A server need not read a request to the end before it answers and closes the connection.
	if _, err := conn.r.Peek(1); err != nil {
		return false, cmp.Or(unsent, err)
	}
	conn.began = true
	res, err := conn.answer(r)
	if err != nil {
		return false, err
	}
	defer res.Body.Close()
	if err := read(res); err != nil {
		return false, err
	}
	// What a server sends unasked belongs to no request.
	return unsent == nil && !res.Close && conn.r.Buffered() == 0, nil
}

// answer reads the answer up to its body, past those that only announce it (RFC 9110, section 15.2).
func (conn *connection) answer(r *http.Request) (*http.Response, error) {
	for {
		res, err := http.ReadResponse(conn.r, r)
		if err != nil || res.StatusCode >= http.StatusOK || res.StatusCode == http.StatusSwitchingProtocols {
			return res, err
		}
	}
}
