package script

import (
	"bytes"
	"strconv"

	lua "github.com/yuin/gopher-lua"
)

// A parser turns one reply of the server into a Lua value. The reply is our
// own: it is well-formed.
type parser struct {
	l  *lua.LState
	in []byte
}

// line returns what stands before the next line end and goes behind it.
func (p *parser) line() []byte {
	i := bytes.IndexByte(p.in, '\r')
	line := p.in[:i]
	p.in = p.in[i+2:]
	return line
}

func (p *parser) take(n int) []byte {
	b := p.in[:n]
	p.in = p.in[n+2:]
	return b
}

func number(b []byte) int {
	n := 0
	if b[0] == '-' {
		return -number(b[1:])
	}
	for _, c := range b {
		n = n*10 + int(c-'0')
	}
	return n
}

// value parses one value.
func (p *parser) value() lua.LValue {
	kind := p.in[0]
	p.in = p.in[1:]
	line := p.line()
	switch kind {
	case ':':
		return lua.LNumber(number(line))
	case '$':
		if line[0] == '-' {
			return lua.LFalse
		}
		return lua.LString(p.take(number(line)))
	case '+':
		return p.field("ok", lua.LString(line))
	case '-':
		return p.failure(line)
	case '*', '>':
		if line[0] == '-' {
			return lua.LFalse
		}
		return p.array(number(line))
	}
	return p.value3(kind, line)
}

// value3 parses what only RESP3 has.
func (p *parser) value3(kind byte, line []byte) lua.LValue {
	switch kind {
	case '%':
		return p.field("map", p.mapping(number(line)))
	case '~':
		return p.field("set", p.set(number(line)))
	case '#':
		return lua.LBool(line[0] == 't')
	case ',':
		f, _ := strconv.ParseFloat(string(line), 64) // inf and nan too
		return p.field("double", lua.LNumber(f))
	case '(':
		return p.field("big_number", lua.LString(line))
	case '=':
		return p.verbatim(p.take(number(line)))
	case '|':
		p.mapping(number(line)) // attributes are not shown to scripts
		return p.value()
	}
	return lua.LNil // '_'
}

func (p *parser) field(name string, v lua.LValue) lua.LValue {
	t := p.l.NewTable()
	t.RawSetString(name, v)
	return t
}

func (p *parser) failure(line []byte) lua.LValue {
	t := errorTable(p.l, "-"+string(line))
	t.RawSetString("ignore_error_stats_update", lua.LTrue)
	return t
}

func (p *parser) array(n int) lua.LValue {
	t := p.l.CreateTable(n, 0)
	for i := 1; i <= n; i++ {
		t.RawSetInt(i, p.value())
	}
	return t
}

func (p *parser) mapping(n int) lua.LValue {
	t := p.l.NewTable()
	for range n {
		k := p.value()
		t.RawSet(k, p.value())
	}
	return t
}

func (p *parser) set(n int) lua.LValue {
	t := p.l.NewTable()
	for range n {
		t.RawSet(p.value(), lua.LTrue)
	}
	return t
}

func (p *parser) verbatim(b []byte) lua.LValue {
	in := p.l.NewTable()
	in.RawSetString("string", lua.LString(b[4:]))
	in.RawSetString("format", lua.LString(b[:3]))
	return p.field("verbatim_string", in)
}
