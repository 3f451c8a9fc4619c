package script

import (
	"errors"
	"strings"

	lua "github.com/yuin/gopher-lua"
)

// pcall is Redis': of an error table with a text it returns the text.
func (st *State) pcall(L *lua.LState) int {
	switch fn := L.Get(1).(type) {
	case *lua.LFunction:
	default:
		kind := fn.Type().String()
		if L.GetTop() == 0 {
			kind = "boolean" // what Redis' wrapper has there
		}
		if L.GetMetaField(fn, "__call") == lua.LNil {
			return failed(L, lua.LString("attempt to call a "+kind+" value"))
		}
	}
	v, ok := st.protected(L, nil)
	if !ok {
		if t, isTable := v.(*lua.LTable); isTable {
			if text := L.GetField(t, "err"); lua.LVCanConvToString(text) {
				v = text
			}
		}
		return failed(L, v)
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

func (st *State) xpcall(L *lua.LState) int {
	anyArg(L, 2)
	handler := L.Get(2)
	L.SetTop(1)
	if v, ok := st.protected(L, handler); !ok {
		return failed(L, v)
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
}

// protected calls the function at 1 with the arguments behind it and leaves what
// it returns, or returns what it has thrown, which handler has seen if there is
// one.
//
// It runs in a thread of its own. gopher-lua closes the upvalues of all functions
// of a thread when one fails (those that go on would lose their variables), or,
// with a handler, of none (closures that have got out of the failed ones would see
// whatever the stack holds next). Here they are exactly the failed ones.
func (st *State) protected(L *lua.LState, handler lua.LValue) (thrown lua.LValue, ok bool) {
	if st.resumed >= maxResumed {
		raiseBare(L, "C stack overflow")
	}
	st.resumed++
	th := st.thread(L)
	n := L.GetTop()
	L.XMoveTo(th, n)
	catch := st.catcher
	if handler != nil {
		catch = L.NewFunction(func(L *lua.LState) int {
			v := mended(L, L.Get(1))
			L.Push(handler)
			L.Push(v)
			L.Call(1, 1)
			return closeAll(L)
		})
	}
	err := th.PCall(n-1, lua.MultRet, catch)
	st.resumed--
	if err != nil {
		if v := errorValue(err); v != lua.LValue(lua.LString("stack overflow")) {
			th.SetTop(0)
			st.threads = append(st.threads, th)
			return v, false
		}
		return errorValue(err), false // no handler has run: the thread is of no more use
	}
	th.XMoveTo(L, th.GetTop())
	st.threads = append(st.threads, th)
	return nil, true
}

// thread returns a thread for a protected call.
func (st *State) thread(L *lua.LState) *lua.LState {
	if n := len(st.threads); n > 0 {
		th := st.threads[n-1]
		st.threads = st.threads[:n-1]
		return th
	}
	th, _ := L.NewThread()
	th.SetContext(&st.clock)
	return th
}

// catch is the error handler of protected calls.
func catch(L *lua.LState) int {
	L.Push(mended(L, L.Get(1)))
	return closeAll(L)
}

// closeAll closes the upvalues of the functions of the thread, which have failed,
// by failing itself: a handler runs while they are still there. It returns 1.
func closeAll(L *lua.LState) int {
	v := L.Get(-1)
	L.Push(L.NewFunction(func(L *lua.LState) int { L.RaiseError(""); return 0 }))
	_ = L.PCall(0, 0, nil)
	L.Push(v)
	return 1
}

func failed(L *lua.LState, v lua.LValue) int {
	L.SetTop(0)
	L.Push(lua.LFalse)
	L.Push(v)
	return 2
}

// tooDeep is what gopher-lua panics with when its stack is full; no handler can
// run then.
const tooDeep = "lua callstack overflow"

// errorValue returns what a script has thrown.
func errorValue(err error) lua.LValue {
	var api *lua.ApiError
	if errors.As(err, &api) && api.Object != nil {
		if s, ok := api.Object.(lua.LString); ok && s == tooDeep {
			return lua.LString("stack overflow")
		}
		return api.Object
	}
	return lua.LString(err.Error())
}

func (st *State) loadString(L *lua.LState) int {
	source := stringArg(L, 1)
	return st.loadText(L, source, optString(L, 2, source))
}

// load gets the source in pieces.
func (st *State) load(L *lua.LState) int {
	reader := functionArg(L, 1)
	name := optString(L, 2, "=(load)")
	var source strings.Builder
	for {
		L.Push(reader)
		L.Call(0, 1)
		piece, ok := asString(L.Get(-1))
		if L.Get(-1) == lua.LNil || ok && piece == "" {
			return st.loadText(L, source.String(), name)
		}
		if !ok {
			raise(L, "reader function must return a string")
		}
		L.Pop(1)
		source.WriteString(piece)
		checkLength(L, source.Len())
	}
}

func (st *State) loadText(L *lua.LState, source, name string) int {
	chunk, err := Compile(shortSource(name), source)
	if err != nil {
		L.Push(lua.LNil)
		L.Push(lua.LString(err.Error()))
		return 2
	}
	L.Push(st.instance(chunk))
	return 1
}

// shortSource is what messages call a chunk: the name behind '@' or '=', or the
// first line of the source.
func shortSource(name string) string {
	const most = 59
	if name != "" && (name[0] == '=' || name[0] == '@') {
		return name[1:min(len(name), most+1)]
	}
	line, _, cut := strings.Cut(name, "\n")
	if limit := most - len(`[string "..."]`) - 3; len(line) > limit {
		line, cut = line[:limit], true
	}
	if cut {
		line += "..."
	}
	return `[string "` + line + `"]`
}
