package server

import (
	"firn/commands"
	"firn/server/script"
)

const evalFlags = commands.NoScript | commands.SkipMon

var evalCommands = []commands.Command{
	{Name: "EVAL", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(eval), Flags: evalFlags, Summary: "Execute a Lua script server side"},
	{Name: "EVAL_RO", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(eval), Flags: evalFlags, Summary: "Execute a read-only Lua script server side"},
	{Name: "EVALSHA", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(evalSHA), Flags: evalFlags, Summary: "Execute a Lua script server side"},
	{Name: "EVALSHA_RO", Arity: -3, Keys: commands.Keys{Find: scriptKeys}, Run: onSession(evalSHA), Flags: evalFlags, Summary: "Execute a read-only Lua script server side"},
	{Name: "SCRIPT", Arity: -2, Summary: "A container for Lua scripts management commands", Subs: []commands.Command{
		{Name: "DEBUG", Arity: 3, Run: onSession(scriptDebug), Flags: commands.NoScript, Summary: "Set the debug mode for executed scripts."},
		{Name: "EXISTS", Arity: -3, Run: onSession(scriptExists), Flags: commands.NoScript, Summary: "Check existence of scripts in the script cache."},
		{Name: "FLUSH", Arity: -2, Run: onSession(scriptFlush), Flags: commands.NoScript, Summary: "Remove all the scripts from the script cache."},
		{Name: "HELP", Arity: 2, Run: onSession(scriptHelp), Flags: commands.Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "KILL", Arity: 2, Run: onSession(scriptKill), Flags: commands.NoScript, Summary: "Kill the script currently in execution."},
		{Name: "LOAD", Arity: 3, Run: onSession(scriptLoad), Flags: commands.NoScript, Summary: "Load the specified Lua script into the script cache."},
	}},
}

// scriptKeys finds the keys behind a numkeys in argument 2.
func scriptKeys(args [][]byte) []int {
	n, ok := commands.ParseInt(args[2])
	if !ok || n < 0 || n > int64(len(args)-3) {
		return nil
	}
	at := make([]int, n)
	for i := range at {
		at[i] = i + 3
	}
	return at
}

// scriptArgs takes KEYS and ARGV from the command line.
func scriptArgs(args [][]byte) (keys, argv [][]byte, err error) {
	n, ok := commands.ParseInt(args[2])
	switch {
	case !ok:
		return nil, nil, commands.ErrNotInteger
	case n > int64(len(args)-3):
		return nil, nil, commands.ErrKeysOverArgs
	case n < 0:
		return nil, nil, commands.ErrKeysNegative
	}
	return args[3 : 3+n], args[3+n:], nil
}

// scripts is what the server has for running Lua.
type scripts struct {
	cache   scriptCache
	engine  script.Engine
	running runningScripts
}

// compileAside is from how many bytes of source on a script is compiled aside.
const compileAside = 8 << 10

func eval(c *commands.Call, s *session) error {
	s.shownFirst(c)
	keys, argv, err := scriptArgs(c.Args)
	if err != nil {
		return err
	}
	body, ro := c.Args[1], readOnlyRow(c.Row)
	if len(body) > compileAside && s.nest.hold == nil && s.srv.scripts.cache.find([]byte(script.SHA1(body))) == nil {
		s.aside(func(c *commands.Call) error {
			return c.Guard(func() error {
				cached, err := s.srv.scripts.cache.compile(body)
				if err != nil {
					return err
				}
				return s.runScriptAside(c, s.evalJob(cached, keys, argv, ro))
			})
		})
		return nil
	}
	cached, err := s.srv.scripts.cache.compile(body)
	if err != nil {
		return err
	}
	return s.runScript(c, s.evalJob(cached, keys, argv, ro))
}

func evalSHA(c *commands.Call, s *session) error {
	s.shownFirst(c)
	if len(c.Args[1]) != 40 {
		return commands.ErrNoScript
	}
	keys, argv, err := scriptArgs(c.Args)
	if err != nil {
		return err
	}
	cached := s.srv.scripts.cache.find(c.Args[1])
	if cached == nil {
		return commands.ErrNoScript
	}
	return s.runScript(c, s.evalJob(cached, keys, argv, readOnlyRow(c.Row)))
}

// readOnlyRow says whether the row runs scripts that only read.
func readOnlyRow(row *commands.Command) bool {
	name := row.FullName()
	return len(name) > 3 && name[len(name)-3:] == "_ro"
}

// evalJob is the run of a script, on the session's desk.
func (s *session) evalJob(cached *cachedScript, keys, argv [][]byte, ro bool) *scriptJob {
	d := s.scriptDesk()
	d.cached, d.argv = cached, argv
	d.job = scriptJob{name: cached.sha, eval: true, flags: cached.flags, ro: ro, keys: keys, habits: &cached.scriptHabits, run: d.run}
	return &d.job
}

// A scriptDesk is memory for the scripts that a session runs, one at a time.
type scriptDesk struct {
	host   scriptHost
	job    scriptJob
	cached *cachedScript
	argv   [][]byte
	run    func(run *script.Run, reply func(v script.Value)) *script.Failure
	used   bool // by the script that is running
	done   func()
}

// scriptDesk returns the session's desk, or a new one if a script of the session
// is running already.
func (s *session) scriptDesk() *scriptDesk {
	if s.script != nil && !s.script.used {
		return s.script
	}
	d := &scriptDesk{}
	d.run, d.done = d.eval, func() { d.used = false }
	d.host.init(s)
	if s.script == nil {
		s.script = d
	}
	return d
}

// eval runs the script of the desk.
func (d *scriptDesk) eval(run *script.Run, reply func(v script.Value)) *script.Failure {
	engine := &d.host.s.srv.scripts.engine
	st := engine.Take()
	defer engine.Give(st)
	g := st.Globals()
	g.RawSetString("KEYS", st.Strings(d.job.keys))
	g.RawSetString("ARGV", st.Strings(d.argv))
	v, failure := st.Invoke(run, st.Function(d.cached.sha, d.cached.chunk))
	if failure == nil {
		reply(v)
	}
	return failure
}
