package script

import (
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// gopher-lua keeps the elements of a table with keys from 1 to MaxArrayIndex in one
// array: t[10000000] = 1 makes one of ten million elements, which takes a second. Scripts
// have such keys (numbers of users, say), so the array ends much earlier here, and
// elements behind its end are in the table's map, where they take fifteen times as long. The length of a table does not
// look there, so lengthOf is asked for it everywhere, also by "#" (rewrite.go).

// arrayMax is the first index that is not in an array.
const arrayMax = 1 << 19

// limitArrays tells gopher-lua, before the first interpreter runs.
var limitArrays = sync.OnceFunc(func() { lua.MaxArrayIndex = arrayMax })

// lengthOf is "#t": some n with t[n] and without t[n+1].
func (st *State) lengthOf(t *lua.LTable) int {
	n := t.Len()
	if n < arrayMax-1 {
		return n
	}
	if st.longest == t { // most likely it has grown or shrunk by one
		for n := max(st.length-1, n); n <= st.length+1; n++ {
			if getInt(t, n) != lua.LNil && getInt(t, n+1) == lua.LNil {
				st.length = n
				return n
			}
		}
	}
	st.longest, st.length = t, border(t, n)
	return st.length
}

// border finds the end of the elements, of which there are n or more.
func border(t *lua.LTable, n int) int {
	full, free := n, n+1
	for getInt(t, free) != lua.LNil {
		full, free = free, 2*free
	}
	for free-full > 1 {
		if middle := (full + free) / 2; getInt(t, middle) != lua.LNil {
			full = middle
		} else {
			free = middle
		}
	}
	return full
}

// lengthOperator is "#".
func (st *State) lengthOperator(L *lua.LState) int {
	switch v := L.Get(1).(type) {
	case *lua.LTable:
		L.Push(lua.LNumber(st.lengthOf(st.real(v))))
	case lua.LString:
		L.Push(lua.LNumber(len(v)))
	default:
		op := L.GetMetaField(v, "__len")
		if op == lua.LNil {
			raise(L, "%s", aboutArgument(L, "get length of", v, 1, 1))
		}
		L.Push(op)
		L.Push(v)
		L.Call(1, 1)
	}
	return 1
}
