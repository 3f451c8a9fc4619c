package scan

import "bytes"

// A Glob is a compiled pattern. It never changes after Compile, may be shared by goroutines, and keeps no reference to the
// bytes it was compiled from.
//
// The pattern is cut at its stars into segments, each of a fixed number of elements that take one byte each. The first
// segment is anchored to the start of the string, the last one to its end, and of those between each takes the leftmost
// place that is free: a later place for an earlier segment only leaves less to the ones behind it, so nothing is ever
// tried twice (the "skip longer matches" of Redis, without the recursion).
type Glob struct {
	shape  shape
	all    bool
	star   bool      // at least one star: what the segments leave over is matched too
	min    int       // length of the shortest string that matches
	lit    []byte    // what the simple shapes look for
	prefix []byte    // what every string that matches begins with
	head   segment   // before the first star
	mids   []segment // between stars, empty ones dropped
	tail   segment   // after the last star
	sets   []byteSet // the classes that elements refer to, each different one once
}

// shape names the patterns that one search answers.
type shape uint8

const (
	general  shape = iota
	exact          // lit
	prefixed       // lit*
	suffixed       // *lit
	contains       // *lit*
)

// A segment is a run of elements without a star: literal bytes alone (then elems is nil) or a mixture.
type segment struct {
	lit   []byte
	elems []elem
}

// An elem takes one byte of the string. Below anyByte it is that byte; above it, the class sets[e-anyByte-1].
type elem uint32

const anyByte elem = 256

// Compile compiles a pattern. There is no bad pattern: as in Redis, an unclosed class ends with the pattern and a trailing
// backslash is itself. It takes time and memory in proportion to the pattern.
func Compile(pattern []byte) *Glob { return compile(pattern, false) }

// CompileFold compiles a pattern that does not tell ASCII upper and lower case apart, as CONFIG GET matches names.
func CompileFold(pattern []byte) *Glob { return compile(pattern, true) }

// Match tells whether the whole of s matches. It allocates nothing and does not keep s.
//
// As in Redis an empty string matches the empty pattern only, not even `*`. KEYS and SCAN therefore ask All first: there
// `*` means every key.
func (g *Glob) Match(s []byte) bool {
	if len(s) < g.min || len(s) == 0 && g.star {
		return false
	}
	switch g.shape {
	case exact:
		return bytes.Equal(s, g.lit)
	case prefixed:
		return bytes.HasPrefix(s, g.lit)
	case suffixed:
		return bytes.HasSuffix(s, g.lit)
	case contains:
		return bytes.Contains(s, g.lit)
	}
	return g.matchSegments(s)
}

// MatchString is Match for a string. It copies s, up to 256 bytes without an allocation: enough for names and channels.
func (g *Glob) MatchString(s string) bool {
	var short [256]byte
	return g.Match(append(short[:0], s...))
}

// All tells whether the pattern is exactly `*`, which Redis does not even compare with the keys: unlike for Match, the
// empty key is one of them.
func (g *Glob) All() bool { return g.all }

// Prefix is the literal that every matching string begins with; it may be empty. It belongs to the Glob.
func (g *Glob) Prefix() []byte { return g.prefix }

// Literal is the one string that matches, unescaped, if there is only one; it belongs to the Glob. A pattern compiled with
// CompileFold has one only if no letter is in it.
func (g *Glob) Literal() ([]byte, bool) {
	if g.shape != exact {
		return nil, false
	}
	return g.lit, true
}

func (g *Glob) matchSegments(s []byte) bool {
	head, tail := g.head.len(), g.tail.len()
	if !g.star {
		return len(s) == head && g.matchAt(&g.head, s)
	}
	if !g.matchAt(&g.head, s) || !g.matchAt(&g.tail, s[len(s)-tail:]) {
		return false
	}
	s = s[head : len(s)-tail]
	for i := range g.mids {
		at := g.find(&g.mids[i], s)
		if at < 0 {
			return false
		}
		s = s[at+g.mids[i].len():]
	}
	return true
}

// matchAt compares a segment with the start of s, which must be long enough.
func (g *Glob) matchAt(seg *segment, s []byte) bool {
	if seg.elems == nil {
		return bytes.HasPrefix(s, seg.lit)
	}
	s = s[:len(seg.elems)]
	for i, e := range seg.elems {
		if !g.takes(e, s[i]) {
			return false
		}
	}
	return true
}

// find is the leftmost place of a segment in s, or -1.
func (g *Glob) find(seg *segment, s []byte) int {
	if seg.elems == nil {
		return bytes.Index(s, seg.lit)
	}
	first := seg.elems[0]
	for i := 0; i+len(seg.elems) <= len(s); i++ {
		if first < anyByte {
			skip := bytes.IndexByte(s[i:], byte(first))
			if skip < 0 || i+skip+len(seg.elems) > len(s) {
				return -1
			}
			i += skip
		}
		if g.matchAt(seg, s[i:]) {
			return i
		}
	}
	return -1
}

func (g *Glob) takes(e elem, b byte) bool {
	if e < anyByte {
		return byte(e) == b
	}
	return e == anyByte || g.sets[e-anyByte-1].has(b)
}

func (seg *segment) len() int {
	if seg.elems == nil {
		return len(seg.lit)
	}
	return len(seg.elems)
}
