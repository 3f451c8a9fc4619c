package config

import (
	"errors"
	"fmt"
)

// ErrLoading says that an option can't be set while the data set is loaded. The client gets the usual -LOADING reply.
var ErrLoading = errors.New("LOADING Redis is loading the dataset in memory")

// Why one value was refused, as Redis says it.
var (
	errYesNo         = errors.New("argument must be 'yes' or 'no'")
	errInteger       = errors.New("argument couldn't be parsed into an integer")
	errOctal         = errors.New("argument couldn't be parsed as an octal number")
	errMemory        = errors.New("argument must be a memory value")
	errMemoryPercent = errors.New("argument must be a memory or percent value")
	errArgCount      = errors.New("wrong number of arguments")
	errImmutable     = errors.New("can't set immutable config")
	errProtected     = errors.New("can't set protected config")
	errDuplicate     = errors.New("duplicate parameter")
	errSave          = errors.New("Invalid save parameters")
	errLimitArgs     = errors.New("Wrong number of arguments in buffer limit configuration.")
	errLimitClass    = errors.New("Invalid client class specified in buffer limit configuration.")
	errLimitValue    = errors.New("Error in hard, soft or soft_seconds setting in buffer limit configuration.")
	errOOMScore      = errors.New("Invalid oom-score-adj-values, elements must be between -2000 and 2000.")
	errEvents        = errors.New("Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
	errBindCount     = errors.New("Too many bind addresses specified.")
	errMasterPort    = errors.New("Invalid master port")
	errPercentiles   = errors.New("Invalid latency-tracking-info-percentiles parameters")
	errPercentile    = errors.New("latency-tracking-info-percentiles parameters should sit between [0.0,100.0]")
	errDefrag        = errors.New("Active defragmentation cannot be enabled: it requires a Redis server compiled with a modified " +
		"Jemalloc like the one shipped by default with the Redis source distribution")
	errNoDir          = errors.New("No such file or directory")
	errDBFilename     = errors.New("dbfilename can't be a path, just a filename")
	errAOFNameEmpty   = errors.New("appendfilename can't be empty")
	errAOFNamePath    = errors.New("appendfilename can't be a path, just a filename")
	errAOFDirEmpty    = errors.New("appenddirname can't be empty")
	errAOFDirPath     = errors.New("appenddirname can't be a path, just a dirname")
	errShutdownFlags  = errors.New("shutdown options SAVE and NOSAVE can't be used simultaneously")
	errHostnameLength = errors.New("Hostnames must be less than 256 characters")
	errHostname       = errors.New("Hostnames may only contain alphanumeric characters, hyphens or dots")
	errProcTitle      = errors.New("template format is invalid or contains unknown variables")
)

// Why one line was refused.
var (
	errQuotes        = errors.New("Unbalanced quotes in configuration line")
	errDirective     = errors.New("Bad directive or wrong number of arguments")
	errSentinel      = errors.New("sentinel directive while not in sentinel mode")
	errIncludeDepth  = errors.New("include files are nested too deeply")
	errClusterMaster = errors.New("replicaof directive not allowed in cluster mode")
)

// A SetError is why CONFIG SET was refused. Its text is the whole error reply without the leading '-'.
type SetError struct {
	Name   string // the option, as Redis names it there
	Reason error  // nil: there is no such option
}

// Error gives the reply of Redis.
func (e *SetError) Error() string {
	if e.Reason == nil {
		return fmt.Sprintf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", e.Name)
	}
	return fmt.Sprintf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", e.Name, e.Reason)
}

// Unwrap gives the reason.
func (e *SetError) Unwrap() error { return e.Reason }

// Why a change could not be put into effect, for a SetError that the server makes.
var (
	ErrListen     = errors.New("Unable to listen on this port. Check server logs.")
	ErrBind       = errors.New("Failed to bind to specified addresses.")
	ErrAppendOnly = errors.New("Unable to turn on AOF. Check server logs.")
	ErrTLS        = errors.New("Unable to update TLS configuration. Check server logs.")
)

// ErrMaxClients says how many clients the system's limit of open files leaves room for.
func ErrMaxClients(can int) error {
	return fmt.Errorf("The operating system is not able to handle the specified number of clients, try with %d", can)
}
