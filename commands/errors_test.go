package commands

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestErrorCode(t *testing.T) {
	require.Equal(t, "ERR", ErrSyntax.Code())
	require.Equal(t, "WRONGTYPE", ErrWrongType.Code())
	require.Equal(t, "ERR", ErrGeneric.Code())
}

func TestErrorTexts(t *testing.T) {
	want := func(text string, e Error) {
		t.Helper()
		require.Equal(t, text, e.Error())
	}
	b := func(s string) []byte { return []byte(s) }
	want("ERR wrong number of arguments for 'config|get' command", ErrArity("config|get"))
	want("ERR invalid expire time in 'set' command", ErrInvalidExpire("set"))
	want("ERR unknown subcommand 'x'. Try CLIENT HELP.", ErrUnknownSubcommand(b("cLient"), b("x")))
	want("ERR unknown subcommand or wrong number of arguments for 'x'. Try DEBUG HELP.",
		ErrSubcommandSyntax(b("debug"), b("x")))
	want("ERR value is out of range, value must between -1 and 5", ErrRange(-1, 5))
	want("ERR Unsupported option AB", ErrExpireOption(b("AB")))
	want("ERR Protocol error: expected '$', got '\x00'", ErrExpectedDollar(0))
	want("ERR CONFIG SET failed (possibly related to argument 'port') - no", ErrConfigSet("port", "no"))
	want("ERR CONFIG SET failed (possibly related to argument 'port')", ErrConfigSet("port", ""))
	want("EXECABORT Transaction discarded because of: "+string(ErrOOM), ErrExecAborted(ErrOOM))
}

// H9: what a client sent is echoed, but can't end the error's line.
func TestErrorsEchoOneLine(t *testing.T) {
	want := func(text string, e Error) {
		t.Helper()
		require.Equal(t, text, e.Error())
	}
	b := func(s string) []byte { return []byte(s) }
	want("ERR unknown command 'A  BC', with args beginning with: ", ErrUnknownCommand(b("A\r\nBC"), nil))
	want("ERR unknown command 'FOO', with args beginning with: '\"x  +OK' ",
		ErrUnknownCommand(b("FOO"), [][]byte{b("\"x\r\n+OK")}))
	want("ERR unknown subcommand 'a  b'. Try CONFIG HELP.", ErrUnknownSubcommand(b("config"), b("a\r\nb")))
	want("ERR Unsupported option a b", ErrExpireOption(b("a\nb\r\n")))
	want("ERR Protocol error: expected '$', got ' '", ErrExpectedDollar('\r'))
	want("ERR Unsupported option a", ErrExpireOption(b("a\x00b")))
	want("CODE a  b", ErrDebugError(b("CODE a\n\rb")))
}

func TestUnknownCommandCutsItsEcho(t *testing.T) {
	long := bytes.Repeat([]byte("a"), 300)
	cut := string(long[:128])
	require.Equal(t, "ERR unknown command '"+cut+"', with args beginning with: '"+cut+"' ",
		string(ErrUnknownCommand(long, [][]byte{long, long})))
	// The first argument's listing takes 13 bytes, so 115 are left for the second.
	require.Equal(t, "ERR unknown command 'x', with args beginning with: 'aaaaaaaaaa' '"+cut[:115]+"' ",
		string(ErrUnknownCommand([]byte("x"), [][]byte{long[:10], long, long})))
}

// errorDuels are commands that fail on an empty server, and their errors.
var errorDuels = []struct {
	err  Error
	args []string
}{
	{ErrUnknownSubcommand([]byte("cLient"), []byte("x\ny")), []string{"cLient", "x\ny"}},
	{ErrSubcommandSyntax([]byte("client"), []byte("pAuse")), []string{"client", "pAuse", "1", "2", "3"}},
	{ErrArity("get"), []string{"GET"}},
	{ErrArity("config|get"), []string{"CONFIG", "GET"}},
	{ErrInvalidExpire("set"), []string{"SET", "a", "b", "EX", "0"}},
	{ErrInvalidExpire("psetex"), []string{"PSETEX", "a", "-1", "b"}},
	{ErrRange(-2147483648, 2147483647), []string{"SELECT", "2147483648"}},
	{ErrNotInteger, []string{"SELECT", "x"}},
	{ErrDBIndex, []string{"SELECT", "99"}},
	{ErrFirstDB, []string{"SWAPDB", "x", "1"}},
	{ErrSecondDB, []string{"SWAPDB", "0", "x"}},
	{ErrSameObject, []string{"COPY", "a", "a"}},
	{ErrInvalidCursor, []string{"SCAN", "x"}},
	{ErrExpireOption([]byte("a\r\nb\n\r")), []string{"EXPIRE", "k", "1", "a\r\nb\n\r"}},
	{ErrExpireNX, []string{"EXPIRE", "k", "1", "NX", "GT"}},
	{ErrExpireGTLT, []string{"EXPIRE", "k", "1", "LT", "GT"}},
	{ErrHelloOption([]byte("bogus")), []string{"HELLO", "3", "bogus"}},
	{ErrNoProto, []string{"HELLO", "4"}},
	{ErrProtoNotInt, []string{"HELLO", "x"}},
	{ErrNoPassword, []string{"AUTH", "x"}},
	{ErrWrongPass, []string{"AUTH", "a", "b"}},
	{ErrClientName, []string{"CLIENT", "SETNAME", "a b"}},
	{ErrClientType([]byte("x")), []string{"CLIENT", "LIST", "TYPE", "x"}},
	{ErrClientID, []string{"CLIENT", "LIST", "ID", "x"}},
	{ErrClientIDRange, []string{"CLIENT", "KILL", "ID", "0"}},
	{ErrNoUser([]byte("u")), []string{"CLIENT", "KILL", "USER", "u"}},
	{ErrNoClient, []string{"CLIENT", "KILL", "1.2.3.4:5"}},
	{ErrUnblockReason, []string{"CLIENT", "UNBLOCK", "1", "x"}},
	{ErrPauseMode, []string{"CLIENT", "PAUSE", "1", "x"}},
	{ErrTimeout, []string{"CLIENT", "PAUSE", "x"}},
	{ErrTimeoutNeg, []string{"CLIENT", "PAUSE", "-1"}},
	{ErrPrefixNoBcast, []string{"CLIENT", "TRACKING", "ON", "PREFIX", "a"}},
	{ErrOptBcast, []string{"CLIENT", "TRACKING", "ON", "BCAST", "OPTIN"}},
	{ErrOptBoth, []string{"CLIENT", "TRACKING", "ON", "OPTIN", "OPTOUT"}},
	{ErrRedirectGone, []string{"CLIENT", "TRACKING", "ON", "REDIRECT", "999999"}},
	{ErrPrefixOverlapSelf([]byte("a"), []byte("ab")), []string{"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", "ab"}},
	{ErrCachingMode, []string{"CLIENT", "CACHING", "YES"}},
	{ErrConfigUnknown([]byte("no-such")), []string{"CONFIG", "SET", "no-such", "1"}},
	{ErrConfigSet("maxmemory", "argument must be a memory value"), []string{"CONFIG", "SET", "maxmemory", "x"}},
	{ErrNoConfigFile, []string{"CONFIG", "REWRITE"}},
	{ErrSlowlogCount, []string{"SLOWLOG", "GET", "-2"}},
	{ErrNoSamples([]byte("e")), []string{"LATENCY", "GRAPH", "e"}},
	{ErrGetKeysCommand, []string{"COMMAND", "GETKEYS", "nope", "x"}},
	{ErrGetKeysNone, []string{"COMMAND", "GETKEYS", "PING", "x"}},
	{ErrGetKeysArity, []string{"COMMAND", "GETKEYS", "GET", "a", "b"}},
	{ErrGetKeysArgs, []string{"COMMAND", "GETKEYS", "ZUNION", "x", "z"}},
	{ErrDebugDenied, []string{"DEBUG", "JMAP"}},
	{ErrModuleDenied, []string{"MODULE", "LOAD", "x"}},
	{ErrNoShutdown, []string{"SHUTDOWN", "ABORT"}},
	{ErrScriptFlush, []string{"SCRIPT", "FLUSH", "x"}},
	{ErrFunctionFlush, []string{"FUNCTION", "FLUSH", "x"}},
	{ErrBitOffset, []string{"GETBIT", "k", "-1"}},
	{ErrBit, []string{"SETBIT", "k", "1", "2"}},
	{ErrBitArg, []string{"BITPOS", "k", "2"}},
	{ErrBitopNot, []string{"BITOP", "NOT", "d", "a", "b"}},
	{ErrBitfieldType, []string{"BITFIELD", "k", "GET", "u64", "0"}},
	{ErrBitfieldOverflow, []string{"BITFIELD", "k", "OVERFLOW", "x"}},
	{ErrBitfieldRO, []string{"BITFIELD_RO", "k", "SET", "u8", "0", "1"}},
	{ErrOffset, []string{"SETRANGE", "k", "-1", "x"}},
	{ErrMaxString, []string{"SETRANGE", "k", "600000000", "x"}},
	{ErrLCSLenAndIdx, []string{"LCS", "a", "b", "LEN", "IDX"}},
	{ErrDecrOverflow, []string{"DECRBY", "k", "-9223372036854775808"}},
	{ErrExecNoMulti, []string{"EXEC"}},
	{ErrDiscardNoMulti, []string{"DISCARD"}},
	{ErrNoKey, []string{"RENAME", "none", "x"}},
	{ErrSyntax, []string{"SET", "a", "b", "c"}},
}

func TestErrorsDuel(t *testing.T) {
	redis := startNumberDuel(t)
	want := func(e Error, args ...string) {
		t.Helper()
		require.Equal(t, "-"+string(e), redis.do(args...), "%q", args)
	}
	for _, c := range errorDuels {
		want(c.err, c.args...)
	}
	redis.do("SET", "k", "1")
	want(ErrNotLFU, "OBJECT", "FREQ", "k")
	want(ErrOverflow, "INCRBY", "k", "9223372036854775807")
	want(ErrNaNOrInf, "INCRBYFLOAT", "k", "inf")
	redis.do("CONFIG", "SET", "maxmemory-policy", "allkeys-lfu")
	want(ErrLFUSelected, "OBJECT", "IDLETIME", "k")
	redis.do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	redis.do("LPUSH", "list", "a")
	want(ErrWrongType, "GET", "list")
	want(ErrLCSNotString, "LCS", "list", "b")
	redis.do("CONFIG", "SET", "maxmemory", "1")
	want(ErrOOM, "SET", "a", "b")
}

// H9: nothing of what redis-server is asked to echo comes back differently.
func TestUnknownCommandDuel(t *testing.T) {
	redis := startNumberDuel(t)
	unknown := func(args ...string) {
		t.Helper()
		rest := make([][]byte, 0, len(args))
		for _, arg := range args {
			rest = append(rest, []byte(arg))
		}
		require.Equal(t, "-"+string(ErrUnknownCommand(rest[0], rest[1:])), redis.do(args...), "%q", args)
	}
	long := strings.Repeat("a", 300)
	unknown("A\r\nBC")
	unknown("FOO", "\"x\r\n+OK")
	unknown("a\x00b", "c\x00d", "", "\xff\x80é")
	unknown(long, long, long)
	unknown("x", long[:10], long, long)
	for n := 120; n < 130; n++ {
		unknown("x", long[:n], "bcd", "e")
	}
	require.Equal(t, "-"+string(ErrUnknownSubcommand([]byte("config"), []byte(long))), redis.do("config", long))
}
