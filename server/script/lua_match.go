package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The patterns of C Lua 5.1 (lstrlib.c), with an eye on how long they take.

const (
	maxCaptures = 32
	capOpen     = -1
	capPosition = -2
	// maxMatchDepth bounds the recursion; C Lua's is bounded by its stack only.
	maxMatchDepth = 200_000
	// matchSteps is how many steps count as one call of the hook.
	matchSteps = 20_000
)

type matcher struct {
	L        *lua.LState
	src, pat string
	level    int
	depth    int
	steps    int
	captures [maxCaptures]struct{ at, len int }
}

func (m *matcher) fail(format string, args ...any) { raise(m.L, format, args...) }

// match matches the pattern from p at s and returns the end, or -1.
func (m *matcher) match(s, p int) int {
	if m.depth++; m.depth > maxMatchDepth {
		m.fail("pattern too complex")
	}
	defer func() { m.depth-- }()
	for {
		if m.steps++; m.steps >= matchSteps {
			m.steps = 0
			stopped(m.L)
		}
		if p == len(m.pat) {
			return s
		}
		switch m.pat[p] {
		case '(':
			if p+1 < len(m.pat) && m.pat[p+1] == ')' {
				return m.start(s, p+2, capPosition)
			}
			return m.start(s, p+1, capOpen)
		case ')':
			return m.end(s, p+1)
		case '%':
			end, next, special := m.special(s, p)
			if special {
				if end < 0 {
					return -1
				}
				s, p = end, next
				continue
			}
		case '$':
			if p+1 == len(m.pat) {
				if s == len(m.src) {
					return s
				}
				return -1
			}
		}
		ep := m.classEnd(p)
		fits := s < len(m.src) && m.single(m.src[s], p, ep)
		if ep < len(m.pat) && strings.IndexByte("?*+-", m.pat[ep]) >= 0 {
			if m.pat[ep] != '?' {
				return m.repeated(s, p, ep, fits)
			}
			if fits {
				if end := m.match(s+1, ep+1); end >= 0 {
					return end
				}
			}
			p = ep + 1
			continue
		}
		if !fits {
			return -1
		}
		s, p = s+1, ep
	}
}

// repeated matches a class with '*', '+' or '-' behind it.
func (m *matcher) repeated(s, p, ep int, fits bool) int {
	switch m.pat[ep] {
	case '*':
		return m.most(s, p, ep)
	case '-':
		return m.least(s, p, ep)
	}
	if !fits {
		return -1
	}
	return m.most(s+1, p, ep)
}

// special matches %b, %f and %1 to %9 at p, and says where to go on in the text
// and in the pattern.
func (m *matcher) special(s, p int) (end, next int, ok bool) {
	if p+1 >= len(m.pat) {
		return 0, 0, false
	}
	switch c := m.pat[p+1]; {
	case c == 'b':
		return m.balance(s, p+2), p + 4, true
	case c == 'f':
		end, next = m.frontier(s, p+2)
		return end, next, true
	case '0' <= c && c <= '9':
		return m.back(s, c), p + 2, true
	}
	return 0, 0, false
}

// frontier matches the empty string where the set at p begins to hold.
func (m *matcher) frontier(s, p int) (end, next int) {
	if p >= len(m.pat) || m.pat[p] != '[' {
		m.fail("missing '[' after '%%f' in pattern")
	}
	ep := m.classEnd(p)
	before, here := byte(0), byte(0)
	if s > 0 {
		before = m.src[s-1]
	}
	if s < len(m.src) {
		here = m.src[s]
	}
	if m.inSet(before, p, ep-1) || !m.inSet(here, p, ep-1) {
		return -1, ep
	}
	return s, ep
}

func (m *matcher) most(s, p, ep int) int {
	i := 0
	for s+i < len(m.src) && m.single(m.src[s+i], p, ep) {
		i++
	}
	for ; i >= 0; i-- {
		if end := m.match(s+i, ep+1); end >= 0 {
			return end
		}
	}
	return -1
}

func (m *matcher) least(s, p, ep int) int {
	for {
		if end := m.match(s, ep+1); end >= 0 {
			return end
		}
		if s >= len(m.src) || !m.single(m.src[s], p, ep) {
			return -1
		}
		s++
	}
}

func (m *matcher) start(s, p, what int) int {
	if m.level >= maxCaptures {
		m.fail("too many captures")
	}
	m.captures[m.level].at, m.captures[m.level].len = s, what
	m.level++
	end := m.match(s, p)
	if end < 0 {
		m.level--
	}
	return end
}

func (m *matcher) end(s, p int) int {
	l := -1
	for i := m.level - 1; i >= 0; i-- {
		if m.captures[i].len == capOpen {
			l = i
			break
		}
	}
	if l < 0 {
		m.fail("invalid pattern capture")
	}
	m.captures[l].len = s - m.captures[l].at
	end := m.match(s, p)
	if end < 0 {
		m.captures[l].len = capOpen
	}
	return end
}

func (m *matcher) balance(s, p int) int {
	if p+1 >= len(m.pat) {
		m.fail("unbalanced pattern")
	}
	if s >= len(m.src) || m.src[s] != m.pat[p] {
		return -1
	}
	open, shut, depth := m.pat[p], m.pat[p+1], 1
	for i := s + 1; i < len(m.src); i++ {
		switch m.src[i] {
		case shut:
			if depth--; depth == 0 {
				return i + 1
			}
		case open:
			depth++
		}
	}
	return -1
}

// back matches what capture c has matched.
func (m *matcher) back(s int, c byte) int {
	l := int(c) - '1'
	if l < 0 || l >= m.level || m.captures[l].len == capOpen {
		m.fail("invalid capture index")
	}
	text := m.src[m.captures[l].at : m.captures[l].at+max(m.captures[l].len, 0)]
	if strings.HasPrefix(m.src[s:], text) {
		return s + len(text)
	}
	return -1
}

// classEnd returns where the single-character class at p ends.
func (m *matcher) classEnd(p int) int {
	c := m.pat[p]
	p++
	switch c {
	case '%':
		if p >= len(m.pat) {
			m.fail("malformed pattern (ends with '%%')")
		}
		return p + 1
	case '[':
		if p < len(m.pat) && m.pat[p] == '^' {
			p++
		}
		for first := true; first || p >= len(m.pat) || m.pat[p] != ']'; first = false {
			if p >= len(m.pat) {
				m.fail("malformed pattern (missing ']')")
			}
			if m.pat[p] == '%' {
				p++
			}
			p++
		}
		return p + 1
	}
	return p
}

func (m *matcher) single(c byte, p, ep int) bool {
	switch m.pat[p] {
	case '.':
		return true
	case '%':
		return inClass(c, m.pat[p+1])
	case '[':
		return m.inSet(c, p, ep-1)
	}
	return m.pat[p] == c
}

// inSet says whether c is in the set that begins at p and whose ']' is at end.
func (m *matcher) inSet(c byte, p, end int) bool {
	in := true
	if m.pat[p+1] == '^' {
		in = false
		p++
	}
	for p++; p < end; p++ {
		switch {
		case m.pat[p] == '%':
			p++
			if p < len(m.pat) && inClass(c, m.pat[p]) {
				return in
			}
		case p+2 < end && m.pat[p+1] == '-':
			if m.pat[p] <= c && c <= m.pat[p+2] {
				return in
			}
			p += 2
		case m.pat[p] == c:
			return in
		}
	}
	return !in
}

func inClass(c, class byte) bool {
	in := false
	switch class | 0x20 {
	case 'a':
		in = isAlpha(c)
	case 'c':
		in = c < 32 || c == 127
	case 'd':
		in = isNumeral(c)
	case 'l':
		in = 'a' <= c && c <= 'z'
	case 'p':
		in = 32 < c && c < 127 && !isAlpha(c) && !isNumeral(c)
	case 's':
		in = c == ' ' || 9 <= c && c <= 13
	case 'u':
		in = 'A' <= c && c <= 'Z'
	case 'w':
		in = isAlpha(c) || isNumeral(c)
	case 'x':
		in = isNumeral(c) || 'a' <= c|0x20 && c|0x20 <= 'f'
	case 'z':
		in = c == 0
	default:
		return class == c
	}
	if !isAlpha(class) {
		return class == c
	}
	if class&0x20 == 0 {
		return !in
	}
	return in
}

func isAlpha(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isNumeral(c byte) bool { return '0' <= c && c <= '9' }

// capture returns capture i, or the whole match if there are no captures.
func (m *matcher) capture(i, start, end int) lua.LValue {
	if i >= m.level {
		if i != 0 {
			m.fail("invalid capture index")
		}
		return lua.LString(m.src[start:end])
	}
	switch c := m.captures[i]; c.len {
	case capOpen:
		m.fail("unfinished capture")
		return lua.LNil
	case capPosition:
		return lua.LNumber(c.at + 1)
	default:
		return lua.LString(m.src[c.at : c.at+c.len])
	}
}

// pushCaptures pushes all captures, the whole match if there are none and it is
// wanted (start is not negative).
func (m *matcher) pushCaptures(start, end int) int {
	n := m.level
	if n == 0 && start >= 0 {
		n = 1
	}
	for i := range n {
		m.L.Push(m.capture(i, start, end))
	}
	return n
}
