package script

import (
	lua "github.com/yuin/gopher-lua"
)

// The stacks of an interpreter. Redis allows about 8,000 values (unpack) and
// 20,000 nested calls.
const (
	callDepth    = 16_000
	registryMin  = 1 << 10
	registryMax  = 320 << 10
	registryStep = 4 << 10
)

// A State is one sandboxed interpreter. It belongs to one goroutine at a time.
type State struct {
	L *lua.LState

	globals  *lua.LTable // the real ones
	run      *Run
	clock    clock
	rand     lrand48
	resumed  int // coroutines that are running inside each other
	age      int // of its Engine, when it was made
	explain  *lua.LFunction
	catcher  *lua.LFunction // of protected calls
	threads  []*lua.LState  // for protected calls, idle
	refuse   *lua.LFunction
	concat   *lua.LFunction
	number   *lua.LFunction
	len      *lua.LFunction
	fronts   map[*lua.LTable]*lua.LTable // by what they stand for
	reals    map[*lua.LTable]*lua.LTable // by their fronts
	compiled map[string]*lua.LFunction   // by script
	args     arguments                   // of the command being called

	longest *lua.LTable // whose length was asked for last, of those longer than an array
	length  int
}

// NewState returns an interpreter with Lua's libraries, ours, and the redis API
// (also under the name keydb). Its globals are not protected yet: see Seal.
func NewState() *State {
	limitArrays()
	l := lua.NewState(lua.Options{
		SkipOpenLibs: true, MinimizeStackMemory: true, CallStackSize: callDepth,
		RegistrySize: registryMin, RegistryMaxSize: registryMax, RegistryGrowStep: registryStep,
	})
	st := &State{
		L: l, globals: l.NewTable(), rand: randStart, compiled: map[string]*lua.LFunction{},
		fronts: map[*lua.LTable]*lua.LTable{}, reals: map[*lua.LTable]*lua.LTable{},
	}
	st.clock.done = make(chan struct{})
	close(st.clock.done)
	l.SetContext(&st.clock)
	st.explain, st.catcher = l.NewFunction(st.explained), l.NewFunction(catch)
	st.refuse = l.NewFunction(func(l *lua.LState) int { raise(l, readonlyText); return 0 })
	st.concat, st.number, st.len = l.NewFunction(concatenate), l.NewFunction(forNumber), l.NewFunction(st.lengthOperator)
	st.openBase()
	st.openTable()
	st.openString()
	st.openMath()
	st.openCoroutine()
	for _, lib := range libraries() {
		st.globals.RawSetString(lib.name, lib.load(l))
	}
	api := st.NewAPI()
	st.globals.RawSetString("redis", api)
	st.globals.RawSetString("keydb", api)
	st.UseGlobals(st.globals)
	return st
}

// Globals returns the table of the globals, the real one, for Go code to change.
func (st *State) Globals() *lua.LTable { return st.globals }

// UseGlobals makes t what functions that are made from now on have as globals.
func (st *State) UseGlobals(t *lua.LTable) {
	st.L.G.Global, st.L.Env = t, t
}

// Seal protects the globals, and all they reach, and makes reading one that does
// not exist an error.
func (st *State) Seal() {
	st.ErrorIndex(st.globals)
	front := st.Protect(st.globals)
	st.globals.RawSetString("_G", front)
	st.UseGlobals(front)
}

// Function returns the chunk as a function of this state; name tells chunks
// apart, and the function is kept under it.
func (st *State) Function(name string, c *Chunk) *lua.LFunction {
	fn := st.compiled[name]
	if fn == nil {
		fn = st.instance(c)
		st.compiled[name] = fn
	}
	return fn
}

// instance makes a function of the chunk.
func (st *State) instance(c *Chunk) *lua.LFunction {
	fn := st.L.NewFunctionFromProto(c.proto)
	if !c.wrapped {
		return fn
	}
	st.L.Push(fn)
	st.L.Push(st.concat)
	st.L.Push(st.number)
	st.L.Push(st.len)
	st.L.Call(3, 1)
	inner := st.L.Get(-1).(*lua.LFunction)
	st.L.Pop(1)
	return inner
}

// Invoke calls fn and returns the first value that it returns, or its failure.
func (st *State) Invoke(run *Run, fn *lua.LFunction, args ...lua.LValue) (lua.LValue, *Failure) {
	env := st.L.Env
	st.begin(run)
	defer st.end(env)
	if !fn.IsG {
		fn.Env = env // a run may have changed it
	}
	err := st.L.CallByParam(lua.P{Fn: fn, NRet: 1, Protect: true, Handler: st.explain}, args...)
	v := st.L.Get(-1)
	st.L.SetTop(0)
	switch ended := st.clock.err; {
	case ended != nil: // even if the script has ended by itself at the same moment
		return lua.LNil, &Failure{Text: ended.Error(), Err: ended}
	case err != nil:
		return lua.LNil, failureOf(err)
	}
	return v, nil
}

func (st *State) begin(run *Run) {
	st.run, st.resumed = run, 0
	st.clock.begin(run.Host)
}

func (st *State) end(env *lua.LTable) {
	st.run, st.longest = nil, nil
	st.clock.begin(nil)
	st.UseGlobals(env)
}

// Strings returns a table of strings, as KEYS and ARGV are.
func (st *State) Strings(values [][]byte) *lua.LTable {
	t := st.L.CreateTable(len(values), 0)
	for i, v := range values {
		t.RawSetInt(i+1, lua.LString(v))
	}
	return t
}
