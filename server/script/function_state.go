package script

import (
	"fmt"
	"maps"
	"sync"

	lua "github.com/yuin/gopher-lua"
)

// A FunctionState is an interpreter that runs functions. It loads the libraries
// that it needs as they are called, so that there can be several: what a library
// keeps in local variables lives in one of them, and as long as functions are
// called one after the other that is always the same.
//
// Functions have an empty, readonly table for globals. What they see through it
// is, as in Redis, one of two things: while a library loads only redis with
// register_function and log; else what scripts see.
type FunctionState struct {
	*State
	view    *lua.LTable // metatable of the globals: its __index is what functions see
	load    *lua.LTable // what they see while a library loads
	loaded  map[*Library]map[string]*lua.LFunction
	loading *loading
	present *Functions // of which it has no more loaded
}

// newFunctionState returns a state without libraries.
func newFunctionState() *FunctionState {
	st := NewState()
	st.Seal()
	fs := &FunctionState{State: st, view: st.L.NewTable(), load: st.L.NewTable(), loaded: map[*Library]map[string]*lua.LFunction{}}
	api := st.L.NewTable()
	api.RawSetString("register_function", st.L.NewFunction(fs.register))
	st.AddLog(api)
	st.ErrorIndex(api)
	st.ErrorIndex(fs.load)
	fs.load.RawSetString("redis", st.Protect(api))
	env := st.L.NewTable()
	env.Metatable = fs.view
	fs.view.RawSetString("__newindex", st.refuse)
	st.reals[env] = st.globals
	fs.see(st.globals)
	st.UseGlobals(env)
	return fs
}

// see sets what functions see for globals.
func (fs *FunctionState) see(globals *lua.LTable) { fs.view.RawSetString("__index", globals) }

// run runs a library's code, which registers its functions.
func (fs *FunctionState) run(lib *Library, run *Run) (*loading, *Failure) {
	l := &loading{functions: map[string]*lua.LFunction{}}
	fs.loading = l
	fs.see(fs.load)
	defer func() {
		fs.loading = nil
		fs.see(fs.Globals())
	}()
	run.Load = true
	_, failure := fs.Invoke(run, fs.instance(lib.chunk))
	return l, failure
}

// Lookup returns a function of this state. It loads the function's library if
// it must; then host serves that, and may end it.
func (fs *FunctionState) Lookup(fn *Function, host Host) (*lua.LFunction, *Failure) {
	if fs.loaded[fn.Library] == nil {
		l, failure := fs.run(fn.Library, &Run{Host: quiet{host}})
		if failure != nil {
			return nil, failure
		}
		fs.loaded[fn.Library] = l.functions
	}
	if callback := fs.loaded[fn.Library][fn.Name]; callback != nil {
		return callback, nil
	}
	return nil, &Failure{Text: "ERR the library does not register the function any more"}
}

// quiet is the Host of a library that is loaded again, which nobody asked for:
// it logs nothing.
type quiet struct{ Host }

func (quiet) Log(int, string) {}

// functionStates is how many idle states are kept.
const functionStates = 8

// A FunctionEngine keeps the states of functions. Any goroutine may call it.
type FunctionEngine struct {
	mu   sync.Mutex
	idle []*FunctionState // the last used one at the end: it is used next
}

// Take returns a state for one call; Give gives it back. It forgets libraries
// that are not among the present ones.
func (e *FunctionEngine) Take(present *Functions) *FunctionState {
	fs := e.take()
	if fs.present != present {
		fs.present = present
		maps.DeleteFunc(fs.loaded, func(lib *Library, _ map[string]*lua.LFunction) bool { return present.libraries[lib.Name] != lib })
	}
	return fs
}

func (e *FunctionEngine) take() *FunctionState {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := len(e.idle)
	if n == 0 {
		return newFunctionState()
	}
	fs := e.idle[n-1]
	e.idle = e.idle[:n-1]
	return fs
}

// Give takes a state back.
func (e *FunctionEngine) Give(fs *FunctionState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.idle) < functionStates {
		e.idle = append(e.idle, fs)
	}
}

// Load compiles and runs the code of a library that was only parsed, which finds its
// functions. The host serves the code: its Interrupt must end what takes too
// long. The library is not among others yet.
func (e *FunctionEngine) Load(lib *Library, host Host) error {
	if err := lib.compile(); err != nil {
		return err
	}
	fs := e.take()
	defer e.Give(fs)
	l, failure := fs.run(lib, &Run{Host: host})
	if failure != nil {
		return fmt.Errorf("Error registering functions: %s", failure.Text)
	}
	if err := l.complete(lib); err != nil {
		return err
	}
	fs.loaded[lib] = l.functions
	return nil
}
