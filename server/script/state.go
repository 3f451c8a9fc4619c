package script

import (
	lua "github.com/yuin/gopher-lua"
)

// The stacks of an interpreter. Redis allows about 8,000 values (unpack), 200
// nested calls of C functions and 20,000 of Lua's.
const (
	callDepth    = 16_000
	registryMin  = 1 << 10
	registryMax  = 320 << 10
	registryStep = 4 << 10
)

// A State is one sandboxed interpreter. It belongs to one goroutine at a time.
type State struct {
	L *lua.LState

	run      *Run
	rand     lrand48
	handler  *lua.LFunction            // adds source and line to an error
	compiled map[string]*lua.LFunction // by script
	args     arguments                 // of the command being called
	age      int                       // of its Engine, when it was made
}

// NewState returns an interpreter with Lua's libraries, ours, and the redis API
// (also under the name keydb). Its globals are not protected yet: see Protect.
func NewState() *State {
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, MinimizeStackMemory: true, CallStackSize: callDepth,
		RegistrySize: registryMin, RegistryMaxSize: registryMax, RegistryGrowStep: registryStep,
	})
	st := &State{L: l, rand: randStart, compiled: map[string]*lua.LFunction{}}
	st.openLua()
	for _, lib := range libraries() {
		st.Globals().RawSetString(lib.name, lib.load(l))
	}
	api := st.NewAPI()
	st.Globals().RawSetString("redis", api)
	st.Globals().RawSetString("keydb", api)
	st.handler = l.NewFunction(st.explain)
	return st
}

// Globals returns the table of the globals.
func (st *State) Globals() *lua.LTable { return st.L.G.Global }

// Function returns the chunk as a function of this state; name tells chunks
// apart, and the function is kept under it.
func (st *State) Function(name string, c *Chunk) *lua.LFunction {
	fn := st.compiled[name]
	if fn == nil {
		fn = st.L.NewFunctionFromProto(c.proto)
		st.compiled[name] = fn
	}
	return fn
}

// Invoke calls fn and returns the first value that it returns, or its failure.
func (st *State) Invoke(run *Run, fn *lua.LFunction, args ...lua.LValue) (lua.LValue, *Failure) {
	st.run = run
	defer func() { st.run = nil }()
	top := st.L.GetTop()
	err := st.L.CallByParam(lua.P{Fn: fn, NRet: 1, Protect: true, Handler: st.handler}, args...)
	if err != nil {
		st.L.SetTop(top)
		return lua.LNil, failureOf(err)
	}
	v := st.L.Get(-1)
	st.L.SetTop(top)
	return v, nil
}

// Strings returns a table of strings, as KEYS and ARGV are.
func (st *State) Strings(values [][]byte) *lua.LTable {
	t := st.L.CreateTable(len(values), 0)
	for _, v := range values {
		t.Append(lua.LString(v))
	}
	return t
}
