package script

import (
	"sort"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

func (st *State) openTable() {
	st.globals.RawSetString("table", st.L.SetFuncs(st.L.NewTable(), map[string]lua.LGFunction{
		"concat": st.tableConcat, "foreach": st.tableForEach, "foreachi": st.tableForEachI, "getn": st.tableGetN,
		"insert": st.tableInsert, "maxn": st.tableMaxN, "remove": st.tableRemove, "setn": tableSetN, "sort": st.tableSort,
	}))
}

func (st *State) tableConcat(L *lua.LState) int {
	t := st.real(tableArg(L, 1))
	sep := optString(L, 2, "")
	i, to := int(optInteger(L, 3, 1)), int(optInteger(L, 4, int64(st.lengthOf(t))))
	var out strings.Builder
	for ; i <= to; i++ {
		v := getInt(t, i)
		text, ok := asText(v)
		if !ok {
			raise(L, "invalid value (%s) at index %d in table for 'concat'", v.Type().String(), i)
		}
		out.WriteString(text)
		if i < to {
			out.WriteString(sep)
		}
		checkLength(L, out.Len())
	}
	L.Push(lua.LString(out.String()))
	return 1
}

// asText is a string, or a number as text.
func asText(v lua.LValue) (string, bool) {
	switch v := v.(type) {
	case lua.LString:
		return string(v), true
	case lua.LNumber:
		return FormatNumber(float64(v)), true
	}
	return "", false
}

func (st *State) tableForEach(L *lua.LState) int {
	t, fn := st.real(tableArg(L, 1)), functionArg(L, 2)
	for k, v := t.Next(lua.LNil); k != lua.LNil; k, v = t.Next(k) {
		if n := visit(L, fn, k, v); n > 0 {
			return n
		}
	}
	return 0
}

func (st *State) tableForEachI(L *lua.LState) int {
	t, fn := st.real(tableArg(L, 1)), functionArg(L, 2)
	for i := 1; i <= st.lengthOf(t); i++ {
		if n := visit(L, fn, lua.LNumber(i), getInt(t, i)); n > 0 {
			return n
		}
	}
	return 0
}

// visit calls fn and leaves what it returns, if that is not nil.
func visit(L *lua.LState, fn *lua.LFunction, k, v lua.LValue) int {
	L.Push(fn)
	L.Push(k)
	L.Push(v)
	L.Call(2, 1)
	if L.Get(-1) != lua.LNil {
		return 1
	}
	L.Pop(1)
	return 0
}

func (st *State) tableGetN(L *lua.LState) int {
	L.Push(lua.LNumber(st.lengthOf(st.real(tableArg(L, 1)))))
	return 1
}

func tableSetN(L *lua.LState) int {
	tableArg(L, 1)
	raise(L, "'setn' is obsolete")
	return 0
}

func (st *State) tableMaxN(L *lua.LState) int {
	most := 0.0
	st.real(tableArg(L, 1)).ForEach(func(k, _ lua.LValue) {
		if n, ok := k.(lua.LNumber); ok {
			most = max(most, float64(n))
		}
	})
	L.Push(lua.LNumber(most))
	return 1
}

func (st *State) tableInsert(L *lua.LState) int {
	t := st.writable(L, 1)
	n := st.lengthOf(t) + 1
	switch L.GetTop() {
	case 2:
		t.RawSetInt(n, L.Get(2))
	case 3:
		at := int(integerArg(L, 2))
		if at >= 1 && at < n && n < arrayMax {
			t.Insert(at, L.Get(3))
			return 0
		}
		if at < 1 && n-at > 1<<20 {
			raise(L, "not enough memory")
		}
		for i := n; i > at; i-- {
			t.RawSet(lua.LNumber(i), getInt(t, i-1))
		}
		t.RawSet(lua.LNumber(at), L.Get(3))
	default:
		raise(L, "wrong number of arguments to 'insert'")
	}
	return 0
}

func (st *State) tableRemove(L *lua.LState) int {
	t := st.writable(L, 1)
	n := st.lengthOf(t)
	at := int(optInteger(L, 2, int64(n)))
	if at < 1 || at > n {
		return 0
	}
	v := getInt(t, at)
	for ; n >= arrayMax && at < n; at++ {
		t.RawSetInt(at, getInt(t, at+1))
	}
	if at == n {
		t.RawSetInt(n, lua.LNil) // later elements may be there behind a gap
		L.Push(v)
		return 1
	}
	L.Push(t.Remove(at))
	return 1
}

// A sorter sorts the elements 1..n. An order that contradicts itself gives some
// order, in bounded time.
type sorter struct {
	L  *lua.LState
	t  *lua.LTable
	n  int
	fn *lua.LFunction
}

func (s sorter) Len() int { return s.n }

func (s sorter) Swap(i, j int) {
	a, b := getInt(s.t, i+1), getInt(s.t, j+1)
	s.t.RawSetInt(i+1, b)
	s.t.RawSetInt(j+1, a)
}

func (s sorter) Less(i, j int) bool {
	a, b := getInt(s.t, i+1), getInt(s.t, j+1)
	if s.fn == nil {
		return less(s.L, a, b)
	}
	s.L.Push(s.fn)
	s.L.Push(a)
	s.L.Push(b)
	s.L.Call(2, 1)
	v := lua.LVAsBool(s.L.Get(-1))
	s.L.Pop(1)
	return v
}

// less is "<" for sort, whose errors have no place.
func less(L *lua.LState, a, b lua.LValue) bool {
	switch kind, other := a.Type(), b.Type(); {
	case kind == other && (kind == lua.LTNumber || kind == lua.LTString || L.GetMetaField(a, "__lt") != lua.LNil):
		return L.LessThan(a, b)
	case kind == other:
		raiseBare(L, "attempt to compare two "+kind.String()+" values")
	default:
		raiseBare(L, "attempt to compare "+kind.String()+" with "+other.String())
	}
	return false
}

func (st *State) tableSort(L *lua.LState) int {
	t := st.writable(L, 1)
	s := sorter{L: L, t: t, n: st.lengthOf(t)}
	if L.Get(2) != lua.LNil {
		s.fn = functionArg(L, 2)
	}
	L.SetTop(2)
	sort.Sort(s)
	return 0
}
