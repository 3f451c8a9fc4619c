package server

import (
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forever is a function that does not end.
func forever(name string) string { return library("REPLACE", "lib_"+name, name, "while true do end") }

// A function that does not end holds nobody up (promise 2: where Redis would say
// BUSY to everybody), is shown by FUNCTION STATS, and ended by FUNCTION KILL
// only.
func TestEndlessFunction(t *testing.T) {
	srv := serve(t)
	c, caller := srv.dial(), srv.dial()
	require.Equal(t, "$8\r\nlib_loop", c.do(forever("loop")))
	require.Equal(t, "-NOTBUSY No scripts in execution right now.", c.do("FUNCTION KILL"))
	caller.send("FCALL loop 1 key value")
	eventually(t, func() bool { return strings.Contains(c.do("FUNCTION STATS"), "duration_ms") }, "the function runs")
	p := srv.ping()
	stats := c.do("FUNCTION STATS")
	require.Contains(t, stats, "$4\r\nname\r\n$4\r\nloop\r\n$7\r\ncommand\r\n*5\r\n$5\r\nFCALL\r\n$4\r\nloop\r\n$1\r\n1\r\n$3\r\nkey\r\n$5\r\nvalue\r\n")
	require.Equal(t, "+OK", c.do("SET other 1"))
	require.Equal(t, "-BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.", c.do("SCRIPT KILL"))
	require.Equal(t, "+OK", c.do("FUNCTION KILL"))
	require.Contains(t, caller.reply(), "Script killed by user with FUNCTION KILL")
	require.Less(t, p.end(t), 500*time.Millisecond, "a function has seconds before it is ended where others wait for it")
	eventually(t, func() bool { return c.do("FUNCTION KILL") == "-NOTBUSY No scripts in execution right now." }, "none runs")
	require.Contains(t, c.do("FUNCTION STATS"), "$14\r\nrunning_script\r\n$-1")
}

// One that has written can't be ended, until the server shuts down.
func TestUnkillableFunction(t *testing.T) {
	srv := serve(t)
	c, caller := srv.dial(), srv.dial()
	require.Contains(t, c.do(library("", "lib", "loop", "redis.call('set', keys[1], 'x') while true do end")), "lib")
	caller.send("FCALL loop 1 key")
	eventually(t, func() bool {
		reply := c.do("FUNCTION KILL")
		if reply == "+OK" { // it had not come to its SET
			require.Contains(t, caller.reply(), "killed by user")
			caller.send("FCALL loop 1 key")
		}
		return strings.HasPrefix(reply, "-UNKILLABLE")
	}, "it has written")
	require.Equal(t, "+PONG", c.do("PING"))
}

// A function may be deleted or replaced while it runs: the run goes on, the next
// one is the new one's.
func TestReplacedWhileItRuns(t *testing.T) {
	srv := serve(t)
	c, caller := srv.dial(), srv.dial()
	require.Contains(t, c.do(forever("loop")), "lib_loop")
	caller.send("FCALL loop 0")
	eventually(t, func() bool { return strings.Contains(c.do("FUNCTION STATS"), "duration_ms") }, "the function runs")
	require.Contains(t, c.do(library("REPLACE", "lib_loop", "loop", "return 'new'")), "lib_loop")
	require.Equal(t, "$3\r\nnew", c.do("FCALL loop 0"))
	require.Equal(t, "+OK", c.do("FUNCTION KILL"))
	require.Contains(t, caller.reply(), "killed by user")
}

// What a function does is in the journal as the commands that it ran, together;
// the call itself is not.
func TestFunctionCallEffects(t *testing.T) {
	srv := serve(t)
	c, j := srv.dial(), &journalLines{}
	require.Contains(t, c.do(library("", "lib", "f", "redis.call('set', keys[1], args[1]) return redis.call('incr', keys[2])")), "lib")
	srv.shards.Subscribe(j)
	require.Equal(t, ":1", c.do("FCALL f 2 a b x"))
	require.Equal(t, ":2", c.do("FCALL f 2 a b y"))
	require.Equal(t, []string{`0 ["set" "a" "x"]`, `0 ["incr" "b"]`, `0 ["set" "a" "y"]`, `0 ["incr" "b"]`}, j.take())
}

// INFO and MEMORY STATS count functions.
func TestInfoOfFunctions(t *testing.T) {
	c := serve(t).dial()
	require.Contains(t, c.do(library("", "lib", "f", "return 1")), "lib")
	info := c.text("INFO memory")
	require.Contains(t, info, "number_of_functions:1\r\nnumber_of_libraries:1\r\n")
	require.NotContains(t, info, "used_memory_functions:0")
	require.NotContains(t, c.do("MEMORY STATS"), "functions.caches\r\n:0")
}

// Many clients call one function at once, and each of its calls happens at one
// instant (promise 1).
func TestConcurrentCalls(t *testing.T) {
	srv := serve(t)
	c := srv.dial()
	require.Contains(t, c.do(library("", "lib", "both", "redis.call('incr', keys[1]) redis.call('incr', keys[2]) return {redis.call('get', keys[1]), redis.call('get', keys[2])}")), "lib")
	const clients, calls = 4, 50
	done := make(chan string, clients)
	for range clients {
		one := srv.dial()
		go func() {
			for range calls {
				_, _ = io.WriteString(one.Conn, encode("FCALL both 2 a b"))
				reply, err := readReply(one.r)
				parts := strings.Split(reply, "\r\n")
				if err != nil || len(parts) < 5 || parts[2] != parts[4] {
					done <- reply
					return
				}
			}
			done <- ""
		}()
	}
	for range clients {
		require.Empty(t, <-done)
	}
	require.Equal(t, "$3\r\n"+strconv.Itoa(clients*calls), c.do("GET b"))
}
