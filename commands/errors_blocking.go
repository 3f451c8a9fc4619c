package commands

// Blocking commands.
const (
	ErrStreamGone Error = "UNBLOCKED the stream key no longer exists"
	ErrGroupGone  Error = "NOGROUP the consumer group this client was blocked on no longer exists"
)

// ErrBlockInScript is for the BLOCK of XREAD and XREADGROUP in a script.
func ErrBlockInScript(name []byte) Error {
	return errorf("ERR %s command is not allowed with BLOCK option from scripts", cString(name))
}
