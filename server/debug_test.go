package server

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"firn/commands"

	"github.com/stretchr/testify/require"
)

func TestDebugIsGuarded(t *testing.T) {
	for guard, want := range map[string]string{"no": "-" + string(commands.ErrDebugDenied), "local": "+OK", "yes": "+OK"} {
		c := serve(t, "--enable-debug-command", guard).dial()
		require.Equal(t, want, c.do("DEBUG LOG hello"), guard)
	}
}

func debugServer(t *testing.T, options ...string) *testServer {
	return serve(t, append([]string{"--enable-debug-command", "yes"}, options...)...)
}

// TestDebugSleepHoldsUpNobody: not those of the same loop, not those whose
// commands run aside; and the sleep counts as a slow command.
func TestDebugSleepHoldsUpNobody(t *testing.T) {
	s := debugServer(t, "--event-loops", "1", "--heavy-threads", "1", "--latency-monitor-threshold", "100", "--slowlog-log-slower-than", "200000")
	sleeper, other := s.dial(), s.dial()
	start := time.Now()
	sleeper.send("DEBUG SLEEP 0.5", "ECHO next")
	p := s.ping()
	require.Equal(t, "+OK", other.do("DEBUG POPULATE 500"))
	require.Equal(t, "*0", other.do("KEYS nothing*"), "aside")
	require.Less(t, time.Since(start), 400*time.Millisecond)
	require.Equal(t, "+OK", sleeper.reply())
	require.GreaterOrEqual(t, time.Since(start), 500*time.Millisecond)
	require.Equal(t, "$4\r\nnext", sleeper.reply())
	require.Less(t, p.end(t), 400*time.Millisecond)
	require.Contains(t, other.do("SLOWLOG GET"), "DEBUG\r\n$5\r\nSLEEP\r\n$3\r\n0.5")
	require.Contains(t, other.do("LATENCY LATEST"), "$7\r\ncommand")
	require.Equal(t, "+OK", sleeper.do("DEBUG SLEEP -1"))
	require.Equal(t, "+OK", sleeper.do("DEBUG SLEEP NaN"))
}

// TestDebugSleeperLeaves: its home lives on.
func TestDebugSleeperLeaves(t *testing.T) {
	s := debugServer(t, "--event-loops", "1")
	c := s.dial()
	c.send("DEBUG SLEEP 0.05")
	require.NoError(t, c.Conn.(*net.TCPConn).SetLinger(0))
	c.Close()
	eventually(t, func() bool { return s.clients.count.Load() == 0 }, "the client is gone")
	require.Equal(t, "+OK", s.dial().do("DEBUG SLEEP 0.1"))
}

// TestDigest: the digests are those that redis-server 7.0.15 gives.
func TestDigest(t *testing.T) {
	c := debugServer(t).dial()
	require.Equal(t, "+"+strings.Repeat("0", 40), c.do("DEBUG DIGEST"))
	for _, line := range []string{"SET a 1", "SET b hello", "SET e 100000 EX 1000", "APPEND f 12", "SETRANGE g 40000 x", "SELECT 3", "SET k v"} {
		c.do(line)
	}
	require.Equal(t, "+a8b4e77cdc5aa93e4b2c32f7409451bc15cbc1a2", c.do("DEBUG DIGEST"))
	c.do("SELECT 0")
	require.Equal(t, "*6\r\n+b4fc66738120fba0b5aa500ab5c2bf89cea1c5da\r\n+36b23a1456b2dce2c3ed252c456761301dba8060\r\n"+
		"+54c0de05771a713c221312da8b6a489ffe37fd4a\r\n+655ac46b180ad2f61a3cee25f0b1780fa2ec879a\r\n"+
		"+08dbdda6593266d35aa4eab59bd6ac7b13b66781\r\n+"+strings.Repeat("0", 40), c.do("DEBUG DIGEST-VALUE a b e f g nosuch"))
}

// TestDebugSeesExpired: keys that have expired and are not removed yet.
func TestDebugSeesExpired(t *testing.T) {
	c := debugServer(t).dial()
	require.Equal(t, "+OK", c.do("DEBUG SET-ACTIVE-EXPIRE 0"))
	require.Equal(t, "+OK", c.do("SET k 7 PX 1"))
	require.Equal(t, "+OK", c.do("DEBUG SLEEP 0.01"))
	require.Regexp(t, `^\+Value at:0x[0-9a-f]+ refcount:2147483647 encoding:int serializedlength:2 lru:\d+ lru_seconds_idle:\d+$`, c.do("DEBUG OBJECT k"))
	require.NotContains(t, c.do("DEBUG DIGEST-VALUE k"), strings.Repeat("0", 40))
	require.Equal(t, "+OK", c.do("DEBUG SET-ACTIVE-EXPIRE 1"))
	eventually(t, func() bool { return c.do("DEBUG OBJECT k") == "-ERR no such key" }, "removed")
}

func TestDebugPopulate(t *testing.T) {
	c := debugServer(t).dial()
	require.Equal(t, "+OK", c.do("SET p:3 mine"))
	require.Equal(t, "+OK", c.do("DEBUG POPULATE 1000 p 10"))
	require.Equal(t, ":1000", c.do("DBSIZE"))
	require.Equal(t, "$4\r\nmine", c.do("GET p:3"))
	require.Equal(t, "$10\r\nvalue:7\x00\x00\x00", c.do("GET p:7"))
	require.Equal(t, "$10\r\nvalue:999\x00", c.do("GET p:999"))
	require.Equal(t, "+OK", c.do("DEBUG POPULATE 2"))
	require.Equal(t, "$7\r\nvalue:1", c.do("GET key:1"))
	require.Equal(t, "-"+string(commands.ErrNotPositive), c.do("DEBUG POPULATE -1"))
	require.Equal(t, "-"+string(commands.ErrMaxString), c.do("DEBUG POPULATE 1 k 1000000000000"))
}

// TestReloadKeepsEverything: what is there before a reload is there after it,
// encodings are those of a value that was loaded, and what others write
// meanwhile is not lost.
func TestReloadKeepsEverything(t *testing.T) {
	s := debugServer(t)
	c := s.dial()
	for _, line := range []string{"SELECT 9", "SET other 1 EX 1000", "SELECT 0", "DEBUG POPULATE 20000 k 60", "SET e v PX 100000000", "SETRANGE big 300000 x", "APPEND n 12", "APPEND n 3"} {
		c.do(line)
	}
	require.Equal(t, "$3\r\nraw", c.do("OBJECT ENCODING n"))
	before, at := c.do("DEBUG DIGEST"), c.do("PEXPIRETIME e")
	for _, line := range []string{"DEBUG RELOAD", "DEBUG RELOAD NOFLUSH MERGE", "DEBUG LOADAOF"} {
		require.Equal(t, "+OK", c.do(line))
		require.Equal(t, before, c.do("DEBUG DIGEST"))
	}
	require.Equal(t, at, c.do("PEXPIRETIME e"))
	require.Equal(t, "$3\r\nint", c.do("OBJECT ENCODING n"))
	require.Equal(t, "-"+string(commands.ErrDebugReload), c.do("DEBUG RELOAD fast"))
	require.Equal(t, "-"+string(commands.ErrDebugLoad), c.do("DEBUG RELOAD NOSAVE"))
	h := s.shards.NewHold()
	h.WantAll()
	h.Take(true)
	require.NoError(t, s.shards.Space.Check())
	h.Give()

	var writer sync.WaitGroup
	const writes = 2000
	w := s.dial()
	writer.Go(func() {
		for i := range writes {
			w.do("INCR counter")
			w.do(fmt.Sprint("DEL k:", i))
		}
	})
	for range 10 {
		require.Equal(t, "+OK", c.do("DEBUG RELOAD"))
	}
	writer.Wait()
	require.Equal(t, "$4\r\n"+strconv.Itoa(writes), c.do("GET counter"))
	require.Equal(t, ":0", c.do("EXISTS k:0 k:1000 k:1999"))
}

// TestReloadKeepsClocks: where eviction goes by them.
func TestReloadKeepsClocks(t *testing.T) {
	c := debugServer(t, "--maxmemory-policy", "allkeys-lfu", "--lfu-log-factor", "0").dial()
	c.do("SET k v")
	for range 20 {
		c.do("GET k")
	}
	before := c.do("OBJECT FREQ k")
	require.Greater(t, before, ":20")
	require.Equal(t, "+OK", c.do("DEBUG RELOAD"))
	require.Equal(t, before, c.do("OBJECT FREQ k"))
}

func TestDebugProtocol(t *testing.T) {
	c := debugServer(t).dial()
	require.Equal(t, "-"+string(commands.ErrDebugRESP2), c.do("DEBUG PROTOCOL push"))
	require.Equal(t, "*6\r\n:0\r\n:0\r\n:1\r\n:1\r\n:2\r\n:0", c.do("DEBUG PROTOCOL map"))
	c.do("HELLO 3")
	require.Equal(t, "%3\r\n:0\r\n#f\r\n:1\r\n#t\r\n:2\r\n#f", c.do("DEBUG PROTOCOL map"))
	require.Equal(t, ",3.141", c.do("DEBUG PROTOCOL double"))
	require.Equal(t, "=29\r\ntxt:This is a verbatim\nstring", c.do("DEBUG PROTOCOL verbatim"))
	require.Equal(t, ">2\r\n$16\r\nserver-cpu-usage\r\n:42", c.do("DEBUG PROTOCOL push"))
	require.Equal(t, "$40\r\nSome real reply following the push reply", c.reply())
}

// TestDebugNeverEndsTheServer, whatever Redis' own does.
func TestDebugNeverEndsTheServer(t *testing.T) {
	c := debugServer(t).dial()
	for _, how := range []string{"SEGFAULT", "PANIC", "ASSERT", "OOM"} {
		require.Equal(t, "-"+string(commands.ErrDebugCrash), c.do("DEBUG "+how))
	}
	for _, how := range []string{"RESTART", "CRASH-AND-RECOVER 0"} {
		require.Equal(t, "-"+string(commands.ErrDebugRestart), c.do("DEBUG "+how))
	}
	require.Equal(t, "+PONG", c.do("PING"))
}

func TestDebugRest(t *testing.T) {
	s := debugServer(t)
	c := s.dial()
	c.do("SET k v")
	for line, want := range map[string]string{
		`DEBUG ERROR "CODE one\ntwo"`:             "-CODE one two",
		"DEBUG HTSTATS-KEY k":                     "-" + string(commands.ErrDebugNoTable),
		"DEBUG LISTPACK k":                        "-" + string(commands.ErrDebugListpack),
		"DEBUG QUICKLIST nosuch":                  "-ERR no such key",
		"DEBUG QUICKLIST-PACKED-THRESHOLD 100b":   "+OK",
		"DEBUG QUICKLIST-PACKED-THRESHOLD 5gb":    "-" + string(commands.ErrDebugThreshold),
		"DEBUG QUICKLIST-PACKED-THRESHOLD x":      "-" + string(commands.ErrDebugThreshold),
		"DEBUG REPLYBUFFER PEAK-RESET-TIME never": "+OK",
		"DEBUG REPLYBUFFER PEAK-RESET-TIME x":     "-ERR value is not an integer or out of range",
		"DEBUG REPLYBUFFER x 1":                   "-ERR unknown subcommand or wrong number of arguments for 'REPLYBUFFER'. Try DEBUG HELP.",
		"DEBUG JMAP":                              "-ERR unknown subcommand or wrong number of arguments for 'JMAP'. Try DEBUG HELP.",
		"DEBUG SLEEP":                             "-ERR unknown subcommand or wrong number of arguments for 'SLEEP'. Try DEBUG HELP.",
		"DEBUG":                                   "-ERR wrong number of arguments for 'debug' command",
	} {
		require.Equal(t, want, c.do(line), line)
	}
	require.EqualValues(t, -1, s.peakReset.Load())
	require.NotContains(t, s.stats.errorCounts(), "CODE", "the client's own error")
	old := c.text("INFO replication")
	require.Equal(t, "+OK", c.do("DEBUG CHANGE-REPL-ID"))
	require.NotEqual(t, old, c.text("INFO replication"))
	require.Equal(t, "+OK", c.do("DEBUG LOG hello"))
	require.True(t, s.logged("DEBUG LOG: hello"))
}

func TestDebugRewriteAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "firn.conf")
	port := freePort(t)
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "port %d\nbind 127.0.0.1\nenable-debug-command yes\n", port), 0o600))
	s := serveWith(t, file)
	s.addr = fmt.Sprint("127.0.0.1:", port)
	require.Equal(t, "+OK", s.dial().do("DEBUG CONFIG-REWRITE-FORCE-ALL"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "slowlog-max-len 128\n", "a default")
	require.Equal(t, "-"+string(commands.ErrNoConfigFile), debugServer(t).dial().do("DEBUG CONFIG-REWRITE-FORCE-ALL"))
}

func TestIsOn(t *testing.T) {
	for _, on := range []string{"1", "01", " 7x", "-1"} {
		require.True(t, isOn([]byte(on)), on)
	}
	for _, off := range []string{"", "0", "00", "x1", "0x1", "on"} {
		require.False(t, isOn([]byte(off)), off)
	}
}
