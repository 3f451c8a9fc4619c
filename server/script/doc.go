// Package script runs Lua for EVAL and FUNCTION: sandboxed interpreters, the
// redis API inside them, and what stands between Lua values and replies. It
// knows no server: commands run through a Host.
//
// # How to use it
//
//	chunk, err := script.Compile("user_script", source)   // once a script, shared by all states
//	st := engine.Take()                                    // an idle interpreter, or a new one
//	fn := st.Function(sha, chunk)                          // the chunk as a function of this state, kept
//	v, failure := st.Invoke(&script.Run{Host: host, Name: sha}, fn, keys, args)
//	script.WriteReply(out, v, run.Proto())                 // or failure.Message(name)
//	engine.Give(st)
//
// # Ownership
//
//	what                      owner
//	State, its tables         whoever took it from the Engine
//	Chunk                     nobody changes it; shared by all states
//	Engine.idle               Engine.mu
//
// Nothing of a script survives its run: its globals are protected as in Redis,
// so a state can serve any script after any other.
//
// # Where libraries are registered
//
// libraries.go lists them: a name and a Loader, which gets the new state and
// returns the table that becomes the global of that name. cjson, cmsgpack,
// struct and bit stand in lib_<name>.go.
//
// # What differs from the Lua of Redis
//
// gopher-lua is used as it is. What it does otherwise than C Lua 5.1 is put right
// from outside where scripts would see it: number literals, "..", and the bounds
// of a numeric for, "#" and assignments of several values by rewriting the tree of
// a chunk (rewrite.go, rewrite_assign.go); arithmetic on strings by their metatable
// (lua_operators.go); readonly tables by fronts (lua_protect.go); the variables of
// functions that have failed by threads (lua_call.go); messages on their way out
// (messages.go, names.go); the libraries by our own. What is left: messages of
// syntax errors don't say what was expected; goto is a reserved word; next takes
// any key; an error in a chunk of loadstring names that chunk in brackets; % of
// fractions is exact, and infinity and zero on its right; zero has no sign where
// it is computed; the length of a table with holes, which Lua leaves open, may be
// another one.
//
// # For functions
//
// A function engine makes its own states with NewState. Redis loads a library
// with other globals than it runs it with: give a table of one's own to
// UseGlobals (with a redis table that has register_function and State.AddLog),
// run the library's chunk with Invoke (Run.Load set), keep the *lua.LFunction
// values per state, and call them with Invoke (their globals are those that the
// chunk had: see LFunction.Env). Seal protects a state's own globals; Protect
// makes any table, and all it reaches, readonly and returns what stands for it
// (gopher-lua has no readonly tables: it is a front with metatables); ErrorIndex
// is the "nonexistent global variable" error.
package script
