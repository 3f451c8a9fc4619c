package config

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// parseInt reads a decimal as Redis does where it wants nothing but digits: no blanks, no plus, no leading zeros.
func parseInt(s string) (int64, bool) {
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != s {
		return 0, false
	}
	return v, true
}

// scanInt reads a number as C's strtoll: blanks and a sign first, as many digits as there are. It gives what is left of s.
func scanInt(s string, base uint64) (v int64, rest string, overflow bool) {
	t := strings.TrimLeft(s, " \t\n\v\f\r")
	negative := strings.HasPrefix(t, "-")
	if negative || strings.HasPrefix(t, "+") {
		t = t[1:]
	}
	digits := 0
	for digits < len(t) && t[digits] >= '0' && uint64(t[digits]-'0') < base {
		digits++
	}
	if digits == 0 {
		return 0, s, false
	}
	if negative {
		v, err := strconv.ParseInt("-"+t[:digits], int(base), 64)
		return v, t[digits:], err != nil
	}
	v, err := strconv.ParseInt(t[:digits], int(base), 64)
	return v, t[digits:], err != nil
}

// parseMemory reads a size: digits and a unit. No digits are 0, as in Redis. What doesn't fit is the largest size there is.
func parseMemory(s string) (uint64, bool) {
	digits := 0
	for digits < len(s) && s[digits] >= '0' && s[digits] <= '9' {
		digits++
	}
	unit, ok := memoryUnit(s[digits:])
	if !ok || digits >= 128 {
		return 0, false
	}
	if digits == 0 {
		return 0, true
	}
	v, err := strconv.ParseUint(s[:digits], 10, 64)
	high, low := bits.Mul64(v, unit)
	if err != nil || high != 0 {
		return math.MaxUint64, true
	}
	return low, true
}

func memoryUnit(s string) (uint64, bool) {
	switch strings.ToLower(s) {
	case "", "b":
		return 1, true
	case "k":
		return 1000, true
	case "kb":
		return 1 << 10, true
	case "m":
		return 1000 * 1000, true
	case "mb":
		return 1 << 20, true
	case "g":
		return 1000 * 1000 * 1000, true
	case "gb":
		return 1 << 30, true
	}
	return 0, false
}

// formatMemory writes a size with the largest unit that divides it.
func formatMemory(v int64) string {
	if v != 0 {
		for _, unit := range []struct {
			shift uint
			name  string
		}{{30, "gb"}, {20, "mb"}, {10, "kb"}} {
			if v%(1<<unit.shift) == 0 {
				return strconv.FormatInt(v>>unit.shift, 10) + unit.name
			}
		}
	}
	return strconv.FormatInt(v, 10)
}

// quote writes a word so that splitArgs reads it back.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		quoteByte(&b, s[i])
	}
	b.WriteByte('"')
	return b.String()
}

func quoteByte(b *strings.Builder, ch byte) {
	if i := strings.IndexByte("\n\r\t\a\b", ch); i >= 0 {
		b.WriteByte('\\')
		b.WriteByte("nrtab"[i])
		return
	}
	switch {
	case ch == '\\' || ch == '"':
		b.WriteByte('\\')
		b.WriteByte(ch)
	case ch >= 32 && ch < 127:
		b.WriteByte(ch)
	default:
		fmt.Fprintf(b, "\\x%02x", ch)
	}
}
