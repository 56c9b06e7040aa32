package remote

import (
	"context"
	"log/slog"
	"sync"
	"time"

	configv1alpha1 "github.com/karmada-io/api/config/v1alpha1"

	"interpreter-functions/shared/answer"
	"interpreter-functions/shared/codec"
)

const (
	// maxShadows and maxShadowBytes bound what waits for the answers of a shadow; what is more is dropped.
	maxShadows     = 64
	maxShadowBytes = 32 << 20
	// shadowTimeout is how long a shadow may take: long enough to start from zero.
	shadowTimeout = 30 * time.Second
	// maxPlaces bounds the places of a difference that are logged.
	maxPlaces = 10
)

// Shadow asks another version of a function what was asked already, and counts how often Karmada would take something
// else from its answers. It does so beside the requests: a shadow that is slow or down costs them nothing.
type Shadow struct {
	target *Target
	log    sometimes

	mu           sync.Mutex
	waiting      int
	waitingBytes int
	counts       Counts
}

// NewShadow returns the shadow at a target.
func NewShadow(target *Target) *Shadow { return &Shadow{target: target} }

// Counts are numbers of requests since the shadow was made.
type Counts struct {
	// Compared were answered by the shadow; from Differed of these Karmada would take something else.
	Compared, Differed int
	// Failed were not answered by the shadow, Dropped were not asked, since too many waited.
	Failed, Dropped int
}

// Counts returns how the shadow has done so far.
func (s *Shadow) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.counts
}

// follow asks the shadow in the background and compares its answer with the one that was given.
func (s *Shadow) follow(function string, q *question, given *reply) {
	size := len(q.body) + len(given.body)
	if !s.enter(size) {
		return
	}
	go func() {
		defer s.leave(size)
		ctx, cancel := context.WithTimeout(context.Background(), shadowTimeout)
		defer cancel()
		got, err := s.target.ask(ctx, q)
		if err != nil {
			s.count(func(c *Counts) { c.Failed++ })
			return
		}
		s.compare(function, q, given, got)
	}()
}

func (s *Shadow) enter(size int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting >= maxShadows || s.waitingBytes+size > maxShadowBytes {
		s.counts.Dropped++
		return false
	}
	s.waiting++
	s.waitingBytes += size
	return true
}

func (s *Shadow) leave(size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting--
	s.waitingBytes -= size
}

func (s *Shadow) count(change func(*Counts)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.counts)
}

// compare counts and logs it if Karmada would take something else from what the shadow answered.
func (s *Shadow) compare(function string, q *question, given, got *reply) {
	envelope, err := codec.Decode[configv1alpha1.ResourceInterpreterContext](q.body)
	if err != nil || envelope.Request == nil {
		s.count(func(c *Counts) { c.Compared++ }) // refused by both: there is nothing to take from an answer to this
		return
	}
	difference := differs(envelope.Request, given, got)
	s.count(func(c *Counts) {
		c.Compared++
		if difference != nil {
			c.Differed++
		}
	})
	if difference != nil && s.log.now() {
		// What is different is the operator's to look up: contents of objects have no place in a log.
		slog.Warn("the shadow answers differently", append([]any{
			"function", function, "shadow", s.target.url.String(), "operation", envelope.Request.Operation,
			"namespace", envelope.Request.Namespace, "name", envelope.Request.Name, "uid", envelope.Request.UID,
		}, difference...)...)
	}
}

// sometimes says yes once a second, which keeps what is asked often from filling the log.
type sometimes struct {
	mu  sync.Mutex
	was time.Time
}

func (s *sometimes) now() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.was) < time.Second {
		return false
	}
	s.was = time.Now()
	return true
}

// differs says, as attributes of a log line, in what two answers differ for Karmada; nil if in nothing. Of two
// failures Karmada makes the same.
func differs(request *configv1alpha1.ResourceInterpreterRequest, given, got *reply) []any {
	left, givenErr := answer.Read(request, given.code, given.body)
	right, gotErr := answer.Read(request, got.code, got.body)
	switch {
	case givenErr != nil && gotErr != nil:
		return nil
	case givenErr != nil:
		return []any{"difference", "only the shadow succeeded"}
	case gotErr != nil:
		return []any{"difference", "only the shadow failed"}
	}
	places, err := answer.Differences(left, right)
	switch {
	case err != nil:
		return []any{"difference", "the answers cannot be compared"}
	case len(places) == 0:
		return nil
	}
	return []any{"differences", len(places), "at", places[:min(len(places), maxPlaces)]}
}
