package server

import (
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"firn/commands"
	"firn/scan"
	"firn/server/script"
	"firn/shard"
)

var functionCommands = []commands.Command{
	{Name: "FUNCTION", Arity: -2, Summary: "A container for function commands", Subs: []commands.Command{
		{Name: "LOAD", Arity: -3, Run: onSession(functionLoad), Flags: commands.NoScript | commands.DenyOOM, Summary: "Create a function with the given arguments (name, code, description)"},
		{Name: "DELETE", Arity: 3, Run: onSession(functionDelete), Flags: commands.NoScript, Summary: "Delete a function by name"},
		{Name: "LIST", Arity: -2, Run: onSession(functionList), Flags: commands.NoScript, Summary: "List information about all the functions"},
		{Name: "DUMP", Arity: 2, Run: onSession(functionDump), Flags: commands.NoScript, Summary: "Dump all functions into a serialized binary payload"},
		{Name: "RESTORE", Arity: -3, Run: onSession(functionRestore), Flags: commands.NoScript | commands.DenyOOM, Summary: "Restore all the functions on the given payload"},
		{Name: "FLUSH", Arity: -2, Run: onSession(functionFlush), Flags: commands.NoScript, Summary: "Deleting all functions"},
		{Name: "STATS", Arity: 2, Run: onSession(functionStats), Flags: commands.NoScript, Summary: "Return information about the function currently running (name, description, duration)"},
		{Name: "KILL", Arity: 2, Run: onSession(functionKill), Flags: commands.NoScript, Summary: "Kill the function currently in execution."},
		{Name: "HELP", Arity: 2, Run: onSession(functionHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

// functions are the libraries of a server. Whoever looks takes the present set,
// which never changes; a change publishes another one.
type functions struct {
	mu     sync.Mutex // one change at a time
	set    atomic.Pointer[functionSet]
	engine script.FunctionEngine
}

// A functionSet is all libraries at one moment, and how their functions run.
type functionSet struct {
	script.Functions
	habits map[*script.Function]*scriptHabits
}

// load returns the libraries of this moment.
func (f *functions) load() *functionSet {
	if set := f.set.Load(); set != nil {
		return set
	}
	return &functionSet{}
}

// store publishes another set; what is known of functions that stay is kept.
func (f *functions) store(next *script.Functions) {
	old := f.load()
	set := &functionSet{*next, map[*script.Function]*scriptHabits{}}
	for _, lib := range next.Libraries() {
		for _, fn := range lib.Functions {
			if set.habits[fn] = old.habits[fn]; set.habits[fn] == nil {
				set.habits[fn] = &scriptHabits{}
			}
		}
	}
	f.set.Store(set)
}

// changeFunctions makes a change, which make returns, and tells the journal in
// the same order.
func (s *session) changeFunctions(c *commands.Call, make func(*script.Functions) (*script.Functions, error)) error {
	f := &s.srv.functions
	f.mu.Lock()
	defer f.mu.Unlock()
	next, err := make(&f.load().Functions)
	if err != nil {
		return err
	}
	f.store(next)
	s.freshHold().Commit(c.Now, []shard.Effect{{DB: c.DB, Args: c.Args}})
	return nil
}

// functionLoad is FUNCTION LOAD [REPLACE] code. The code runs aside: it may take
// its time.
func functionLoad(c *commands.Call, s *session) error {
	replace := false
	for _, option := range c.Args[2 : len(c.Args)-1] {
		if !strings.EqualFold(string(option), "replace") {
			return commands.ErrFunctionOption(option)
		}
		replace = true
	}
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error { return s.loadLibrary(c, replace) })
	})
	return nil
}

func (s *session) loadLibrary(c *commands.Call, replace bool) error {
	code := string(c.Args[len(c.Args)-1])
	lib, err := s.srv.functions.compile(code, s.loadHost(c), &s.srv.functions.load().Functions, replace)
	if err != nil {
		return err
	}
	err = s.changeFunctions(c, func(f *script.Functions) (*script.Functions, error) { return with(f, lib, replace) })
	if err != nil {
		return err
	}
	c.Out.BulkString(lib.Name)
	return nil
}

// compile makes a library of its code, if it can be put among the others.
func (f *functions) compile(code string, host script.Host, among *script.Functions, replace bool) (*script.Library, error) {
	lib, err := script.ParseLibrary(code)
	if err != nil {
		return nil, commands.ErrFunctionLoad(err)
	}
	if _, err := with(among, lib, replace); err != nil {
		return nil, err
	}
	if err := f.engine.Load(lib, host); err != nil {
		return nil, commands.ErrFunctionLoad(err)
	}
	return lib, nil
}

func with(f *script.Functions, lib *script.Library, replace bool) (*script.Functions, error) {
	next, err := f.With(lib, replace)
	if err != nil {
		return nil, commands.ErrFunctionLoad(err)
	}
	return next, nil
}

func functionDelete(c *commands.Call, s *session) error {
	name := string(c.Args[2])
	err := s.changeFunctions(c, func(f *script.Functions) (*script.Functions, error) {
		if f.Library(name) == nil {
			return nil, commands.ErrLibraryMissing
		}
		return f.Without(name), nil
	})
	if err == nil {
		c.Out.OK()
	}
	return err
}

// functionFlush is FUNCTION FLUSH [ASYNC|SYNC], which are one here.
func functionFlush(c *commands.Call, s *session) error {
	if len(c.Args) > 3 {
		return commands.ErrSubcommandSyntax([]byte("FUNCTION"), c.Args[1])
	}
	if len(c.Args) == 3 && !c.Is(2, "async") && !c.Is(2, "sync") {
		return commands.ErrFunctionFlush
	}
	err := s.changeFunctions(c, func(*script.Functions) (*script.Functions, error) { return &script.Functions{}, nil })
	if err == nil {
		c.Out.OK()
	}
	return err
}

// functionList is FUNCTION LIST [LIBRARYNAME pattern] [WITHCODE].
func functionList(c *commands.Call, s *session) error {
	withCode := false
	var pattern *scan.Glob
	for i := 2; i < len(c.Args); i++ {
		switch {
		case !withCode && c.Is(i, "withcode"):
			withCode = true
		case pattern == nil && c.Is(i, "libraryname"):
			if i++; i == len(c.Args) {
				return commands.ErrLibraryNotGiven
			}
			pattern = scan.CompileFold(c.Args[i])
		default:
			return commands.ErrFunctionArgument(c.Args[i])
		}
	}
	var found []*script.Library
	for _, lib := range s.srv.functions.load().Libraries() {
		if pattern == nil || pattern.MatchString(lib.Name) {
			found = append(found, lib)
		}
	}
	c.Out.Array(len(found))
	for _, lib := range found {
		showLibrary(c.Out, lib, withCode)
	}
	return nil
}

func showLibrary(out *commands.Reply, lib *script.Library, withCode bool) {
	fields := 3
	if withCode {
		fields = 4
	}
	out.Map(fields)
	out.BulkString("library_name")
	out.BulkString(lib.Name)
	out.BulkString("engine")
	out.BulkString(engineName)
	out.BulkString("functions")
	out.Array(len(lib.Functions))
	for _, fn := range lib.Functions {
		showFunction(out, fn)
	}
	if withCode {
		out.BulkString("library_code")
		out.BulkString(lib.Code)
	}
}

// engineName is that of the only engine.
const engineName = "LUA"

func showFunction(out *commands.Reply, fn *script.Function) {
	out.Map(3)
	out.BulkString("name")
	out.BulkString(fn.Name)
	out.BulkString("description")
	if fn.Described {
		out.BulkString(fn.Description)
	} else {
		out.Null()
	}
	out.BulkString("flags")
	names := fn.Flags.Names()
	out.Set(len(names))
	for _, name := range names {
		out.Simple(name)
	}
}

// functionStats is FUNCTION STATS. Of several functions that run it shows the oldest.
func functionStats(c *commands.Call, s *session) error {
	out := c.Out
	out.Map(2)
	out.BulkString("running_script")
	showRunning(out, s.srv.scripts.running.function())
	libraries, found := s.srv.functions.load().Len()
	out.BulkString("engines")
	out.Map(1)
	out.BulkString(engineName)
	out.Map(2)
	out.BulkString("libraries_count")
	out.Int(int64(libraries))
	out.BulkString("functions_count")
	out.Int(int64(found))
	return nil
}

// showRunning shows a function that runs; nil: none does.
func showRunning(out *commands.Reply, run *runningScript) {
	if run == nil {
		out.Null()
		return
	}
	out.Map(3)
	out.BulkString("name")
	out.BulkString(run.job.name)
	out.BulkString("command")
	out.Array(len(run.line))
	for _, arg := range run.line {
		out.BulkString(arg)
	}
	out.BulkString("duration_ms")
	out.Int(time.Since(run.began).Milliseconds())
}

func functionKill(c *commands.Call, s *session) error {
	err := s.srv.scripts.running.kill(false)
	if err == nil {
		c.Out.OK()
	}
	return err
}

func functionHelp(c *commands.Call, _ *session) error {
	c.Out.Help("FUNCTION",
		"LOAD [REPLACE] <FUNCTION CODE>",
		"    Create a new library with the given library name and code.",
		"DELETE <LIBRARY NAME>",
		"    Delete the given library.",
		"LIST [LIBRARYNAME PATTERN] [WITHCODE]",
		"    Return general information on all the libraries:",
		"    * Library name",
		"    * The engine used to run the Library",
		"    * Library description",
		"    * Functions list",
		"    * Library code (if WITHCODE is given)",
		"    It also possible to get only function that matches a pattern using LIBRARYNAME argument.",
		"STATS",
		"    Return information about the current function running:",
		"    * Function name",
		"    * Command used to run the function",
		"    * Duration in MS that the function is running",
		"    If no function is running, return nil",
		"    In addition, returns a list of available engines.",
		"KILL",
		"    Kill the current running function.",
		"FLUSH [ASYNC|SYNC]",
		"    Delete all the libraries.",
		"    When called without the optional mode argument, the behavior is determined by the",
		"    lazyfree-lazy-user-flush configuration directive. Valid modes are:",
		"    * ASYNC: Asynchronously flush the libraries.",
		"    * SYNC: Synchronously flush the libraries.",
		"DUMP",
		"    Return a serialized payload representing the current libraries, can be restored using FUNCTION RESTORE command",
		"RESTORE <PAYLOAD> [FLUSH|APPEND|REPLACE]",
		"    Restore the libraries represented by the given payload, it is possible to give a restore policy to",
		"    control how to handle existing libraries (default APPEND):",
		"    * FLUSH: delete all existing libraries.",
		"    * APPEND: appends the restored libraries to the existing libraries. On collision, abort.",
		"    * REPLACE: appends the restored libraries to the existing libraries, On collision, replace the old",
		"      libraries with the new libraries (notice that even on this option there is a chance of failure",
		"      in case of functions name collision with another library).")
	return nil
}
