package script

import lua "github.com/yuin/gopher-lua"

// gopher-lua has no readonly tables. A protected table is an empty one instead,
// its front, whose metatable reads from the real one and refuses writes. The
// functions that go past metatables (rawget, next, getmetatable …) know which
// tables are fronts.

const readonlyText = "Attempt to modify a readonly table"

// Protect makes a table readonly for scripts, and all tables that it reaches,
// and returns what stands for it. Go code that keeps the table itself may go on
// changing it.
func (st *State) Protect(t *lua.LTable) *lua.LTable {
	if front := st.fronts[t]; front != nil {
		return front
	}
	if st.reals[t] != nil {
		return t
	}
	front, mt := st.L.NewTable(), st.L.NewTable()
	mt.RawSetString("__index", t)
	mt.RawSetString("__newindex", st.refuse)
	front.Metatable = mt
	st.fronts[t], st.reals[front] = front, t
	t.ForEach(func(k, v lua.LValue) {
		if in, ok := v.(*lua.LTable); ok {
			t.RawSet(k, st.Protect(in))
		}
	})
	return front
}

// real returns the table that a front stands for, or the table itself.
func (st *State) real(t *lua.LTable) *lua.LTable {
	if r := st.reals[t]; r != nil {
		return r
	}
	return t
}

// writable takes a table argument that may be changed.
func (st *State) writable(L *lua.LState, n int) *lua.LTable {
	t := tableArg(L, n)
	if st.reals[t] != nil {
		raiseBare(L, readonlyText) // as where a function in C writes
	}
	return t
}

func (st *State) getMetatable(L *lua.LState) int {
	v := anyArg(L, 1)
	t, isTable := v.(*lua.LTable)
	var mt lua.LValue
	if isTable {
		mt = st.real(t).Metatable
	} else {
		mt = L.GetMetatable(v)
	}
	if m, ok := mt.(*lua.LTable); ok {
		if hidden := m.RawGetString("__metatable"); hidden != lua.LNil {
			mt = hidden
		} else if !isTable || st.reals[t] != nil {
			mt = st.Protect(m)
		}
	}
	L.Push(mt)
	return 1
}

func (st *State) setMetatable(L *lua.LState) int {
	t := tableArg(L, 1)
	mt, ok := L.Get(2).(*lua.LTable)
	if L.GetTop() < 2 || !ok && L.Get(2) != lua.LNil {
		argError(L, 2, "nil or table expected")
	}
	if old, ok := st.real(t).Metatable.(*lua.LTable); ok && old.RawGetString("__metatable") != lua.LNil {
		raise(L, "cannot change a protected metatable")
	}
	t = st.writable(L, 1)
	if t.Metatable = lua.LNil; ok {
		t.Metatable = st.real(mt)
	}
	L.SetTop(1)
	return 1
}

// missing is the __index of the globals.
func missing(L *lua.LState) int {
	if L.GetTop() != 2 {
		raise(L, "Wrong number of arguments to luaProtectedTableError")
	}
	name, ok := asString(L.Get(2))
	if !ok {
		raise(L, "Second argument to luaProtectedTableError must be a string or number")
	}
	raise(L, "Script attempted to access nonexistent global variable '%s'", name)
	return 0
}

// ErrorIndex makes reading what a table does not have an error, as it is for the
// globals.
func (st *State) ErrorIndex(t *lua.LTable) {
	mt := st.L.NewTable()
	mt.RawSetString("__index", st.L.NewFunction(missing))
	t.Metatable = mt
}
