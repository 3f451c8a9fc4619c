package script

import (
	"crypto/sha1"
	"encoding/hex"

	lua "github.com/yuin/gopher-lua"
)

// Version is what scripts read as REDIS_VERSION: the one whose behaviour this is.
const (
	Version    = "7.0.15"
	VersionNum = 0x07000f
)

// SHA1 returns the name of a script, or of any string.
func SHA1(s []byte) string {
	sum := sha1.Sum(s)
	return hex.EncodeToString(sum[:])
}

// NewAPI returns a new table with the redis API.
func (st *State) NewAPI() *lua.LTable {
	t := st.L.NewTable()
	for name, f := range map[string]lua.LGFunction{
		"call":               func(l *lua.LState) int { return st.call(l, true) },
		"pcall":              func(l *lua.LState) int { return st.call(l, false) },
		"sha1hex":            sha1hex,
		"error_reply":        errorReply,
		"status_reply":       statusReply,
		"setresp":            st.setResp,
		"set_repl":           st.setRepl,
		"acl_check_cmd":      st.aclCheck,
		"replicate_commands": func(l *lua.LState) int { l.Push(lua.LTrue); return 1 },
		"breakpoint":         func(l *lua.LState) int { l.Push(lua.LFalse); return 1 },
		"debug":              func(*lua.LState) int { return 0 },
	} {
		t.RawSetString(name, st.L.NewFunction(f))
	}
	for name, n := range map[string]lua.LNumber{"REPL_NONE": 0, "REPL_AOF": 1, "REPL_SLAVE": 2, "REPL_REPLICA": 2, "REPL_ALL": 3} {
		t.RawSetString(name, n)
	}
	st.AddLog(t)
	return t
}

// AddLog puts the log function, its levels and the version into a table.
func (st *State) AddLog(t *lua.LTable) {
	t.RawSetString("log", st.L.NewFunction(st.log))
	for name, n := range map[string]lua.LNumber{"LOG_DEBUG": 0, "LOG_VERBOSE": 1, "LOG_NOTICE": 2, "LOG_WARNING": 3} {
		t.RawSetString(name, n)
	}
	t.RawSetString("REDIS_VERSION", lua.LString(Version))
	t.RawSetString("REDIS_VERSION_NUM", lua.LNumber(VersionNum))
}

// call runs a command: redis.call if it raises errors, redis.pcall if not.
func (st *State) call(l *lua.LState, raises bool) int {
	if st.run == nil || st.run.Load {
		return throw(l, "redis.call/pcall can only be called inside a script invocation")
	}
	v, failed := st.command(l)
	if failed && raises {
		l.Error(v, 1)
	}
	l.Push(v)
	return 1
}

// command runs the command line of the arguments and returns what it says.
func (st *State) command(l *lua.LState) (v lua.LValue, failed bool) {
	if l.GetTop() == 0 {
		return errorTable(l, "Please specify at least one argument for this redis lib call"), true
	}
	if !st.args.read(l) {
		return errorTable(l, "Lua redis lib command arguments must be strings or integers"), true
	}
	reply, err := st.run.Host.Call(st.args.args, st.run.Proto())
	if err != nil {
		st.clock.stop(err)
		t := errorTable(l, "-"+err.Error())
		t.RawSetString("ignore_error_stats_update", lua.LTrue)
		return t, true
	}
	p := parser{l, reply}
	return p.value(), reply[0] == '-'
}

func sha1hex(l *lua.LState) int {
	if l.GetTop() != 1 {
		return throw(l, "wrong number of arguments")
	}
	l.Push(lua.LString(SHA1([]byte(lua.LVAsString(l.Get(1))))))
	return 1
}

// errorReply returns the table that becomes an error reply.
func errorReply(l *lua.LState) int {
	s, ok := l.Get(1).(lua.LString)
	switch {
	case l.GetTop() != 1 || !ok:
		l.Push(errorTable(l, "wrong number or type of arguments"))
	case len(s) > 0 && s[0] == '-':
		l.Push(errorTable(l, string(s)))
	default:
		l.Push(errorTable(l, "-"+string(s)))
	}
	return 1
}

func statusReply(l *lua.LState) int {
	s, ok := l.Get(1).(lua.LString)
	if l.GetTop() != 1 || !ok {
		l.Push(errorTable(l, "wrong number or type of arguments"))
		return 1
	}
	t := l.NewTable()
	t.RawSetString("ok", s)
	l.Push(t)
	return 1
}

func (st *State) setResp(l *lua.LState) int {
	if st.run == nil || st.run.Load {
		return throw(l, "redis.setresp can only be called inside a script invocation")
	}
	if l.GetTop() != 1 {
		return throw(l, "redis.setresp() requires one argument.")
	}
	v := int(lua.LVAsNumber(l.Get(1)))
	if v != 2 && v != 3 {
		return throw(l, "RESP version must be 2 or 3.")
	}
	st.run.proto = v
	return 0
}

func (st *State) setRepl(l *lua.LState) int {
	if st.run == nil || st.run.Load {
		return throw(l, "redis.set_repl can only be called inside a script invocation")
	}
	if l.GetTop() != 1 {
		return throw(l, "redis.set_repl() requires two arguments.")
	}
	flags := int(lua.LVAsNumber(l.Get(1)))
	if flags&^3 != 0 {
		return throw(l, "Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.")
	}
	st.run.Host.Replicate(flags&1 != 0, flags&2 != 0)
	return 0
}

func (st *State) aclCheck(l *lua.LState) int {
	if st.run == nil || st.run.Load {
		return throw(l, "redis.acl_check_cmd can only be called inside a script invocation")
	}
	if l.GetTop() == 0 {
		return throw(l, "Please specify at least one argument for this redis lib call")
	}
	if !st.args.read(l) {
		return throw(l, "Lua redis lib command arguments must be strings or integers")
	}
	ok, err := st.run.Host.Allowed(st.args.args)
	if err != nil {
		return throw(l, "Invalid command passed to redis.acl_check_cmd()")
	}
	l.Push(lua.LBool(ok))
	return 1
}

func (st *State) log(l *lua.LState) int {
	n := l.GetTop()
	if n < 2 {
		return throw(l, "redis.log() requires two arguments or more.")
	}
	if _, ok := asNumber(l.Get(1)); !ok {
		return throw(l, "First argument must be a number (log level).")
	}
	level := int(lua.LVAsNumber(l.Get(1)))
	if level < 0 || level > 3 {
		return throw(l, "Invalid debug level.")
	}
	line := ""
	for i := 2; i <= n; i++ {
		if lua.LVCanConvToString(l.Get(i)) {
			if i > 2 {
				line += " "
			}
			line += lua.LVAsString(l.Get(i))
		}
	}
	if st.run != nil {
		st.run.Host.Log(level, line)
	}
	return 0
}
