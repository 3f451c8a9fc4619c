package server

import (
	"sync"
	"sync/atomic"

	"firn/scan"
)

// prefixMax is how much of a pattern's literal beginning is indexed.
const prefixMax = 32

// patterns are those that somebody is subscribed to, each compiled once. A
// channel is compared only with patterns whose literal beginning it has (cut to
// prefixMax): with 10,000 patterns like user:17:* that is one of them, where
// Redis tries all.
type patterns struct {
	count atomic.Int64
	mu    sync.RWMutex
	// all has the patterns by their text, byPrefix by their beginning, and
	// lengths says how many of them have a beginning of that length.
	all      map[string]*pattern
	byPrefix map[string][]*pattern
	lengths  [prefixMax + 1]int
}

type pattern struct {
	topic
	glob *scan.Glob
}

// prefix is what the pattern is indexed by.
func (p *pattern) prefix() string {
	prefix := p.glob.Prefix()
	return string(prefix[:min(len(prefix), prefixMax)])
}

func newPatterns() patterns {
	return patterns{all: map[string]*pattern{}, byPrefix: map[string][]*pattern{}}
}

func (ps *patterns) add(name string, s *session) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.all[name]
	if p == nil {
		p = &pattern{topic{name: name}, scan.Compile([]byte(name))}
		ps.all[name] = p
		prefix := p.prefix()
		ps.byPrefix[prefix] = append(ps.byPrefix[prefix], p)
		ps.lengths[len(prefix)]++
		ps.count.Add(1)
	}
	p.add(s)
}

func (ps *patterns) remove(name string, s *session) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	p := ps.all[name]
	if !p.remove(s) {
		return
	}
	delete(ps.all, name)
	ps.count.Add(-1)
	prefix := p.prefix()
	ps.lengths[len(prefix)]--
	ps.unindex(prefix, p)
}

func (ps *patterns) unindex(prefix string, p *pattern) {
	same := ps.byPrefix[prefix]
	for i := range same {
		if same[i] == p {
			same[i] = same[len(same)-1]
			same[len(same)-1] = nil
			same = same[:len(same)-1]
			break
		}
	}
	if len(same) == 0 {
		delete(ps.byPrefix, prefix)
		return
	}
	ps.byPrefix[prefix] = same
}

// match calls yield with the patterns that match; the caller has mu.
func (ps *patterns) match(channel []byte, yield func(*topic)) {
	for n := range min(len(channel), prefixMax) + 1 {
		if ps.lengths[n] == 0 {
			continue
		}
		for _, p := range ps.byPrefix[string(channel[:n])] {
			if p.glob.Match(channel) {
				yield(&p.topic)
			}
		}
	}
}
