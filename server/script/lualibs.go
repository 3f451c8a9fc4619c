package script

import lua "github.com/yuin/gopher-lua"

// openLua opens Lua's own libraries, as far as scripts may have them.
func (st *State) openLua() {
	for _, open := range []lua.LGFunction{lua.OpenBase, lua.OpenTable, lua.OpenString, lua.OpenMath, lua.OpenCoroutine} {
		st.L.Push(st.L.NewFunction(open))
		st.L.Call(0, 0)
	}
}

// Protect makes a table, and all tables that it reaches, readonly.
func (st *State) Protect(t *lua.LTable) {}
