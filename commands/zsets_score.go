package commands

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

// exactDigits is how many decimal digits every integer may have that a double
// holds exactly.
const exactDigits = 15

// parseScore is ParseFloat, without memory for the numbers that most scores
// are: up to 15 digits with a point somewhere. Digits and power of ten are then
// both exact as doubles, and so their quotient is the nearest one (Clinger,
// "How to Read Floating Point Numbers Accurately", PLDI 1990).
func parseScore(b []byte) (float64, bool) {
	digits := b
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits = b[1:]
	}
	if len(digits) > exactDigits+1 {
		return ParseFloat(b)
	}
	n, scale, ok := exactDecimal(digits)
	if !ok || n == 0 {
		return ParseFloat(b)
	}
	if negative {
		n = -n
	}
	return float64(n) / scale, true
}

// exactDecimal reads up to exactDigits digits as n/scale.
func exactDecimal(b []byte) (n int64, scale float64, ok bool) {
	point, seen := false, 0
	scale = 1
	for _, d := range b {
		if d == '.' && !point {
			point = true
			continue
		}
		if d < '0' || d > '9' {
			return 0, 0, false
		}
		n = n*10 + int64(d-'0')
		seen++
		if point {
			scale *= 10
		}
	}
	return n, scale, 0 < seen && seen <= exactDigits
}

// A scoreBound is one end of a range of scores.
type scoreBound struct {
	score float64
	open  bool // the score itself is outside
}

func parseScoreBound(b []byte) (bound scoreBound, ok bool) {
	if len(b) > 0 && b[0] == '(' {
		bound.open = true
		b = b[1:]
	}
	if bound.score, ok = parseScore(b); !ok {
		bound.score, ok = parseCFloat(b)
	}
	return bound, ok
}

// parseCFloat reads a double as strtod does, so as Redis reads the ends of
// ranges: nothing at all is 0, white space may stand in front, what is too big
// is infinite, and a NUL ends it.
func parseCFloat(b []byte) (float64, bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 {
		return 0, true
	}
	for len(b) > 0 && isCSpace(b[0]) {
		b = b[1:]
	}
	lit, ok := scanFloat(b)
	if !ok {
		return 0, false
	}
	if lit.inf {
		return math.Inf(lit.sign()), true
	}
	s := string(b)
	if lit.hex && !lit.hasExp {
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil || errors.Is(err, strconv.ErrRange)
}

// A lexBound is one end of a range of members: before or after all, or a
// member, which is inside or not.
type lexBound struct {
	end    int // -1: before all; 1: after all; 0: member says
	member []byte
	open   bool
}

func parseLexBound(b []byte) (bound lexBound, ok bool) {
	if len(b) == 0 {
		return bound, false
	}
	alone := len(b) == 1 || b[1] == 0 // a NUL ends it in Redis
	switch b[0] {
	case '-':
		return lexBound{end: -1}, alone
	case '+':
		return lexBound{end: 1}, alone
	case '(':
		return lexBound{member: b[1:], open: true}, true
	case '[':
		return lexBound{member: b[1:]}, true
	}
	return bound, false
}
