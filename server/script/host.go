package script

import lua "github.com/yuin/gopher-lua"

// A Host is what a script can reach outside of Lua. It serves one run and is
// called from the goroutine of that run only.
type Host interface {
	// Call runs one command line and returns its one reply, in the given
	// protocol version (2 or 3). The arguments are the callee's until it returns,
	// the reply is the caller's until the next Call. An error is a refusal: the
	// command has not run. Its text is an error line with its code but without
	// the dash.
	Call(args [][]byte, proto int) (reply []byte, err error)
	// Allowed says whether the user may run the command line (acl_check_cmd). An
	// error says that there is no such command.
	Allowed(args [][]byte) (bool, error)
	// Log writes a line to the server's log; level is 0 (debug) to 3 (warning).
	Log(level int, line string)
	// Replicate sets what happens to the effects of the commands that follow:
	// whether the append-only file and the replicas get them (set_repl).
	Replicate(aof, replicas bool)
	// Interrupt is called every so many instructions. An error ends the script,
	// whatever it does to catch it.
	Interrupt() error
}

// A Stop is an error of Host.Call that ends the script, whatever it does to
// catch it. Failure.Err is then Err.
type Stop struct{ Err error }

func (s Stop) Error() string { return s.Err.Error() }

// A Value is a value of Lua.
type Value = lua.LValue

// A Run is one invocation of a script or function.
type Run struct {
	Host Host
	// Load says that a library is being loaded: no commands can be run.
	Load bool

	proto int
}

// Proto returns the protocol version that the script has chosen for the replies
// of its commands: 2, or 3 after redis.setresp(3).
func (r *Run) Proto() int { return max(r.proto, 2) }
