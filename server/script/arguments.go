package script

import (
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// argumentsKept is how many bytes of arguments a state keeps room for.
const argumentsKept = 64 << 10

// arguments is the memory of one command line at a time.
type arguments struct {
	buf  []byte
	ends []int
	args [][]byte
}

// read takes the arguments of the running function; false: one of them is
// neither a string nor a number. They are valid until the next read.
func (a *arguments) read(l *lua.LState) bool {
	if cap(a.buf) > argumentsKept {
		*a = arguments{}
	}
	a.buf, a.ends = a.buf[:0], a.ends[:0]
	for i, n := 1, l.GetTop(); i <= n; i++ {
		switch v := l.Get(i).(type) {
		case lua.LString:
			a.buf = append(a.buf, v...)
		case lua.LNumber:
			a.buf = appendNumber(a.buf, float64(v))
		default:
			return false
		}
		a.ends = append(a.ends, len(a.buf))
	}
	a.args = a.args[:0]
	start := 0
	for _, end := range a.ends {
		a.args = append(a.args, a.buf[start:end:end])
		start = end
	}
	return true
}

// appendNumber writes a number as "%.17g" does, without loss.
func appendNumber(buf []byte, f float64) []byte {
	if i := int64(f); float64(i) == f && i > -1e15 && i < 1e15 && (i != 0 || 1/f > 0) {
		return strconv.AppendInt(buf, i, 10)
	}
	return appendG(buf, f, 17)
}
