package script

import (
	"math"
	"strconv"
	"strings"
)

// appendG writes f as C's "%.<digits>g".
func appendG(buf []byte, f float64, digits int) []byte {
	switch {
	case math.IsNaN(f):
		if math.Signbit(f) {
			return append(buf, "-nan"...)
		}
		return append(buf, "nan"...)
	case math.IsInf(f, 1):
		return append(buf, "inf"...)
	case math.IsInf(f, -1):
		return append(buf, "-inf"...)
	case f == 0:
		if math.Signbit(f) {
			buf = append(buf, '-')
		}
		return append(buf, '0')
	}
	text := strconv.FormatFloat(f, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(text, "e")
	exp, _ := strconv.Atoi(exponent)
	if exp < -4 || exp >= digits {
		buf = append(buf, trimZeros(mantissa)...)
		return append(append(buf, 'e'), exponent...)
	}
	return append(buf, trimZeros(strconv.FormatFloat(f, 'f', digits-1-exp, 64))...)
}

// trimZeros cuts the zeros behind the point off, and the point with them.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// FormatNumber writes a number as Lua's tostring does ("%.14g").
func FormatNumber(f float64) string { return string(appendG(nil, f, 14)) }
