package script

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func strFormat(L *lua.LState) int {
	f := stringArg(L, 1)
	var buf []byte
	arg := 1
	for i := 0; i < len(f); i++ {
		if f[i] != '%' {
			buf = append(buf, f[i])
			continue
		}
		if i++; i < len(f) && f[i] == '%' {
			buf = append(buf, '%')
			continue
		}
		if arg++; arg > L.GetTop() {
			argError(L, arg, "no value")
		}
		spec, next := formatSpec(L, f, i)
		i = next
		buf = appendFormat(L, buf, arg, spec, f, i)
		checkLength(L, len(buf))
	}
	L.Push(lua.LString(buf))
	return 1
}

// A spec is what stands between '%' and the letter.
type spec struct {
	minus, plus, space, sharp, zero bool
	width, precision                int // precision is -1 if not given
}

func formatSpec(L *lua.LState, f string, i int) (spec, int) {
	s := spec{precision: -1}
	start := i
	for ; i < len(f) && strings.IndexByte("-+ #0", f[i]) >= 0; i++ {
		switch f[i] {
		case '-':
			s.minus = true
		case '+':
			s.plus = true
		case ' ':
			s.space = true
		case '#':
			s.sharp = true
		case '0':
			s.zero = true
		}
	}
	if i-start >= 6 {
		raise(L, "invalid format (repeated flags)")
	}
	digits := func() (n int) {
		for k := 0; k < 2 && i < len(f) && '0' <= f[i] && f[i] <= '9'; k++ {
			n = n*10 + int(f[i]-'0')
			i++
		}
		return n
	}
	s.width = digits()
	if i < len(f) && f[i] == '.' {
		i++
		s.precision = digits()
	}
	if i < len(f) && '0' <= f[i] && f[i] <= '9' {
		raise(L, "invalid format (width or precision too long)")
	}
	return s, i
}

func appendFormat(L *lua.LState, buf []byte, arg int, s spec, f string, i int) []byte {
	c := byte(0)
	if i < len(f) {
		c = f[i]
	}
	switch c {
	case 'c':
		return s.char(buf, byte(toInt64(numberArg(L, arg))))
	case 'd', 'i':
		return s.integer(buf, toInt64(numberArg(L, arg)))
	case 'u', 'o', 'x', 'X':
		return s.unsigned(buf, c, toUint64(numberArg(L, arg)))
	case 'e', 'E', 'f', 'g', 'G':
		return s.float(buf, c, numberArg(L, arg))
	case 'q':
		return appendQuoted(buf, stringArg(L, arg))
	case 's':
		v := stringArg(L, arg)
		if s.precision >= 0 || len(v) < formatWhole {
			v = cString(v)
		}
		if s.precision >= 0 && len(v) > s.precision {
			v = v[:s.precision]
		}
		return s.pad(buf, v, false)
	}
	raise(L, "invalid option '%%%s' to 'format'", string(f[min(i, len(f)):min(i+1, len(f))]))
	return nil
}

// formatWhole is from how many bytes on "%s" takes a string whole; a shorter one
// ends at its first zero byte, which is where C's printf ends it.
const formatWhole = 100

// char is "%c"; C ends the text at a zero byte.
func (s spec) char(buf []byte, c byte) []byte {
	if c != 0 {
		return s.pad(buf, string([]byte{c}), false)
	}
	if s.width--; s.minus {
		return buf
	}
	return s.pad(buf, "", false)
}

// pad appends a text at its width; zeros go behind the sign.
func (s spec) pad(buf []byte, v string, zeros bool) []byte {
	n := s.width - len(v)
	switch {
	case n <= 0:
		return append(buf, v...)
	case s.minus:
		return append(append(buf, v...), bytes.Repeat([]byte{' '}, n)...)
	case zeros:
		sign := 0
		if v != "" && (v[0] == '-' || v[0] == '+' || v[0] == ' ') {
			sign = 1
		}
		if len(v) > sign+1 && v[sign] == '0' && v[sign+1]|0x20 == 'x' {
			sign += 2
		}
		buf = append(buf, v[:sign]...)
		return append(append(buf, bytes.Repeat([]byte{'0'}, n)...), v[sign:]...)
	}
	return append(append(buf, bytes.Repeat([]byte{' '}, n)...), v...)
}

func (s spec) sign(v string) string {
	switch {
	case strings.HasPrefix(v, "-"):
		return v
	case s.plus:
		return "+" + v
	case s.space:
		return " " + v
	}
	return v
}

// digits brings a number to its precision, which is how many digits it has at
// least.
func (s spec) digits(v string) string {
	if s.precision == 0 && v == "0" {
		return ""
	}
	if n := s.precision - len(v); n > 0 {
		return strings.Repeat("0", n) + v
	}
	return v
}

func (s spec) integer(buf []byte, n int64) []byte {
	v := strconv.FormatInt(n, 10)
	neg := n < 0
	v = s.digits(strings.TrimPrefix(v, "-"))
	if neg {
		v = "-" + v
	}
	return s.pad(buf, s.sign(v), s.zero && s.precision < 0)
}

func (s spec) unsigned(buf []byte, c byte, n uint64) []byte {
	base, prefix := 10, ""
	switch c {
	case 'o':
		base = 8
	case 'x', 'X':
		base, prefix = 16, "0"+string(c)
	}
	v := s.digits(strconv.FormatUint(n, base))
	switch {
	case s.sharp && c == 'o' && !strings.HasPrefix(v, "0"):
		v = "0" + v
	case s.sharp && prefix != "" && n != 0:
		v = prefix + v
	}
	if c == 'X' {
		v = strings.ToUpper(v)
	}
	return s.pad(buf, v, s.zero && s.precision < 0)
}

func (s spec) float(buf []byte, c byte, f float64) []byte {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		v := FormatNumber(f)
		if c < 'a' {
			v = strings.ToUpper(v)
		}
		return s.pad(buf, s.sign(v), false)
	}
	precision := s.precision
	if precision < 0 {
		precision = 6
	}
	if precision == 0 && c|0x20 == 'g' {
		precision = 1
	}
	v := ""
	if s.sharp {
		v = fmt.Sprintf("%#."+strconv.Itoa(precision)+string(c), f)
	} else {
		v = strconv.FormatFloat(f, c, precision, 64)
	}
	return s.pad(buf, s.sign(v), s.zero)
}

func appendQuoted(buf []byte, s string) []byte {
	buf = append(buf, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '"', '\\', '\n':
			buf = append(buf, '\\', c)
		case '\r':
			buf = append(buf, `\r`...)
		case 0:
			buf = append(buf, `\000`...)
		default:
			buf = append(buf, c)
		}
	}
	return append(buf, '"')
}
