package server

import (
	"fmt"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// evalRaw encodes a command whose words may hold anything.
func evalRaw(words ...string) string {
	var args [][]byte
	for _, w := range words {
		args = append(args, []byte(w))
	}
	return string(transcript.Encode(args))
}

// run sends one command and returns its reply.
func (c *testClient) run(words ...string) string {
	c.write(evalRaw(words...))
	return c.reply()
}

// What went wrong in other servers, by the ids of the list of reports.
func TestScriptReports(t *testing.T) {
	c := serve(t, "--shards", "4").dial()
	f := func(id, want string, words ...string) {
		t.Helper()
		require.Equal(t, want, c.run(words...), id)
	}
	for i := range 20 {
		c.run("SET", fmt.Sprint("key:", i), "v")
	}
	got := c.run("EVAL", "return redis.call('SCAN',ARGV[1],'MATCH',KEYS[1],'COUNT',1000)", "1", "key:*", "0")
	require.Equal(t, 20, strings.Count(got, "key:"), "A20")
	f("H9", "-ERR a  b", "EVAL", `return redis.error_reply("a\r\nb")`, "0")
	f("J12", ":1", "EVAL", "redis.call('set','e','1'); return redis.call('expire','e',1000000)", "0")
	require.Contains(t, c.run("EVAL", "redis.call('ECHO','a','b'); return 1", "0"), "-ERR Wrong number of args", "L1")
	f("L2", ":3", "EVAL", "return 3.99", "0")
	c.run("CONFIG", "SET", "maxmemory", "1")
	require.Regexp(t, "^-OOM command not allowed", c.run("EVAL", "return redis.call('set','x','y')", "0"), "L3")
}

func TestScriptCache(t *testing.T) {
	c := serve(t).dial()
	const sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db" // return 1
	require.Equal(t, "-NOSCRIPT No matching script. Please use EVAL.", c.run("EVALSHA", sha, "0"))
	require.Equal(t, "$40\r\n"+sha, c.run("SCRIPT", "LOAD", "return 1"))
	require.Equal(t, ":1", c.run("EVALSHA", strings.ToUpper(sha), "0"))
	require.Equal(t, "*2\r\n:1\r\n:0", c.run("SCRIPT", "EXISTS", sha, "x"))
	require.Contains(t, c.text("INFO memory"), "number_of_cached_scripts:1\r\n")
	require.Equal(t, "-ERR SCRIPT FLUSH only support SYNC|ASYNC option", c.run("SCRIPT", "FLUSH", "x"))
	require.Equal(t, "+OK", c.run("SCRIPT", "FLUSH", "ASYNC"))
	require.Equal(t, "*1\r\n:0", c.run("SCRIPT", "EXISTS", sha))
	require.Equal(t, "-NOTBUSY No scripts in execution right now.", c.run("SCRIPT", "KILL"))
	long := strings.Repeat("-- a long script\n", 1000) + "return 7"
	require.Equal(t, ":7", c.run("EVAL", long, "0"))
	require.Regexp(t, `^\$40`, c.run("SCRIPT", "LOAD", long+"0"))
}

// The database that a script selects is its own.
func TestScriptSelects(t *testing.T) {
	c := serve(t).dial()
	for range 2 { // aside, and at the home
		require.Equal(t, "+OK", c.run("EVAL", "redis.call('select',9) return redis.call('set','a','9')", "0"))
		require.Equal(t, "$-1", c.run("GET", "a"))
	}
	c.run("SELECT", "9")
	require.Equal(t, "$1\r\n9", c.run("GET", "a"))
}

// An endless script holds nobody up, and can be killed until it has written.
func TestScriptKill(t *testing.T) {
	s := serve(t)
	for _, script := range []string{
		"while true do end",
		"while true do pcall(function() while true do end end) end",
		"while true do redis.pcall('get', KEYS[1]) end",
		"coroutine.wrap(function() while true do end end)()",
		"return string.find(string.rep('a', 200000), '.-.-.-.-b')",
		"local t = {} for i = 1, 100000 do t[i] = i end while true do table.sort(t, function(a, b) return a < b end) end",
	} {
		c, other := s.dial(), s.dial()
		c.write(evalRaw("EVAL", script, "1", "k"))
		eventually(t, func() bool { return s.scripts.running.first() != nil }, script)
		require.Equal(t, "+OK", other.run("SET", "other", "1"))
		require.Equal(t, "+OK", other.run("SCRIPT", "KILL"))
		require.Equal(t, "-ERR Script killed by user with SCRIPT KILL...", c.reply())
		require.Equal(t, "+PONG", c.run("PING"))
	}
}

func TestScriptUnkillable(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	c.write(evalRaw("EVAL", "redis.call('set', KEYS[1], 1) while redis.call('get', 'stop') == false do end", "1", "k"))
	eventually(t, func() bool { r := s.scripts.running.first(); return r != nil && r.wrote.Load() }, "it writes")
	require.Regexp(t, "^-UNKILLABLE", other.run("SCRIPT", "KILL"))
	require.Equal(t, ":0", other.run("EXISTS", "unrelated"))
}

// A long script is one batch for the journal, in slices for everybody else, and
// the keys that it names are its own from then on.
func TestLongScript(t *testing.T) {
	s := serve(t)
	var b batches
	s.shards.Subscribe(&b)
	c, other := s.dial(), s.dial()
	p := s.ping()
	const script = `redis.call('set', KEYS[1], 0)
		for i = 1, 60000 do redis.call('incr', KEYS[1]) redis.call('incr', 'undeclared') end
		return redis.call('get', KEYS[1])`
	c.write(evalRaw("EVAL", script, "1", "k"))
	eventually(t, func() bool { r := s.scripts.running.first(); return r != nil && r.wrote.Load() }, "it runs")
	other.write(evalRaw("INCR", "undeclared") + evalRaw("GET", "k"))
	require.Equal(t, "$5\r\n60000", c.reply())
	n := other.reply()
	require.Contains(t, []string{":1", ":60001"}, n, "before the script had it, or behind it")
	require.Equal(t, "$5\r\n60000", other.reply())
	require.Equal(t, "$5\r\n60001", other.run("GET", "undeclared"))
	require.Less(t, p.end(t), unhurt)
	batches := b.take()
	require.Len(t, batches, 2)
	for _, batch := range batches {
		if batch != "0 INCR undeclared" {
			require.Equal(t, 120001, strings.Count(batch, ";")+1)
		}
	}
}

// A script that was short, and is not any more, leaves the home and runs again:
// this one has no end, and others are answered all the same.
func TestShortScriptRunsWild(t *testing.T) {
	s := serve(t)
	c := s.dial()
	const script = "local n = 0 while n < tonumber(ARGV[1]) do n = n + 1 end return redis.call('incrby', KEYS[1], n)"
	for range 50 {
		c.run("EVAL", script, "1", "k", "1")
	}
	wild, other := s.dial(), s.dial()
	wild.write(evalRaw("EVAL", script, "1", "k", "inf"))
	eventually(t, func() bool { return s.scripts.running.first() != nil }, "it runs aside")
	require.Equal(t, "+OK", other.run("SET", "other", "v"))
	require.Equal(t, "+OK", other.run("SCRIPT", "KILL"))
	require.Equal(t, "-ERR Script killed by user with SCRIPT KILL...", wild.reply())
	require.Equal(t, "$2\r\n50", c.run("GET", "k"))
}

// A script in a transaction, a blocking command in a script, and a script whose
// client has gone.
func TestScriptCompany(t *testing.T) {
	s := serve(t)
	c := s.dial()
	c.run("MULTI")
	c.run("SET", "a", "1")
	c.run("EVAL", "return redis.call('incr', KEYS[1])", "1", "a")
	c.run("INCR", "a")
	require.Equal(t, "*3\r\n+OK\r\n:2\r\n:3", c.run("EXEC"))
	gone := s.dial()
	gone.write(evalRaw("EVAL", "redis.call('set', 'gone', 1) for i = 1, 3000000 do end redis.call('set', 'gone', 2)", "0"))
	eventually(t, func() bool { return s.scripts.running.first() != nil }, "it runs")
	require.NoError(t, gone.Close())
	eventually(t, func() bool { return c.run("GET", "gone") == "$1\r\n2" }, "it ends")
}

// While writes are paused, so are scripts that may write.
func TestScriptsPause(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	c.run("CLIENT", "PAUSE", "60000", "WRITE")
	require.Equal(t, ":1", c.run("EVAL_RO", "return 1", "0"))
	require.Equal(t, ":1", c.run("EVAL", "#!lua flags=no-writes\nreturn 1", "0"))
	other.write(evalRaw("EVAL", "return 2", "0"))
	eventually(t, func() bool {
		return strings.Contains(c.text("INFO clients"), "blocked_clients") && s.Server.pause.length() == 1
	}, "it waits")
	c.run("CLIENT", "UNPAUSE")
	require.Equal(t, ":2", other.reply())
}

// No script harms the server.
func TestHostileScripts(t *testing.T) {
	c := serve(t).dial()
	deep := func(n int) string { return strings.Repeat("(", n) + "1" + strings.Repeat(")", n) }
	for _, script := range []string{
		"return " + deep(150), "return " + deep(100_000), "return " + strings.Repeat("- ", 100_000) + "1",
		"return " + strings.Repeat("{", 100_000), "return " + strings.Repeat("'a'..", 20_000) + "'b'",
		"return 1" + strings.Repeat("+1", 20_000), strings.Repeat("do ", 50_000) + strings.Repeat("end ", 50_000),
		strings.Repeat("if x then ", 50_000) + strings.Repeat("end ", 50_000), strings.Repeat("f(function() ", 5_000) + strings.Repeat("end) ", 5_000),
		"local function f() return pcall(f) end return f()", "local function f() f() end f()",
		"local function f(n) return coroutine.wrap(function() return f(n+1) end)() end return f(1)",
		"local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
		"local t = setmetatable({}, {}) getmetatable(t).__index = function(t, k) return t[k..'x'] end return t.x",
		"return string.rep('x', 2^40)", "return ('x'):rep(2^30):rep(2^10)", "return string.format('%99999d', 1)",
		"local a = {} a[1] = a return a", "return {{{{{}}}}}", "error(setmetatable({}, {__tostring = error}))",
		"return table.concat({1, 2}, ',', 1, 2^53)", "return unpack({}, 1, 2^31)", "return string.char(unpack({}, 1, 7000))",
		"return redis.call(unpack({'mget'}, 1, 7000))", "return tostring(setmetatable({}, {__tostring = function() return nil end}))",
		"return string.gsub('x', 'x', string.rep('%1', 10))", "return ('x'):find(('('):rep(100))",
		"table.sort({3, 2, 1, 5, 4}, function() return true end) return 1",
		"return loadstring(string.dump(function() end))", "coroutine.wrap(coroutine.yield)() coroutine.yield()",
		"return select(-2^31, 1)", "return math.random(2^31, -2^31)", "return ({})[0/0]",
	} {
		c.write(evalRaw("EVAL", script, "0"))
		require.NotEmpty(t, c.reply(), "%.60s", script)
		require.Equal(t, "+PONG", c.run("PING"), "%.60s", script)
	}
}

// first returns the script that has been running for the longest time, or nil.
func (r *runningScripts) first() *runningScript {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) == 0 {
		return nil
	}
	return r.all[0]
}

// A script that reads, undeclared, what a long write is writing sees all of it or
// nothing, whether it is known or new, and is not held up on other keys.
func TestScriptBesideLongWrite(t *testing.T) {
	s := serve(t)
	c, other := s.dial(), s.dial()
	const n = 200_000
	fill := func(value string) string {
		words := make([]string, 0, 2*n+1)
		words = append(words, "MSET")
		for i := range n {
			words = append(words, fmt.Sprint("k", i), value)
		}
		return evalRaw(words...)
	}
	read := fmt.Sprintf("return {redis.call('get', 'k0'), redis.call('get', 'k%d')}", n-1)
	c.write(fill("1"))
	require.Equal(t, "+OK", c.reply())
	c.write(fill("2"))
	both := func(v string) string { return "*2\r\n$1\r\n" + v + "\r\n$1\r\n" + v }
	for i := 0; ; i++ {
		got := other.run("EVAL", fmt.Sprintf("%s -- %d", read, i/2), "0")
		require.Equal(t, ":1", other.run("EVAL", fmt.Sprintf("return redis.call('exists', 'k0') -- %d", i/2), "1", "elsewhere"))
		if got == both("2") {
			break
		}
		require.Equal(t, both("1"), got)
	}
	require.Equal(t, "+OK", c.reply())
}
