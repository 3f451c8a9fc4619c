package commands

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Error is an error a client sees. Its value is the whole text after the "-"
// of the reply, code included, equal to that of Redis 7.0.15 byte for byte. It
// holds no CR or LF, so it is always one line of the protocol.
type Error string

// Error returns the text as it is sent.
func (e Error) Error() string { return string(e) }

// Code returns the first word, which INFO errorstats counts by ("ERR",
// "WRONGTYPE", …).
func (e Error) Code() string {
	code, _, _ := strings.Cut(string(e), " ")
	return code
}

// Arguments and keys, shared by all families.
const (
	ErrSyntax       Error = "ERR syntax error"
	ErrWrongType    Error = "WRONGTYPE Operation against a key holding the wrong kind of value"
	ErrNoKey        Error = "ERR no such key"
	ErrSameObject   Error = "ERR source and destination objects are the same"
	ErrIndexRange   Error = "ERR index out of range"
	ErrNotInteger   Error = "ERR value is not an integer or out of range"
	ErrNotFloat     Error = "ERR value is not a valid float"
	ErrOutOfRange   Error = "ERR value is out of range"
	ErrNotPositive  Error = "ERR value is out of range, must be positive"
	ErrBusyKey      Error = "BUSYKEY Target key name already exists."
	ErrGeneric      Error = "ERR" // what Redis answers when a save on request fails
	ErrTimeout      Error = "ERR timeout is not an integer or out of range"
	ErrTimeoutRange Error = "ERR timeout is out of range"
	ErrTimeoutFloat Error = "ERR timeout is not a float or out of range"
	ErrTimeoutNeg   Error = "ERR timeout is negative"
)

// Before a command runs: state of the server and of the connection.
const (
	ErrOOM         Error = "OOM command not allowed when used memory > 'maxmemory'."
	ErrNoAuth      Error = "NOAUTH Authentication required."
	ErrLoading     Error = "LOADING Redis is loading the dataset in memory"
	ErrBusyScript  Error = "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE."
	ErrBusyFunc    Error = "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."
	ErrMasterDown  Error = "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."
	ErrReadOnly    Error = "READONLY You can't write against a read only replica."
	ErrNoReplicas  Error = "NOREPLICAS Not enough good replicas to write."
	ErrNoScript    Error = "NOSCRIPT No matching script. Please use EVAL."
	ErrNoPermKey   Error = "NOPERM this user has no permissions to access one of the keys used as arguments"
	ErrNoPermChan  Error = "NOPERM this user has no permissions to access one of the channels used as arguments"
	ErrNotInMulti  Error = "ERR Command not allowed inside a transaction"
	ErrMisconfSave Error = "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk. Commands that may modify the data set are disabled, because this instance is configured to report errors during writes if RDB snapshotting fails (stop-writes-on-bgsave-error option). Please check the Redis logs for details about the RDB error."
)

// Strings and bits.
const (
	ErrMaxString        Error = "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
	ErrOffset           Error = "ERR offset is out of range"
	ErrOverflow         Error = "ERR increment or decrement would overflow"
	ErrDecrOverflow     Error = "ERR decrement would overflow"
	ErrNaNOrInf         Error = "ERR increment would produce NaN or Infinity"
	ErrValueNaNOrInf    Error = "ERR value is NaN or Infinity"
	ErrLCSNotString     Error = "ERR The specified keys must contain string values"
	ErrLCSLenAndIdx     Error = "ERR If you want both the length and indexes, please just use IDX."
	ErrLCSTooLong       Error = "ERR String too long for LCS"
	ErrLCSMaxMemory     Error = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
	ErrLCSNoMemory      Error = "ERR Insufficient memory, failed allocating transient memory for LCS"
	ErrBitOffset        Error = "ERR bit offset is not an integer or out of range"
	ErrBit              Error = "ERR bit is not an integer or out of range"
	ErrBitArg           Error = "ERR The bit argument must be 1 or 0."
	ErrBitopNot         Error = "ERR BITOP NOT must be called with a single source key."
	ErrBitfieldType     Error = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is."
	ErrBitfieldOverflow Error = "ERR Invalid OVERFLOW type specified"
	ErrBitfieldRO       Error = "ERR BITFIELD_RO only supports the GET subcommand"
)

// Commands that take a number of keys, and a number of elements.
const (
	ErrNumKeys       Error = "ERR numkeys should be greater than 0"
	ErrCountPositive Error = "ERR count should be greater than 0"
	ErrTooManyKeys   Error = "ERR Number of keys can't be greater than number of args"
	ErrLimitNegative Error = "ERR LIMIT can't be negative"
)

// Keys, databases and expiry.
const (
	ErrDBIndex       Error = "ERR DB index is out of range"
	ErrFirstDB       Error = "ERR invalid first DB index"
	ErrSecondDB      Error = "ERR invalid second DB index"
	ErrInvalidCursor Error = "ERR invalid cursor"
	ErrExpireNX      Error = "ERR NX and XX, GT or LT options at the same time are not compatible"
	ErrExpireGTLT    Error = "ERR GT and LT options at the same time are not compatible"
	ErrCopyType      Error = "ERR unknown type object"
	ErrLFUSelected   Error = "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
	ErrNotLFU        Error = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust."
)

// Connections: AUTH, HELLO, RESET, CLIENT.
const (
	ErrWrongPass       Error = "WRONGPASS invalid username-password pair or user is disabled."
	ErrNoPassword      Error = "ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?"
	ErrNoProto         Error = "NOPROTO unsupported protocol version"
	ErrProtoNotInt     Error = "ERR Protocol version is not an integer or out of range"
	ErrHelloNoAuth     Error = "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"
	ErrReset           Error = "ERR can only reset normal client connections"
	ErrClientName      Error = "ERR Client names cannot contain spaces, newlines or special characters."
	ErrClientID        Error = "ERR Invalid client ID"
	ErrClientIDRange   Error = "ERR client-id should be greater than 0"
	ErrNoClient        Error = "ERR No such client"
	ErrUnblockReason   Error = "ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"
	ErrUnblocked       Error = "UNBLOCKED client unblocked via CLIENT UNBLOCK"
	ErrPauseMode       Error = "ERR CLIENT PAUSE mode must be WRITE or ALL"
	ErrRedirectTwice   Error = "ERR A client can only redirect to a single other client"
	ErrRedirectGone    Error = "ERR The client ID you want redirect to does not exist"
	ErrPrefixNoBcast   Error = "ERR PREFIX option requires BCAST mode to be enabled"
	ErrSwitchBcast     Error = "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with a different mode."
	ErrOptBcast        Error = "ERR OPTIN and OPTOUT are not compatible with BCAST"
	ErrOptBoth         Error = "ERR You can't specify both OPTIN mode and OPTOUT mode"
	ErrSwitchOpt       Error = "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with a different mode."
	ErrNoTracking      Error = "ERR client side caching is not supported by this server"
	ErrCachingMode     Error = "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled"
	ErrCachingYes      Error = "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode."
	ErrCachingNo       Error = "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode."
	ErrMonitorBlocking Error = "ERR MONITOR isn't allowed for DENY BLOCKING client"
)

// The protocol itself; the connection is closed after these.
const (
	ErrInlineTooBig      Error = "ERR Protocol error: too big inline request"
	ErrUnbalancedQuotes  Error = "ERR Protocol error: unbalanced quotes in request"
	ErrMbulkCountTooBig  Error = "ERR Protocol error: too big mbulk count string"
	ErrMbulkLength       Error = "ERR Protocol error: invalid multibulk length"
	ErrMbulkLengthNoAuth Error = "ERR Protocol error: unauthenticated multibulk length"
	ErrBulkCountTooBig   Error = "ERR Protocol error: too big bulk count string"
	ErrBulkLength        Error = "ERR Protocol error: invalid bulk length"
	ErrBulkLengthNoAuth  Error = "ERR Protocol error: unauthenticated bulk length"
	ErrMaxClients        Error = "ERR max number of clients reached"
	ErrProtected         Error = "DENIED Redis is running in protected mode because protected mode is enabled and no password is set for the default user. In this mode connections are only accepted from the loopback interface. If you want to connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication password for the default user. NOTE: You only need to do one of the above things in order for the server to start accepting connections from the outside."
)

// Server commands: COMMAND, CONFIG, SLOWLOG, MEMORY, SHUTDOWN, saving, DEBUG.
const (
	ErrGetKeysCommand  Error = "ERR Invalid command specified"
	ErrGetKeysNone     Error = "ERR The command has no key arguments"
	ErrGetKeysArity    Error = "ERR Invalid number of arguments specified for command"
	ErrGetKeysArgs     Error = "ERR Invalid arguments specified for command"
	ErrNoConfigFile    Error = "ERR The server is running without a config file"
	ErrSlowlogCount    Error = "ERR count should be greater than or equal to -1"
	ErrMemoryPurge     Error = "ERR Error purging dirty pages"
	ErrNoShutdown      Error = "ERR No shutdown in progress."
	ErrShutdownDeny    Error = "ERR SHUTDOWN without NOW or ABORT isn't allowed for DENY BLOCKING client"
	ErrShutdown        Error = "ERR Errors trying to SHUTDOWN. Check logs."
	ErrClusterOff      Error = "ERR This instance has cluster support disabled"
	ErrReplication     Error = "ERR replication is not supported by this version: the server stays a master"
	ErrMasterPort      Error = "ERR Invalid master port"
	ErrModuleLoad      Error = "ERR Error loading the extension. Please check the server logs."
	ErrModuleUnload    Error = "ERR Error unloading module: no such module with that name"
	ErrSaving          Error = "ERR Background save already in progress"
	ErrRewriting       Error = "ERR Background append only file rewriting already in progress"
	ErrScriptFlush     Error = "ERR SCRIPT FLUSH only support SYNC|ASYNC option"
	ErrFunctionFlush   Error = "ERR FUNCTION FLUSH only supports SYNC|ASYNC option"
	ErrDebugDenied     Error = "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
	ErrModuleDenied    Error = "ERR MODULE command not allowed. If the enable-module-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server."
	ErrDebugRestart    Error = "ERR failed to restart the server. Check server logs."
	ErrDebugCrash      Error = "ERR this server is not ended or crashed by a command for tests"
	ErrDebugReload     Error = "ERR DEBUG RELOAD only supports the MERGE, NOFLUSH and NOSAVE options."
	ErrDebugLoad       Error = "ERR Error trying to load the RDB dump"
	ErrDebugNotSDS     Error = "ERR Not an sds encoded string."
	ErrDebugListpack   Error = "ERR Not a listpack encoded object."
	ErrDebugQuicklist  Error = "ERR Not a quicklist encoded object."
	ErrDebugRESP2      Error = "ERR RESP2 is not supported by this command"
	ErrDebugProtocol   Error = "ERR Wrong protocol type name. Please use one of the following: string|integer|double|bignum|null|array|set|map|attrib|push|verbatim|true|false"
	ErrDebugThreshold  Error = "ERR argument must be a memory value bigger than 1 and smaller than 4gb"
	ErrDebugDB         Error = "ERR Out of range database"
	ErrDebugNoTable    Error = "ERR The value stored at the specified key is not represented using an hash table"
	ErrDebugNoEviction Error = "ERR maxmemory-clients is disabled."
	ErrDebugCluster    Error = "ERR Debug option only available for cluster mode enabled setup!"
)

// Transactions.
const (
	ErrExecAbort       Error = "EXECABORT Transaction discarded because of previous errors."
	ErrMultiNested     Error = "ERR MULTI calls can not be nested"
	ErrExecNoMulti     Error = "ERR EXEC without MULTI"
	ErrDiscardNoMulti  Error = "ERR DISCARD without MULTI"
	ErrWatchInMulti    Error = "ERR WATCH inside MULTI is not allowed"
	ErrWaitOnReplica   Error = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
	ErrWaitAOF         Error = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."
	ErrReplicaKeyspace Error = "ERR Replica can't interact with the keyspace"
)

// ErrNoGroup is for a group that a stream, which may not be there either, has not.
func ErrNoGroup(key, group []byte) Error {
	return errorf("NOGROUP No such key '%s' or consumer group '%s'", cString(key), cString(group))
}

// ErrNoGroupFor is for a group that a stream has not.
func ErrNoGroupFor(group, key []byte) Error {
	return errorf("NOGROUP No such consumer group '%s' for key name '%s'", cString(group), cString(key))
}

// ErrXReadGroupNone is ErrNoGroup of XREADGROUP.
func ErrXReadGroupNone(key, group []byte) Error {
	return errorf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", cString(key), cString(group))
}

// ErrXClaimOption is for a word that XCLAIM doesn't know.
func ErrXClaimOption(opt []byte) Error {
	return errorf("ERR Unrecognized XCLAIM option '%s'", cString(opt))
}

// nameMax is how much of a name the client made up is echoed in an error, and
// also how much of its arguments.
const nameMax = 128

// ErrArity is for the full name of a command or a subcommand, in lower case:
// "get", "config|get".
func ErrArity(name string) Error {
	return errorf("ERR wrong number of arguments for '%s' command", name)
}

// ErrNoInputKeys is for the full name of a command in lower case.
func ErrNoInputKeys(name string) Error {
	return errorf("ERR at least 1 input key is needed for '%s' command", name)
}

// ErrInvalidExpire is for the full name of a command in lower case.
func ErrInvalidExpire(name string) Error {
	return errorf("ERR invalid expire time in '%s' command", name)
}

// ErrNoPermCommand is for the full name of a command in lower case.
func ErrNoPermCommand(name string) Error {
	return errorf("NOPERM this user has no permissions to run the '%s' command", name)
}

// ErrPubSubOnly is for the full name of a command in lower case that a RESP2
// client sent while it is subscribed.
func ErrPubSubOnly(name string) Error {
	return errorf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context", name)
}

// ErrUnknownCommand echoes the name and as many arguments as begin within the
// first 128 bytes of their listing; the last one is cut. The space after the
// last argument (or after the colon, without arguments) is Redis's.
func ErrUnknownCommand(name []byte, args [][]byte) Error {
	var list strings.Builder
	for _, arg := range args {
		room := nameMax - list.Len()
		if room <= 0 {
			break
		}
		fmt.Fprintf(&list, "'%s' ", cStringN(arg, room))
	}
	return Error(oneLine("ERR unknown command '" + cStringN(name, nameMax) +
		"', with args beginning with: " + list.String()))
}

// ErrUnknownSubcommand is for a container command (as the client wrote it) and
// a subcommand that it doesn't have.
func ErrUnknownSubcommand(name, sub []byte) Error {
	return Error(oneLine("ERR unknown subcommand '" + cStringN(sub, nameMax) +
		"'. Try " + upperASCII(name) + " HELP."))
}

// ErrSubcommandSyntax is for a subcommand that exists but found no form that
// fits its arguments, and for DEBUG's unknown ones.
func ErrSubcommandSyntax(name, sub []byte) Error {
	return errorf("ERR unknown subcommand or wrong number of arguments for '%s'. Try %s HELP.",
		cStringN(sub, nameMax), upperASCII(name))
}

// ErrRange is for an integer argument outside of [lo, hi]. The grammar is
// Redis's.
func ErrRange(lo, hi int64) Error {
	return errorf("ERR value is out of range, value must between %d and %d", lo, hi)
}

// ErrExpireOption is for a word that EXPIRE and its family don't know.
func ErrExpireOption(opt []byte) Error { return errorf("ERR Unsupported option %s", cString(opt)) }

// ErrHelloOption is for a word that HELLO doesn't know, or that lacks its
// arguments.
func ErrHelloOption(opt []byte) Error {
	return errorf("ERR Syntax error in HELLO option '%s'", cString(opt))
}

// ErrClientType is for the TYPE of CLIENT LIST and CLIENT KILL.
func ErrClientType(name []byte) Error { return errorf("ERR Unknown client type '%s'", cString(name)) }

// ErrNoUser is for the USER of CLIENT KILL.
func ErrNoUser(name []byte) Error { return errorf("ERR No such user '%s'", cString(name)) }

// ErrSetInfoOption is for an attribute that CLIENT SETINFO (Redis 7.2) doesn't
// know.
func ErrSetInfoOption(opt []byte) Error { return errorf("ERR Unrecognized option '%s'", cString(opt)) }

// ErrSetInfoValue is for a value with spaces; opt as the client wrote it.
func ErrSetInfoValue(opt []byte) Error {
	return errorf("ERR %s cannot contain spaces, newlines or special characters.", cString(opt))
}

// ErrPrefixOverlap is for a prefix of CLIENT TRACKING that overlaps one in use.
func ErrPrefixOverlap(prefix, used []byte) Error {
	return errorf("ERR Prefix '%s' overlaps with an existing prefix '%s'. Prefixes for a single client must not overlap.",
		cString(prefix), cString(used))
}

// ErrPrefixOverlapSelf is for two prefixes of one CLIENT TRACKING call that
// overlap.
func ErrPrefixOverlapSelf(prefix, other []byte) Error {
	return errorf("ERR Prefix '%s' overlaps with another provided prefix '%s'. Prefixes for a single client must not overlap.",
		cString(prefix), cString(other))
}

// ErrExpectedDollar is for a request in which c stood where a bulk length
// should begin; the connection is closed after it.
func ErrExpectedDollar(c byte) Error {
	return errorf("ERR Protocol error: expected '$', got '%s'", []byte{c})
}

// ErrConfigUnknown is for a name that CONFIG SET doesn't know.
func ErrConfigUnknown(name []byte) Error {
	return errorf("ERR Unknown option or number of arguments for CONFIG SET - '%s'", cString(name))
}

// ErrConfigSet is for a value that CONFIG SET refuses; an empty reason is left
// out.
func ErrConfigSet(name, reason string) Error {
	if reason == "" {
		return errorf("ERR CONFIG SET failed (possibly related to argument '%s')", name)
	}
	return errorf("ERR CONFIG SET failed (possibly related to argument '%s') - %s", name, reason)
}

// ErrConfigRewrite wraps the operating system's text, as strerror gives it.
func ErrConfigRewrite(reason string) Error { return errorf("ERR Rewriting config file: %s", reason) }

// ErrNoSamples is for an event that LATENCY GRAPH has not seen.
func ErrNoSamples(event []byte) Error {
	return errorf("ERR No samples available for event '%s'", cString(event))
}

// ErrMisconfAOF wraps the operating system's text, as strerror gives it.
func ErrMisconfAOF(reason string) Error {
	return errorf("MISCONF Errors writing to the AOF file: %s", reason)
}

// ErrExecAborted is the reply of an EXEC that was refused for cause.
func ErrExecAborted(cause Error) Error {
	return errorf("EXECABORT Transaction discarded because of: %s", string(cause))
}

// ErrDebugError is what DEBUG ERROR answers: the client's own text, without a
// code of ours.
func ErrDebugError(msg []byte) Error { return Error(oneLine(string(msg))) }

// ErrPfdebug is for a subcommand that PFDEBUG doesn't know.
func ErrPfdebug(sub []byte) Error {
	return errorf("ERR Unknown PFDEBUG subcommand '%s'", cString(sub))
}

// ErrGeoPlace is for a longitude or latitude that can't be indexed.
func ErrGeoPlace(lon, lat float64) Error {
	return errorf("ERR invalid longitude,latitude pair %s,%s", cFixed(lon), cFixed(lat))
}

// ErrGeoWith is for the command, or option, that stores what it finds.
func ErrGeoWith(storing string) Error {
	return errorf("ERR %s is not compatible with WITHDIST, WITHHASH and WITHCOORD options", storing)
}

// ErrGeoFrom is for the command's name as the client wrote it.
func ErrGeoFrom(name []byte) Error {
	return errorf("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for %s", cString(name))
}

// ErrGeoBy is for the command's name as the client wrote it.
func ErrGeoBy(name []byte) Error {
	return errorf("ERR exactly one of BYRADIUS and BYBOX can be specified for %s", cString(name))
}

// errorf is for texts with an echo in them: line ends at the end go, others
// become spaces, so that nobody can write a second reply with his argument.
func errorf(format string, args ...any) Error {
	return Error(oneLine(strings.Trim(fmt.Sprintf(format, args...), "\r\n")))
}

// oneLine is cheap for the usual text, which has no line ends.
func oneLine(s string) string {
	if !strings.ContainsAny(s, "\r\n") {
		return s
	}
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(s)
}

// cString is what C's %s prints of an argument: it ends at the first NUL.
func cString(b []byte) string { return cStringN(b, len(b)) }

// cStringN is cString, cut after limit bytes.
func cStringN(b []byte, limit int) string {
	b = b[:min(len(b), limit)]
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// cFixed is what C's %f prints.
func cFixed(f float64) string {
	if math.IsInf(f, 0) {
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'f', 6, 64)), "+")
	}
	return strconv.FormatFloat(f, 'f', 6, 64)
}

// upperASCII folds only ASCII, as the C locale does.
func upperASCII(b []byte) string {
	up := []byte(cString(b))
	for i, c := range up {
		if 'a' <= c && c <= 'z' {
			up[i] = c - 'a' + 'A'
		}
	}
	return string(up)
}
