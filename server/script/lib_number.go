package script

import (
	"errors"
	"strconv"
	"strings"
)

// formatNumber writes a number as C's printf does with %.<precision>g.
func formatNumber(f float64, precision int) string { return string(appendG(nil, f, precision)) }

// parseNumber reads a string as Lua does where a number is expected: space
// around it is allowed, and so is a hexadecimal number.
func parseNumber(s string) (float64, bool) {
	s = cString(strings.TrimLeft(s, space))
	f, n := scanFloat(s)
	if n == 0 {
		return 0, false
	}
	return f, strings.TrimLeft(s[n:], space) == ""
}

const space = " \t\n\v\f\r"

// cString is the part of s that C sees: up to the first zero byte.
func cString(s string) string {
	if i := strings.IndexByte(s, 0); i >= 0 {
		return s[:i]
	}
	return s
}

// scanFloat reads the longest number with which s begins, as C's strtod, and
// returns its length, 0 if there is none.
func scanFloat(s string) (float64, int) {
	sign := signLength(s)
	n := sign + numberLength(s[sign:])
	if n == sign {
		return 0, 0
	}
	text := s[:n]
	if i := strings.IndexByte(text, '('); i >= 0 {
		text = text[:i] // nan(...)
	}
	if isHex(s[sign:]) && !strings.ContainsAny(text, "pP") {
		text += "p0"
	}
	if strings.EqualFold(text[sign:], "nan") {
		text = "nan" // Go's has no sign
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, 0
	}
	return f, n
}

func signLength(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}

func isHex(s string) bool {
	return len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && mantissaLength(s[2:], isHexDigit) > 0
}

// numberLength is the length of an unsigned number at the start of s.
func numberLength(s string) int {
	if hasFold(s, "infinity") {
		return len("infinity")
	}
	if hasFold(s, "inf") {
		return len("inf")
	}
	if hasFold(s, "nan") {
		return len("nan") + payloadLength(s[3:])
	}
	if isHex(s) {
		n := 2 + mantissaLength(s[2:], isHexDigit)
		return n + exponentLength(s[n:], 'p')
	}
	n := mantissaLength(s, isDigit)
	if n == 0 {
		return 0
	}
	return n + exponentLength(s[n:], 'e')
}

func hasFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// payloadLength is that of the "(chars)" which may follow nan.
func payloadLength(s string) int {
	if s == "" || s[0] != '(' {
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == ')':
			return i + 1
		case !isDigit(c) && !isLetter(c) && c != '_':
			return 0
		}
	}
	return 0
}

// mantissaLength is that of digits with at most one point among them.
func mantissaLength(s string, digit func(byte) bool) int {
	n, digits, point := 0, 0, false
	for ; n < len(s); n++ {
		switch {
		case digit(s[n]):
			digits++
		case s[n] == '.' && !point:
			point = true
		default:
			if digits == 0 {
				return 0
			}
			return n
		}
	}
	if digits == 0 {
		return 0
	}
	return n
}

func exponentLength(s string, mark byte) int {
	if s == "" || s[0]|0x20 != mark {
		return 0
	}
	n := 1 + signLength(s[1:])
	first := n
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == first {
		return 0
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHexDigit(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
