package script

import (
	"errors"
	"math"
	"strconv"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// maxUnpack is how many values C Lua's stack takes of one function.
const maxUnpack = cStack

// openBase sets the basic functions: our own, because gopher-lua's differ from
// C Lua's in what a script sees. There is no getfenv, setfenv and newproxy, as in
// a Redis of today.
func (st *State) openBase() {
	g := st.globals
	st.L.SetFuncs(g, map[string]lua.LGFunction{
		"assert": baseAssert, "collectgarbage": baseCollect, "error": baseError, "gcinfo": baseGCInfo,
		"next": st.next, "rawequal": baseRawEqual, "rawget": st.rawGet, "rawset": st.rawSet,
		"select": baseSelect, "tonumber": baseToNumber, "tostring": baseToString, "type": baseType,
		"unpack": st.unpack, "pcall": st.pcall, "xpcall": st.xpcall, "load": st.load, "loadstring": st.loadString,
		"getmetatable": st.getMetatable, "setmetatable": st.setMetatable, "pairs": st.pairs,
	})
	step := st.L.NewFunction(st.ipairsStep)
	g.RawSetString("ipairs", st.L.NewFunction(func(L *lua.LState) int {
		t := tableArg(L, 1)
		L.Push(step)
		L.Push(t)
		L.Push(lua.LNumber(0))
		return 3
	}))
	g.RawSetString("_VERSION", lua.LString("Lua 5.1"))
}

// tableArg takes a table.
func tableArg(L *lua.LState, n int) *lua.LTable {
	t, ok := L.Get(n).(*lua.LTable)
	if !ok {
		typeError(L, n, "table")
	}
	return t
}

// anyArg takes whatever is there.
func anyArg(L *lua.LState, n int) lua.LValue {
	if n > L.GetTop() {
		argError(L, n, "value expected")
	}
	return L.Get(n)
}

func functionArg(L *lua.LState, n int) *lua.LFunction {
	f, ok := L.Get(n).(*lua.LFunction)
	if !ok {
		typeError(L, n, "function")
	}
	return f
}

// optString is stringArg with a default for nil and nothing.
func optString(L *lua.LState, n int, otherwise string) string {
	if L.Get(n) == lua.LNil {
		return otherwise
	}
	return stringArg(L, n)
}

func baseAssert(L *lua.LState) int {
	if lua.LVIsFalse(anyArg(L, 1)) {
		raise(L, "%s", optString(L, 2, "assertion failed!"))
	}
	return L.GetTop()
}

// baseCollect does nothing: the collector is the whole server's.
func baseCollect(L *lua.LState) int {
	switch option := optString(L, 1, "collect"); option {
	case "collect", "stop", "restart", "count", "setpause", "setstepmul":
		L.Push(lua.LNumber(0))
	case "step":
		L.Push(lua.LTrue)
	default:
		argError(L, 1, "invalid option '"+option+"'")
	}
	return 1
}

func baseGCInfo(L *lua.LState) int {
	L.Push(lua.LNumber(0))
	return 1
}

func baseError(L *lua.LState) int {
	v := L.Get(1)
	if text, ok := asString(v); ok {
		if level := int(optInteger(L, 2, 1)); level > 0 {
			v = lua.LString(placeAt(L, level) + text)
		}
	}
	L.Error(v, 0)
	return 0
}

// placeAt is callerPlace for the function at a level of the stack.
func placeAt(L *lua.LState, level int) string {
	d, ok := L.GetStack(level)
	if !ok {
		return ""
	}
	if _, err := L.GetInfo("Sl", d, lua.LNil); err != nil || d.CurrentLine <= 0 {
		return ""
	}
	return d.Source + ":" + strconv.Itoa(d.CurrentLine) + ": "
}

func (st *State) next(L *lua.LState) int {
	k, v := st.real(tableArg(L, 1)).Next(L.Get(2))
	L.Push(k)
	if k == lua.LNil {
		return 1
	}
	L.Push(v)
	return 2
}

func (st *State) pairs(L *lua.LState) int {
	t := tableArg(L, 1)
	L.Push(st.globals.RawGetString("next"))
	L.Push(t)
	L.Push(lua.LNil)
	return 3
}

func (st *State) ipairsStep(L *lua.LState) int {
	i := L.CheckInt(2) + 1
	v := getInt(st.real(tableArg(L, 1)), i)
	if v == lua.LNil {
		L.Push(lua.LNil)
		return 1
	}
	L.Push(lua.LNumber(i))
	L.Push(v)
	return 2
}

// getInt is t[i] without metamethods, also where the table has no array.
func getInt(t *lua.LTable, i int) lua.LValue { return t.RawGet(lua.LNumber(i)) }

func baseRawEqual(L *lua.LState) int {
	L.Push(lua.LBool(anyArg(L, 1) == anyArg(L, 2)))
	return 1
}

func (st *State) rawGet(L *lua.LState) int {
	L.Push(st.real(tableArg(L, 1)).RawGet(anyArg(L, 2)))
	return 1
}

func (st *State) rawSet(L *lua.LState) int {
	t := st.writable(L, 1)
	anyArg(L, 3)
	checkKey(L, L.Get(2))
	t.RawSet(L.Get(2), L.Get(3))
	L.SetTop(1)
	return 1
}

func checkKey(L *lua.LState, k lua.LValue) {
	if k == lua.LNil {
		raise(L, "table index is nil")
	}
	if n, ok := k.(lua.LNumber); ok && math.IsNaN(float64(n)) {
		raise(L, "table index is NaN")
	}
}

func baseSelect(L *lua.LState) int {
	n := L.GetTop()
	if s, ok := L.Get(1).(lua.LString); ok && s == "#" {
		L.Push(lua.LNumber(n - 1))
		return 1
	}
	i := int(integerArg(L, 1))
	if i < 0 {
		i += n
	}
	if i = min(i, n); i < 1 {
		argError(L, 1, "index out of range")
	}
	return n - i
}

func baseToNumber(L *lua.LState) int {
	base := optInteger(L, 2, 10)
	v := lua.LNil
	switch {
	case base == 10:
		if f, ok := asNumber(anyArg(L, 1)); ok {
			v = lua.LNumber(f)
		}
	default:
		text := stringArg(L, 1)
		if base < 2 || base > 36 {
			argError(L, 2, "base out of range")
		}
		if u, ok := inBase(text, int(base)); ok {
			v = lua.LNumber(u)
		}
	}
	L.Push(v)
	return 1
}

// inBase reads an integer as C's strtoul; a negative one wraps.
func inBase(s string, base int) (uint64, bool) {
	s = strings.Trim(s, space)
	negative := strings.HasPrefix(s, "-")
	s = s[signLength(s):]
	if base == 16 && len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		s = s[2:]
	}
	u, err := strconv.ParseUint(s, base, 64)
	if negative {
		u = -u
	}
	return u, err == nil || errors.Is(err, strconv.ErrRange)
}

func baseToString(L *lua.LState) int {
	v := anyArg(L, 1)
	if op := L.GetMetaField(v, "__tostring"); op != lua.LNil {
		L.Push(op)
		L.Push(v)
		L.Call(1, 1)
		return 1
	}
	L.Push(lua.LString(textOf(v)))
	return 1
}

// textOf is tostring without metamethods.
func textOf(v lua.LValue) string {
	if n, ok := v.(lua.LNumber); ok {
		return FormatNumber(float64(n))
	}
	return v.String()
}

func baseType(L *lua.LState) int {
	L.Push(lua.LString(anyArg(L, 1).Type().String()))
	return 1
}

func (st *State) unpack(L *lua.LState) int {
	t := st.real(tableArg(L, 1))
	from, to := optInteger(L, 2, 1), optInteger(L, 3, int64(st.lengthOf(t)))
	if from > to {
		return 0
	}
	n := to - from + 1
	if n <= 0 || n >= maxUnpack {
		raise(L, "too many results to unpack")
	}
	for i := from; i <= to; i++ {
		L.Push(getInt(t, int(i)))
	}
	return int(n)
}
