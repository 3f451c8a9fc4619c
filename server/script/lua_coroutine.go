package script

import lua "github.com/yuin/gopher-lua"

// maxResumed is how deep coroutines may resume coroutines: C Lua's limit, and
// what bounds the stack here.
const maxResumed = 190

// openCoroutine sets the coroutine library: gopher-lua's, except that a
// coroutine can be interrupted too, and that its depth is bounded.
func (st *State) openCoroutine() {
	scratch := lua.NewState(lua.Options{SkipOpenLibs: true})
	lua.OpenCoroutine(scratch)
	theirs := scratch.G.Global.RawGetString("coroutine").(*lua.LTable)
	function := func(name string) lua.LGFunction { return theirs.RawGetString(name).(*lua.LFunction).GFunction }
	t := st.L.NewTable()
	t.RawSetString("yield", st.L.NewFunction(func(L *lua.LState) int {
		if L.Parent == nil {
			raiseBare(L, "attempt to yield across metamethod/C-call boundary")
		}
		return function("yield")(L)
	}))
	for _, name := range []string{"running", "status"} {
		t.RawSetString(name, st.L.NewFunction(function(name)))
	}
	create, resume := st.creator(function("create")), st.resumer(function("resume"))
	t.RawSetString("create", st.L.NewFunction(create))
	t.RawSetString("resume", st.L.NewFunction(resume))
	t.RawSetString("wrap", st.L.NewFunction(func(L *lua.LState) int {
		create(L)
		thread := L.Get(-1)
		L.Push(L.NewFunction(func(L *lua.LState) int { return wrapped(L, thread, resume) }))
		return 1
	}))
	st.globals.RawSetString("coroutine", t)
}

func (st *State) creator(create lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		functionArg(L, 1)
		L.SetTop(1)
		create(L)
		L.Get(-1).(*lua.LState).SetContext(&st.clock)
		return 1
	}
}

func (st *State) resumer(resume lua.LGFunction) lua.LGFunction {
	return func(L *lua.LState) int {
		thread, ok := L.Get(1).(*lua.LState)
		switch {
		case !ok:
			argError(L, 1, "coroutine expected")
		case thread.Dead:
			return failed(L, lua.LString("cannot resume dead coroutine"))
		case thread == L:
			return failed(L, lua.LString("cannot resume running coroutine"))
		case L.Status(thread) == "normal":
			return failed(L, lua.LString("cannot resume normal coroutine"))
		}
		if st.resumed >= maxResumed {
			raise(L, "C stack overflow")
		}
		st.resumed++
		n := resume(L)
		st.resumed--
		return n
	}
}

// wrapped resumes the thread; its errors are the caller's.
func wrapped(L *lua.LState, thread lua.LValue, resume lua.LGFunction) int {
	L.Insert(thread, 1)
	n := resume(L)
	if n > 0 && L.Get(-n) == lua.LFalse {
		if text, ok := asString(L.Get(-1)); ok {
			raise(L, "%s", text)
		}
		L.Error(L.Get(-1), 0)
	}
	return n - 1
}
