package script

import (
	"fmt"
	"math"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// The libraries of this package say what their originals in C say about a bad
// argument, word for word. gopher-lua's own checks have other words, so the
// files lib_*.go use those below.

// cStack is how many values a function in C may have on Lua's stack
// (LUAI_MAXCSTACK). The originals run into it where they nest deeply or return
// much; here it is what bounds the recursion.
const cStack = 8000

// raise throws an error with the place of the caller before it, as luaL_error.
func raise(L *lua.LState, format string, args ...any) {
	raiseBare(L, callerPlace(L)+fmt.Sprintf(format, args...))
}

// raiseBare throws an error without a place.
func raiseBare(L *lua.LState, text string) { L.Error(lua.LString(text), 0) }

// callerPlace is "chunk:line: " of the Lua code that called the running
// function, and empty if that is not Lua code but, say, pcall.
func callerPlace(L *lua.LState) string {
	d, ok := L.GetStack(1)
	if !ok {
		return ""
	}
	if _, err := L.GetInfo("Sl", d, lua.LNil); err != nil || d.CurrentLine <= 0 {
		return ""
	}
	return fmt.Sprintf("%s:%d: ", strings.TrimPrefix(d.Source, "@"), d.CurrentLine)
}

// argError says what is wrong with argument n.
func argError(L *lua.LState, n int, text string) {
	raise(L, "bad argument #%d to '%s' (%s)", n, runningName(L), text)
}

// nameless are the names that gopher-lua has for what has none.
var nameless = map[string]bool{"": true, "(anonymous)": true, "main chunk": true, "corountine": true}

// runningName is the name by which the running function was called.
func runningName(L *lua.LState) string {
	d, ok := L.GetStack(0)
	if !ok {
		return "?"
	}
	if _, err := L.GetInfo("n", d, lua.LNil); err != nil || nameless[d.Name] {
		return "?"
	}
	return d.Name
}

// typeError says that argument n is of another type than want.
func typeError(L *lua.LState, n int, want string) {
	argError(L, n, want+" expected, got "+typeName(L, n))
}

func typeName(L *lua.LState, n int) string {
	if n > L.GetTop() {
		return "no value"
	}
	return L.Get(n).Type().String()
}

// stringArg takes a string; a number is one too.
func stringArg(L *lua.LState, n int) string {
	s, ok := asString(L.Get(n))
	if !ok {
		typeError(L, n, "string")
	}
	return s
}

func asString(v lua.LValue) (string, bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return formatNumber(float64(v), 14), true
	}
	return "", false
}

// numberArg takes a number; a string that looks like one is one too.
func numberArg(L *lua.LState, n int) float64 {
	f, ok := asNumber(L.Get(n))
	if !ok {
		typeError(L, n, "number")
	}
	return f
}

func asNumber(v lua.LValue) (float64, bool) {
	switch v := v.(type) {
	case lua.LNumber:
		return float64(v), true
	case lua.LString:
		return parseNumber(string(v))
	}
	return 0, false
}

// integerArg takes a number and cuts off its fraction.
func integerArg(L *lua.LState, n int) int64 { return toInt64(numberArg(L, n)) }

// optInteger is integerArg with a default for nil and nothing.
func optInteger(L *lua.LState, n int, otherwise int64) int64 {
	if L.Get(n) == lua.LNil {
		return otherwise
	}
	return integerArg(L, n)
}

// toInt64 cuts off the fraction as the processor does for C: what doesn't fit
// becomes the smallest number. Go leaves this open.
func toInt64(f float64) int64 {
	if f >= -(1<<63) && f < 1<<63 {
		return int64(f)
	}
	return math.MinInt64
}

// toInt32 is toInt64 for C's int.
func toInt32(f float64) int32 {
	if f > math.MinInt32-1 && f < 1<<31 {
		return int32(f)
	}
	return math.MinInt32
}

// toUint64 is the same for C's unsigned long; negative numbers wrap.
func toUint64(f float64) uint64 {
	switch {
	case f < 1<<63 || f != f:
		return uint64(toInt64(f))
	case f < 1<<64:
		return uint64(f-(1<<63)) + 1<<63
	}
	return 0
}

// stopped throws if the script is to end (timeout, SCRIPT KILL): the loops of
// the libraries are one instruction to the interpreter, which can't end them.
func stopped(L *lua.LState) {
	ctx := L.Context()
	if ctx == nil {
		return
	}
	if err := ctx.Err(); err != nil {
		raiseBare(L, err.Error())
	}
}

// functionTable makes a table of functions.
func functionTable(L *lua.LState, functions map[string]lua.LGFunction) *lua.LTable {
	return L.SetFuncs(L.NewTable(), functions)
}
