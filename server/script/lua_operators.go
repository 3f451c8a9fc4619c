package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

// forNumber makes a number of a bound of a for; argument 2 says which it is.
func forNumber(L *lua.LState) int {
	f, ok := asNumber(L.Get(1))
	if !ok {
		raise(L, "'for' %s must be a number", L.Get(2).String())
	}
	L.Push(lua.LNumber(f))
	return 1
}

// arithmetics are the operators for strings. gopher-lua reads "010" as eight; it
// asks the metatable of strings first.
func arithmetics() map[string]lua.LGFunction {
	all := map[string]lua.LGFunction{"__unm": func(L *lua.LState) int {
		f, ok := asNumber(L.Get(1))
		if !ok {
			raise(L, "%s", about(L, "perform arithmetic on", "string", using(lua.OP_UNM)))
		}
		L.Push(lua.LNumber(-f))
		return 1
	}}
	for name, op := range map[string]func(a, b float64) float64{
		"__add": func(a, b float64) float64 { return a + b },
		"__sub": func(a, b float64) float64 { return a - b },
		"__mul": func(a, b float64) float64 { return a * b },
		"__div": func(a, b float64) float64 { return a / b },
		"__mod": func(a, b float64) float64 { return a - math.Floor(a/b)*b },
		"__pow": math.Pow,
	} {
		all[name] = func(L *lua.LState) int { return stringArithmetic(L, name, op) }
	}
	return all
}

func stringArithmetic(L *lua.LState, name string, op func(a, b float64) float64) int {
	a, ok1 := asNumber(L.Get(1))
	b, ok2 := asNumber(L.Get(2))
	if ok1 && ok2 {
		L.Push(lua.LNumber(op(a, b)))
		return 1
	}
	for i := 1; i <= 2; i++ {
		if other := L.GetMetaField(L.Get(i), name); other != lua.LNil && L.Get(i).Type() != lua.LTString {
			left, right := L.Get(1), L.Get(2)
			L.Push(other)
			L.Push(left)
			L.Push(right)
			L.Call(2, 1)
			return 1
		}
	}
	bad := L.Get(1)
	if ok1 {
		bad = L.Get(2)
	}
	raise(L, "%s", about(L, "perform arithmetic on", bad.Type().String(), operand(name[2:], ok1)))
	return 0
}

// concatenate is "..".
func concatenate(L *lua.LState) int {
	n := L.GetTop()
	size := 0
	for i := 1; i <= n; i++ {
		text, ok := asText(L.Get(i))
		if !ok {
			return concatenateSlowly(L, n)
		}
		size += len(text)
	}
	checkLength(L, size)
	buf := make([]byte, 0, size)
	for i := 1; i <= n; i++ {
		text, _ := asText(L.Get(i))
		buf = append(buf, text...)
	}
	L.Push(lua.LString(buf))
	return 1
}

// concatenateSlowly goes from the right and knows metamethods.
func concatenateSlowly(L *lua.LState, n int) int {
	right := L.Get(n)
	for i := n - 1; i >= 1; i-- {
		left := L.Get(i)
		l, ok1 := asText(left)
		r, ok2 := asText(right)
		if ok1 && ok2 {
			checkLength(L, len(l)+len(r))
			right = lua.LString(l + r)
			continue
		}
		op := L.GetMetaField(left, "__concat")
		if op == lua.LNil {
			op = L.GetMetaField(right, "__concat")
		}
		if op == lua.LNil {
			if ok1 {
				raise(L, "%s", aboutArgument(L, "concatenate", right, i+1, n))
			}
			raise(L, "%s", aboutArgument(L, "concatenate", left, i, n))
		}
		L.Push(op)
		L.Push(left)
		L.Push(right)
		L.Call(2, 1)
		right = L.Get(-1)
		L.Pop(1)
	}
	L.Push(right)
	return 1
}
