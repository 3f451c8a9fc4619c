package commands

// ErrSubscribeBlocking is for the name, in upper case, of a command that
// subscribes where each command must have one reply.
func ErrSubscribeBlocking(name string) Error {
	return errorf("ERR %s isn't allowed for a DENY BLOCKING client", name)
}
