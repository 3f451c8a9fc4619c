package script

import (
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// A Replier takes a reply apart into what the client's protocol has.
// *commands.Reply is one.
type Replier interface {
	Simple(s string)
	Error(err error)
	Int(v int64)
	BulkString(s string)
	Null()
	Array(n int)
	Map(n int)
	Set(n int)
	Double(f float64)
	Bool(b bool)
	BigNumber(digits string)
	Verbatim(format, text string)
}

// replyDepth is how deep a reply may nest: as far as Lua's stack reaches.
const replyDepth = 7_990

// WriteReply writes a Lua value as one reply. proto is what the script has
// chosen (Run.Proto): it decides what a boolean is. fail makes an error of the
// text of an error value; counted says that it is one of a command's and is in the
// statistics already.
func WriteReply(out Replier, v lua.LValue, proto int, fail func(text string, counted bool) error) {
	w := writer{out, proto, fail}
	w.value(v, 0)
}

type writer struct {
	out   Replier
	proto int
	fail  func(text string, counted bool) error
}

func (w *writer) value(v lua.LValue, depth int) {
	if depth > replyDepth {
		w.error("ERR reached lua stack limit", false)
		return
	}
	switch v := v.(type) {
	case lua.LString:
		w.out.BulkString(string(v))
	case lua.LNumber:
		w.out.Int(toInt64(float64(v)))
	case lua.LBool:
		w.bool(bool(v))
	case *lua.LTable:
		w.table(v, depth)
	default:
		w.out.Null()
	}
}

func (w *writer) bool(b bool) {
	switch {
	case w.proto == 3:
		w.out.Bool(b)
	case b:
		w.out.Int(1)
	default:
		w.out.Null()
	}
}

func (w *writer) error(text string, counted bool) {
	w.out.Error(w.fail(oneLine(text), counted))
}

// table writes a table by the one field that says what it is, or as an array.
func (w *writer) table(t *lua.LTable, depth int) {
	if _, ok := t.RawGetString("err").(lua.LString); ok {
		f := failureIn(t)
		w.error(f.Text, f.Counted)
		return
	}
	if s, ok := t.RawGetString("ok").(lua.LString); ok {
		line, _, _ := strings.Cut(string(s), "\x00")
		w.out.Simple(oneLine(line))
		return
	}
	if n, ok := t.RawGetString("double").(lua.LNumber); ok {
		w.out.Double(float64(n))
		return
	}
	if s, ok := t.RawGetString("big_number").(lua.LString); ok {
		w.out.BigNumber(oneLine(string(s)))
		return
	}
	if w.verbatim(t) {
		return
	}
	if m, ok := t.RawGetString("map").(*lua.LTable); ok {
		w.out.Map(count(m))
		m.ForEach(func(k, v lua.LValue) { w.value(k, depth+1); w.value(v, depth+1) })
		return
	}
	if m, ok := t.RawGetString("set").(*lua.LTable); ok {
		w.out.Set(count(m))
		m.ForEach(func(k, _ lua.LValue) { w.value(k, depth+1) })
		return
	}
	w.array(t, depth)
}

func (w *writer) verbatim(t *lua.LTable) bool {
	in, ok := t.RawGetString("verbatim_string").(*lua.LTable)
	if !ok {
		return false
	}
	format, ok := in.RawGetString("format").(lua.LString)
	if !ok {
		return false
	}
	text, ok := in.RawGetString("string").(lua.LString)
	if ok {
		w.out.Verbatim((string(format) + "   ")[:3], string(text))
	}
	return ok
}

func count(t *lua.LTable) (n int) {
	t.ForEach(func(lua.LValue, lua.LValue) { n++ })
	return n
}

// array writes t[1], t[2] … up to the first nil.
func (w *writer) array(t *lua.LTable, depth int) {
	n := 0
	for t.RawGet(lua.LNumber(n+1)) != lua.LNil {
		n++
	}
	w.out.Array(n)
	for i := 1; i <= n; i++ {
		w.value(t.RawGet(lua.LNumber(i)), depth+1)
	}
}
