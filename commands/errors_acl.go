package commands

// ErrGenpassBits is for a length of a password that ACL GENPASS does not make.
const ErrGenpassBits Error = "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096"

// ErrUnknownCategory is for a category that ACL CAT does not know.
func ErrUnknownCategory(name []byte) Error {
	return errorf("ERR Unknown category '%.128s'", cString(name))
}

// ErrUserNotFound is for the user of ACL DRYRUN.
func ErrUserNotFound(name []byte) Error { return errorf("ERR User '%s' not found", cString(name)) }

// ErrCommandNotFound is for the command of ACL DRYRUN.
func ErrCommandNotFound(name []byte) Error {
	return errorf("ERR Command '%s' not found", cString(name))
}
