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
	if err := L.PCall(L.GetTop()-1, lua.MultRet, st.mender); err != nil {
		v := errorValue(err)
		if t, ok := v.(*lua.LTable); ok {
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
	fn, handler := L.Get(1), L.Get(2)
	mend := L.NewFunction(func(L *lua.LState) int {
		v := mended(L, L.Get(1))
		L.Push(handler)
		L.Push(v)
		L.Call(1, 1)
		return 1
	})
	L.SetTop(0)
	L.Push(fn)
	if err := L.PCall(0, lua.MultRet, mend); err != nil {
		return failed(L, errorValue(err))
	}
	L.Insert(lua.LTrue, 1)
	return L.GetTop()
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
