package script

import (
	"math"

	lua "github.com/yuin/gopher-lua"
)

func (st *State) openMath() {
	t := st.L.NewTable()
	for name, f := range map[string]func(float64) float64{
		"abs": math.Abs, "acos": math.Acos, "asin": math.Asin, "atan": math.Atan, "ceil": math.Ceil,
		"cos": math.Cos, "cosh": math.Cosh, "exp": math.Exp, "floor": math.Floor, "log": math.Log,
		"log10": math.Log10, "sin": math.Sin, "sinh": math.Sinh, "sqrt": math.Sqrt, "tan": math.Tan, "tanh": math.Tanh,
		"deg": func(f float64) float64 { return f / (math.Pi / 180) },
		"rad": func(f float64) float64 { return f * (math.Pi / 180) },
	} {
		t.RawSetString(name, st.L.NewFunction(func(L *lua.LState) int {
			L.Push(lua.LNumber(f(numberArg(L, 1))))
			return 1
		}))
	}
	for name, f := range map[string]func(a, b float64) float64{
		"atan2": math.Atan2, "fmod": math.Mod, "mod": math.Mod, "pow": math.Pow,
	} {
		t.RawSetString(name, st.L.NewFunction(func(L *lua.LState) int {
			b := numberArg(L, 2) // the last one first, as Redis' C has it
			L.Push(lua.LNumber(f(numberArg(L, 1), b)))
			return 1
		}))
	}
	t.RawSetString("pi", lua.LNumber(math.Pi))
	t.RawSetString("huge", lua.LNumber(math.Inf(1)))
	st.globals.RawSetString("math", st.L.SetFuncs(t, map[string]lua.LGFunction{
		"frexp": mathFrexp, "ldexp": mathLdexp, "max": mathMax, "min": mathMin, "modf": mathModf,
		"random": st.random, "randomseed": st.randomSeed,
	}))
}

func mathFrexp(L *lua.LState) int {
	m, e := math.Frexp(numberArg(L, 1))
	L.Push(lua.LNumber(m))
	L.Push(lua.LNumber(e))
	return 2
}

func mathLdexp(L *lua.LState) int {
	e := toInt32(numberArg(L, 2))
	L.Push(lua.LNumber(math.Ldexp(numberArg(L, 1), int(e))))
	return 1
}

func mathMax(L *lua.LState) int {
	most := numberArg(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := numberArg(L, i); f > most {
			most = f
		}
	}
	L.Push(lua.LNumber(most))
	return 1
}

func mathMin(L *lua.LState) int {
	least := numberArg(L, 1)
	for i := 2; i <= L.GetTop(); i++ {
		if f := numberArg(L, i); f < least {
			least = f
		}
	}
	L.Push(lua.LNumber(least))
	return 1
}

func mathModf(L *lua.LState) int {
	f := numberArg(L, 1)
	whole, part := math.Modf(f)
	if math.IsInf(f, 0) {
		whole, part = f, 0
	}
	L.Push(lua.LNumber(whole))
	L.Push(lua.LNumber(part))
	return 2
}

// random draws as Redis does, from the same sequence.
func (st *State) random(L *lua.LState) int {
	if st.run == nil || st.run.Load {
		raise(L, "math.random can only be called inside a script invocation")
	}
	r := st.rand.float()
	switch L.GetTop() {
	case 0:
		L.Push(lua.LNumber(r))
	case 1:
		most := float64(toInt32(numberArg(L, 1)))
		if most < 1 {
			argError(L, 1, "interval is empty")
		}
		L.Push(lua.LNumber(math.Floor(r*most) + 1))
	case 2:
		least, most := toInt32(numberArg(L, 1)), toInt32(numberArg(L, 2))
		if least > most {
			argError(L, 2, "interval is empty")
		}
		L.Push(lua.LNumber(math.Floor(r*float64(most-least+1)) + float64(least)))
	default:
		raise(L, "wrong number of arguments")
	}
	return 1
}

func (st *State) randomSeed(L *lua.LState) int {
	if st.run == nil || st.run.Load {
		raise(L, "math.randomseed can only be called inside a script invocation")
	}
	st.rand.seed(toInt32(numberArg(L, 1)))
	return 0
}
