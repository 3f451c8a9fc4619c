package commands

// FUNCTION and FCALL. What is wrong with the code of a library stands in
// package script.
const (
	ErrFunctionMissing   Error = "ERR Function not found"
	ErrFunctionCode      Error = "ERR Function code is missing"
	ErrFunctionNumKeys   Error = "ERR Bad number of keys provided"
	ErrLibraryMissing    Error = "ERR Library not found"
	ErrLibraryNotGiven   Error = "ERR library name argument was not given"
	ErrRestorePolicy     Error = "ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE."
	ErrRestoreType       Error = "ERR can not read data type"
	ErrRestoreNoFunction Error = "ERR given type is not a function"
	ErrRestoreLibrary    Error = "ERR Failed loading library payload"
	ErrRestoreName       Error = "ERR Failed loading library name"
	ErrRestoreEngine     Error = "ERR Failed loading engine name"
	ErrRestoreHasText    Error = "ERR Failed loading library description indicator"
	ErrRestoreText       Error = "ERR Failed loading library description"
	ErrRestoreBlob       Error = "ERR Failed loading library blob"
	ErrFunctionKilled    Error = "ERR Script killed by user with FUNCTION KILL..."
	ErrFunctionTimeout   Error = "ERR FUNCTION LOAD timeout"
)

// ErrFunctionOption is for FUNCTION LOAD.
func ErrFunctionOption(option []byte) Error {
	return errorf("ERR Unknown option given: %s", cString(option))
}

// ErrFunctionArgument is for FUNCTION LIST.
func ErrFunctionArgument(arg []byte) Error { return errorf("ERR Unknown argument %s", cString(arg)) }

// ErrFunctionLoad is for what is wrong with a library.
func ErrFunctionLoad(err error) Error { return errorf("ERR %s", err.Error()) }
