package commands

// What clients and scripts are told about EVAL and SCRIPT.
const (
	ErrKeysOverArgs   Error = "ERR Number of keys can't be greater than number of args"
	ErrKeysNegative   Error = "ERR Number of keys can't be negative"
	ErrScriptNotBusy  Error = "NOTBUSY No scripts in execution right now."
	ErrUnkillable     Error = "UNKILLABLE Sorry the script already executed write commands against the dataset. You can either wait the script termination or kill the server in a hard way using the SHUTDOWN NOSAVE command."
	ErrScriptDebug    Error = "ERR Use SCRIPT DEBUG YES/SYNC/NO"
	ErrScriptNoDebug  Error = "ERR the script debugger is not supported"
	ErrScriptKilled   Error = "ERR Script killed by user with SCRIPT KILL..."
	ErrScriptTooLong  Error = "ERR Script ended: it ran for longer than busy-reply-threshold while others waited for it"
	ErrReadOnlyScript Error = "ERR Can not execute a script with write flag using *_ro command."
	ErrScriptOOM      Error = "OOM allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'"

	ErrScriptUnknown Error = "ERR Unknown Redis command called from script"
	ErrScriptArity   Error = "ERR Wrong number of args calling Redis command from script"
	ErrScriptDenied  Error = "ERR This Redis command is not allowed from script"
	ErrScriptWrites  Error = "ERR Write commands are not allowed from read-only scripts."
	ErrScriptLocked  Error = "ERR A long write has a key of this script, which has written already; declare it in KEYS"

	ErrShebang Error = "ERR Invalid script shebang"
)

// ErrCompile says why a script can't be compiled.
func ErrCompile(why string) Error { return Error("ERR Error compiling script (new function): " + why) }

// ErrEngine, ErrScriptFlag and ErrShebangOption say what is wrong with the first
// line of a script.
func ErrEngine(name string) Error { return Error("ERR Unexpected engine in script shebang: " + name) }

// ErrScriptFlag says that there is no such flag.
func ErrScriptFlag(name string) Error { return Error("ERR Unexpected flag in script shebang: " + name) }

// ErrShebangOption says that there is no such option.
func ErrShebangOption(name string) Error {
	return Error("ERR Unknown lua shebang option: " + name)
}
