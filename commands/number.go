package commands

import (
	"math"
	"strconv"
	"strings"
)

// maxIntLen is the longest decimal of 64 bits, sign included.
const maxIntLen = 20

// ParseInt reads a signed decimal as Redis reads integer arguments and values:
// the only accepted form of a number is the one AppendInt prints. So "+1",
// "01", "-0", " 1" and "" are no integers.
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	if len(b) == 0 || len(b) > maxIntLen {
		return 0, false
	}
	digits, limit := b, uint64(math.MaxInt64)
	negative := b[0] == '-'
	if negative {
		digits, limit = b[1:], uint64(math.MaxInt64)+1
	}
	if len(digits) == 0 || digits[0] == '0' {
		return 0, false
	}
	v, ok := parseDigits(digits)
	if !ok || v > limit {
		return 0, false
	}
	if negative {
		return int64(-v), true
	}
	return int64(v), true
}

// parseDigits reads one or more digits that fit in 64 bits.
func parseDigits(b []byte) (uint64, bool) {
	var v uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > math.MaxUint64/10 {
			return 0, false
		}
		v *= 10
		if v > math.MaxUint64-d {
			return 0, false
		}
		v += d
	}
	return v, len(b) > 0
}

// ParseUint reads an unsigned decimal as Redis reads stream ids and module
// numbers. It is as lax as strtoull: white space and a sign may stand in
// front, zeros may lead. What ParseInt accepts must not be negative; any other
// negative number ("-07", " -7") wraps around, as it does there.
func ParseUint(b []byte) (uint64, bool) {
	if v, ok := ParseInt(b); ok {
		return uint64(v), v >= 0
	}
	for len(b) > 0 && isCSpace(b[0]) {
		b = b[1:]
	}
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	v, ok := parseDigits(b)
	if negative {
		v = -v
	}
	return v, ok
}

// AppendInt appends v in the one form that ParseInt reads.
func AppendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// ParseYesNo reads the two words of Redis's boolean options, in any case.
func ParseYesNo(b []byte) (value, ok bool) {
	yes := foldEqual(b, "yes")
	return yes, yes || foldEqual(b, "no")
}

// ParseFloat reads a double as Redis reads scores and increments: all that
// strtod reads (decimal and hexadecimal, "inf" and "infinity" in any case),
// with nothing before or after it, except NaN and what is too big or too small
// for a double, which are refused.
func ParseFloat(b []byte) (float64, bool) {
	lit, ok := scanFloat(b)
	if !ok {
		return 0, false
	}
	if lit.inf {
		return math.Inf(lit.sign()), true
	}
	s := string(b)
	if lit.hex && !lit.hasExp {
		s += "p0" // strconv insists on it, strtod doesn't
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f == 0 && !lit.isZero() {
		return 0, false
	}
	return f, true
}

// AppendDouble appends f as Redis prints a double in a reply: "%.17g", so that
// 0.1 is 0.10000000000000001.
func AppendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "nan"...)
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f > -plainRange && f < plainRange && f == math.Trunc(f) && f != 0:
		return strconv.AppendInt(dst, int64(f), 10) // the same, sooner
	}
	return strconv.AppendFloat(dst, f, 'g', 17, 64)
}

// plainRange bounds the integers that "%.17g" prints without an exponent.
const plainRange = 1e17

// intRange bounds the doubles that AppendFloat prints as integers: 2^62.
const intRange = 1 << 62

// AppendFloat appends f as Redis stores a double in a compact collection or a
// file: an integer of up to 2^62 in full, anything else as AppendDouble.
func AppendFloat(dst []byte, f float64) []byte {
	if f == 0 || !(f >= -intRange && f <= intRange) || f != math.Trunc(f) {
		return AppendDouble(dst, f)
	}
	return strconv.AppendInt(dst, int64(f), 10)
}

// floatLiteral is a number as it was written, taken apart but not yet
// converted. It is what ParseFloat and ParseFloat80 share: the grammar of
// strtod in the C locale.
type floatLiteral struct {
	negative bool
	inf      bool
	hex      bool
	hasExp   bool
	digits   []byte // mantissa without its point and without leading zeros
	fraction int    // how many of the mantissa's digits stood after the point
	exp      int    // the written exponent, clamped to ±expLimit
}

// expLimit is beyond any exponent that could matter, and leaves room to add
// to it without overflow.
const expLimit = 1 << 30

func (l *floatLiteral) sign() int {
	if l.negative {
		return -1
	}
	return 1
}

func (l *floatLiteral) isZero() bool { return !l.inf && len(l.digits) == 0 }

// scanFloat takes b apart; false if b as a whole is not a number. NaN isn't.
func scanFloat(b []byte) (floatLiteral, bool) {
	var l floatLiteral
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		l.negative = b[0] == '-'
		b = b[1:]
	}
	if isInfinityWord(b) {
		l.inf = true
		return l, true
	}
	marker := byte('e')
	if len(b) > 1 && b[0] == '0' && lowerByte(b[1]) == 'x' {
		l.hex, marker = true, 'p'
		b = b[2:]
	}
	rest, ok := l.scanMantissa(b)
	if !ok {
		return l, false
	}
	if len(rest) == 0 {
		return l, true
	}
	return l, lowerByte(rest[0]) == marker && l.scanExponent(rest[1:])
}

// scanMantissa returns what follows the mantissa; false if there is no digit.
func (l *floatLiteral) scanMantissa(b []byte) (rest []byte, ok bool) {
	l.digits = make([]byte, 0, len(b))
	point, seen := false, false
	for i, c := range b {
		if c == '.' && !point {
			point = true
			continue
		}
		if !isFloatDigit(c, l.hex) {
			return b[i:], seen
		}
		seen = true
		if point {
			l.fraction++
		}
		if c != '0' || len(l.digits) > 0 {
			l.digits = append(l.digits, c)
		}
	}
	return nil, seen
}

// scanExponent reads what stands after the "e" or "p"; it must be all digits
// after an optional sign, at least one of them.
func (l *floatLiteral) scanExponent(b []byte) bool {
	l.hasExp = true
	negative := len(b) > 0 && b[0] == '-'
	if negative || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	for _, c := range b {
		if !isFloatDigit(c, false) {
			return false
		}
		l.exp = min(l.exp*10+int(c-'0'), expLimit)
	}
	if negative {
		l.exp = -l.exp
	}
	return len(b) > 0
}

// foldEqual compares in ASCII only: equal lengths leave no room for the
// letters outside of it that Unicode folds into it.
func foldEqual(b []byte, word string) bool {
	return len(b) == len(word) && strings.EqualFold(string(b), word)
}

func isInfinityWord(b []byte) bool {
	return foldEqual(b, "inf") || foldEqual(b, "infinity")
}

func isFloatDigit(c byte, hex bool) bool {
	return '0' <= c && c <= '9' || hex && 'a' <= lowerByte(c) && lowerByte(c) <= 'f'
}

func isCSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
