package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// A jsonEncoder writes one value.
type jsonEncoder struct {
	L     *lua.LState
	cfg   *jsonConfig
	out   []byte
	stack int // values that the original would have on Lua's stack
}

func (cfg *jsonConfig) encode(L *lua.LState) int {
	if L.GetTop() != 1 {
		argError(L, 1, "expected 1 argument")
	}
	e := jsonEncoder{L: L, cfg: cfg, stack: 1}
	e.value(L.Get(1), 0)
	L.Push(lua.LString(e.out))
	return 1
}

func (e *jsonEncoder) refuse(v lua.LValue, reason string) {
	raise(e.L, "Cannot serialise %s: %s", v.Type(), reason)
}

func (e *jsonEncoder) value(v lua.LValue, depth int) {
	switch v := v.(type) {
	case lua.LString:
		e.text(string(v))
	case lua.LNumber:
		e.number(v)
	case lua.LBool:
		e.out = append(e.out, v.String()...)
	case *lua.LTable:
		e.table(v, depth+1)
	case *lua.LNilType:
		e.out = append(e.out, "null"...)
	default:
		if v != lua.LValue(e.cfg.null) {
			e.refuse(v, "type not supported")
		}
		e.out = append(e.out, "null"...)
	}
}

// grow throws if the text gets too long, or the script is to end.
func (e *jsonEncoder) grow() {
	if len(e.out) > e.cfg.maxEncoded {
		raiseBare(e.L, "not enough memory")
	}
	stopped(e.L)
}

func (e *jsonEncoder) table(t *lua.LTable, depth int) {
	if depth > e.cfg.encodeDepth || e.stack+3 > cStack {
		raise(e.L, "Cannot serialise, excessive nesting (%d)", depth)
	}
	e.grow()
	if n := e.arrayLength(t); n > 0 {
		e.array(t, int(n), depth)
	} else {
		e.object(t, depth)
	}
}

// arrayLength is the highest index of a table whose keys are all positive
// integers. A table with other keys has none (-1), nor has one that the
// options make an object. The count wraps as C's int does: an index beyond
// 2^31 makes an object.
func (e *jsonEncoder) arrayLength(t *lua.LTable) int32 {
	var highest, items int32
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		_ = v
		n, ok := k.(lua.LNumber)
		f := float64(n)
		if !ok || math.Floor(f) != f || f < 1 {
			return -1
		}
		if f > float64(highest) {
			highest = toInt32(f)
		}
		items++
	}
	ratio := int32(e.cfg.sparseRatio)
	if ratio > 0 && highest > items*ratio && highest > int32(e.cfg.sparseSafe) {
		if !e.cfg.sparseConvert {
			e.refuse(t, "excessively sparse array")
		}
		return -1
	}
	return highest
}

func (e *jsonEncoder) array(t *lua.LTable, length, depth int) {
	e.out = append(e.out, '[')
	e.stack++
	for i := 1; i <= length; i++ {
		if i > 1 {
			e.out = append(e.out, ',')
		}
		if i%(1<<12) == 0 {
			e.grow()
		}
		e.value(t.RawGet(lua.LNumber(i)), depth)
	}
	e.stack--
	e.out = append(e.out, ']')
}

func (e *jsonEncoder) object(t *lua.LTable, depth int) {
	e.out = append(e.out, '{')
	e.stack += 2
	first := true
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if !first {
			e.out = append(e.out, ',')
		}
		first = false
		e.key(k)
		e.value(v, depth)
		e.grow()
	}
	e.stack -= 2
	e.out = append(e.out, '}')
}

func (e *jsonEncoder) key(k lua.LValue) {
	switch k := k.(type) {
	case lua.LNumber:
		e.out = append(e.out, '"')
		e.number(k)
		e.out = append(e.out, '"')
	case lua.LString:
		e.text(string(k))
	default:
		e.refuse(k, "table key must be a number or string")
	}
	e.out = append(e.out, ':')
}

func (e *jsonEncoder) number(n lua.LNumber) {
	f := float64(n)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		switch e.cfg.encodeInvalid {
		case invalidOff:
			e.refuse(n, "must not be NaN or Inf")
		case invalidNull:
			e.out = append(e.out, "null"...)
			return
		}
		if f != f {
			f = math.NaN() // without a sign
		}
	}
	e.out = append(e.out, formatNumber(f, e.cfg.precision)...)
}

// text writes a string. What lies above 127 goes through as it is, valid UTF-8 or not.
func (e *jsonEncoder) text(s string) {
	const hex = "0123456789abcdef"
	e.out = append(e.out, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c != '/' && c != 0x7f {
			continue
		}
		e.out = append(e.out, s[from:i]...)
		from = i + 1
		if short := shortEscape(c); short != 0 {
			e.out = append(e.out, '\\', short)
		} else {
			e.out = append(e.out, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	e.out = append(append(e.out, s[from:]...), '"')
	if len(e.out) > e.cfg.maxEncoded {
		e.grow()
	}
}

// shortEscape is the letter that stands for c after a backslash, or 0.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\', '/':
		return c
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}
