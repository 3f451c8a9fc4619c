package server

import (
	"strings"

	"firn/commands"
)

// debugProtocol answers a specimen of a type of reply.
func debugProtocol(c *commands.Call, s *session) error {
	out := c.Out
	switch strings.ToLower(string(c.Args[2])) {
	case "string":
		out.BulkString("Hello World")
	case "integer":
		out.Int(12345)
	case "double":
		out.Double(3.141)
	case "bignum":
		out.BigNumber("1234567999999999999999999999999999999")
	case "null":
		out.Null()
	case "array":
		out.Array(3)
		upTo3(out)
	case "set":
		out.Set(3)
		upTo3(out)
	case "map":
		out.Map(3)
		for i := range int64(3) {
			out.Int(i)
			out.Bool(i == 1)
		}
	case "true":
		out.Bool(true)
	case "false":
		out.Bool(false)
	case "verbatim":
		out.Verbatim("txt", "This is a verbatim\nstring")
	case "attrib":
		attributeSpecimen(out)
	case "push":
		return pushSpecimen(out)
	default:
		return commands.ErrDebugProtocol
	}
	return nil
}

func upTo3(out *commands.Reply) {
	for i := range int64(3) {
		out.Int(i)
	}
}

func attributeSpecimen(out *commands.Reply) {
	if out.Proto() == commands.RESP3 {
		out.Attribute(1)
		out.BulkString("key-popularity")
		out.Array(2)
		out.BulkString("key:123")
		out.Int(90)
	}
	out.BulkString("Some real reply following the attribute")
}

func pushSpecimen(out *commands.Reply) error {
	if out.Proto() != commands.RESP3 {
		return commands.ErrDebugRESP2
	}
	out.Push(2)
	out.BulkString("server-cpu-usage")
	out.Int(42)
	out.BulkString("Some real reply following the push reply")
	return nil
}

func debugHelp(c *commands.Call, s *session) error {
	c.Out.Help("DEBUG",
		"CHANGE-REPL-ID",
		"    Change the replication IDs of the instance.",
		"    Dangerous: should be used only for testing the replication subsystem.",
		"CLIENT-EVICTION",
		"    Show low level client eviction pools info (maxmemory-clients).",
		"CLUSTERLINK KILL <to|from|all> <node-id>",
		"    Kills the link based on the direction to/from (both) with the provided node.",
		"CONFIG-REWRITE-FORCE-ALL",
		"    Like CONFIG REWRITE but writes all configuration options, including",
		"    keywords not listed in original configuration file or default values.",
		"DICT-RESIZING <0|1>",
		"    Accepted; there are no hash tables.",
		"DIGEST", "    Output a hex signature representing the current DB content.",
		"DIGEST-VALUE <key> [<key> ...]",
		"    Output a hex signature of the values of all the specified keys.",
		"ERROR <string>",
		"    Return a Redis protocol error with <string> as message. Useful for clients",
		"    unit tests to simulate Redis errors.",
		"HTSTATS <dbid>",
		"    Return statistics of the specified database's index.",
		"HTSTATS-KEY <key>",
		"    Like HTSTATS but for the hash table stored at <key>'s value.",
		"LISTPACK <key>",
		"    Show low level info about the listpack encoding of <key>.",
		"LOADAOF",
		"    Like RELOAD.",
		"LOG <message>",
		"    Write <message> to the server log.",
		"OBJECT <key>",
		"    Show low level info about `key` and associated value.",
		"PAUSE-CRON <0|1>",
		"    Stop periodic cron job processing.",
		"POPULATE <count> [<prefix>] [<size>]",
		"    Create <count> string keys named key:<num>. If <prefix> is specified then",
		"    it is used instead of the 'key' prefix. These are not propagated to",
		"    replicas.",
		"PROTOCOL <type>",
		"    Reply with a test value of the specified type. <type> can be: string,",
		"    integer, double, bignum, null, array, set, map, attrib, push, verbatim,",
		"    true, false.",
		"QUICKLIST <key> [<0|1>]",
		"    Show low level info about the quicklist encoding of <key>.",
		"QUICKLIST-PACKED-THRESHOLD <size>",
		"    Accepted; there are no quicklists.",
		"RELOAD [MERGE] [NOFLUSH]",
		"    Write every key anew from its value, as saving and loading would. Nothing",
		"    is written to a disk.",
		"REPLYBUFFER PEAK-RESET-TIME <NEVER|RESET|time>",
		"    Sets the time (in milliseconds) to wait between client reply buffer peak resets.",
		"    In case NEVER is provided the last observed peak will never be reset",
		"    In case RESET is provided the peak reset time will be restored to the default value",
		"REPLYBUFFER RESIZING <0|1>",
		"    Accepted; reply buffers have no fixed size.",
		"SDSLEN <key>",
		"    Show low level string info representing `key` and value.",
		"SET-ACTIVE-EXPIRE <0|1>",
		"    Setting it to 0 disables expiring keys in background when they are not",
		"    accessed (otherwise the Redis behavior). Setting it to 1 reenables back the",
		"    default.",
		"SET-DISABLE-DENY-SCRIPTS <0|1>",
		"    Whether scripts may run commands that are denied to them.",
		"SET-SKIP-CHECKSUM-VALIDATION <0|1>",
		"    Accepted; there are no dumps to check.",
		"SLEEP <seconds>",
		"    Take <seconds> to answer. Decimals allowed. Nobody else has to wait.",
	)
	return nil
}
