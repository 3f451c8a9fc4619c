package config

import (
	"errors"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func glob(pattern, name string) bool {
	ok, _ := path.Match(strings.ToLower(pattern), name)
	return ok
}

// given is what the test itself passes to redis-server.
var given = map[string]bool{"port": true, "bind": true, "dir": true}

// TestDuelDefaults compares the value of each name that redis-server 7.0.15 has, hidden ones too.
func TestDuelDefaults(t *testing.T) {
	redis := startRedis(t)
	want := redis.configGet("*", "key-load-delay", "rdb-key-save-delay", "use-exit-on-panic", "watchdog-period",
		"loading-process-events-interval-bytes")
	require.Len(t, want, 192+5)
	c := Default()
	for name, value := range want {
		o := Lookup(name)
		require.NotNil(t, o, name)
		if !given[name] {
			require.Equal(t, value, c.Text(name), name)
		}
	}
	shown := redis.configGet("*")
	for _, p := range c.Get([]string{"*"}, glob) {
		if _, there := shown[p.Name]; !there {
			require.Truef(t, notRedis(p.Name), "%s is not shown by Redis", p.Name)
		}
	}
}

// notRedis tells the names that came with 7.2, KeyDB's and Firn's own from those of 7.0.15.
func notRedis(name string) bool {
	own := map[string]bool{"shards": true, "heavy-threads": true, "event-loops": true, "log-format": true,
		"set-max-listpack-entries": true, "set-max-listpack-value": true}
	if own[name] || strings.HasSuffix(name, "-cpulist") {
		return true
	}
	for _, o := range append(append([]Option{}, keydbRows...), laterRows...) {
		if o.Name == name {
			return true
		}
	}
	return false
}

// badValues are tried on every option. Those of them that are good for one are compared by what CONFIG GET shows after.
var badValues = []string{"", "x", "yes", "no", "YES", "0", "1", "-1", "007", "+5", " 5", "5 ", "12345678901234567890", "99999999999999999999999",
	"2147483648", "4294967296", "1k", "1kb", "1Mb", "1gb", "1tb", "50%", "101%", "-5%", "%", "0x10", "1.5", "always", "ALLKEYS-LRU",
	"900 1", "900", "900 -1", "0 1", "a b", "normal 0 0 0", "slave 1mb 2mb 3 pubsub 0 0 0", "master 0 0 0", "normal x 0 0", "normal 0 0 -1",
	"normal 0 0", "KEA", "AKEm", "gxE", "Q", "a/b", "nosave now", "save nosave", "default", "force now save", "50 99.99 99.999", "50 101", "nan",
	"1 2 3", "1 2", "-2001 0 0", "{title}", "{title} {port}", "{bad}", "{", "a_b", "host-1.example", "777", "1000", "8", "swapdb", "verbose", "yes no",
	"activate", "("}

// different are the pairs where Firn means to differ.
func different(name, value string) bool {
	switch name {
	case "port", "tls-port", "bind", "dir", "maxclients": // take effect in a real server
		return true
	case "server_cpulist", "bio_cpulist", "aof_rewrite_cpulist", "bgsave_cpulist": // the 7.2 names of them can be set back
		return value == ""
	case "requirepass", "logfile", "oom-score-adj", "appendonly", "replicaof", "slaveof", "masterauth", "oom-score-adj-values":
		return true
	case "tls-cluster", "tls-replication": // need certificates
		return strings.EqualFold(value, "yes")
	case "latency-tracking-info-percentiles": // C reads hexadecimal here
		return value == "0x10"
	case "maxmemory", "cluster-link-sendbuf-limit": // above 2^63
		return strings.HasPrefix(value, "1234567") || strings.HasPrefix(value, "999999")
	}
	return false
}

// TestDuelSet sets every option of redis-server to every value above and compares the error, or what CONFIG GET shows.
func TestDuelSet(t *testing.T) {
	redis := startRedis(t)
	names := redis.configGet("*")
	c := Default()
	for name := range names {
		for _, value := range badValues {
			if different(name, value) {
				continue
			}
			want := strings.Join(redis.do("CONFIG", "SET", name, value), " ")
			next, _, err := c.Set([]Pair{{name, value}}, SetOptions{})
			if want == "+OK" {
				require.NoErrorf(t, err, "%s %q", name, value)
				require.Equalf(t, redis.configGet(name)[name], next.Text(name), "%s %q", name, value)
				continue
			}
			require.Errorf(t, err, "%s %q: %s", name, value, want)
			require.Equalf(t, want, "-"+err.Error(), "%s %q", name, value)
		}
		redis.do("CONFIG", "SET", name, names[name])
	}
}

// TestDuelSetMany compares CONFIG SET of several pairs: which error comes first, and names and cases in it.
func TestDuelSetMany(t *testing.T) {
	redis := startRedis(t)
	f := func(words ...string) {
		var pairs []Pair
		for i := 0; i < len(words); i += 2 {
			pairs = append(pairs, Pair{words[i], words[i+1]})
		}
		want := strings.Join(redis.do(append([]string{"CONFIG", "SET"}, words...)...), " ")
		c := Default()
		_, _, err := c.Set(pairs, SetOptions{})
		if want == "+OK" {
			require.NoError(t, err, words)
			return
		}
		require.Error(t, err, words)
		require.Equal(t, want, "-"+err.Error(), words)
	}
	f("maxmemory", "10000001", "maxmemory-clients", "200%", "client-query-buffer-limit", "invalid")
	f("maxmemory", "1", "maxmemory", "2")
	f("maxmemory", "1", "MaxMemory", "2")
	f("MaxMemory", "x")
	f("Hash-Max-Ziplist-Value", "x")
	f("hash-max-ziplist-value", "10", "hash-max-listpack-value", "20")
	f("daemonize", "yes")
	f("Daemonize", "yes", "nonsense", "1")
	f("nonsense", "1", "daemonize", "yes")
	f("NonSense", "1")
	f("dir", "somedir")
	f("dbfilename", "x")
	f("proto-max-bulk-len", "1") // H15
	f("proto-max-bulk-len", "1048575")
	f("activedefrag", "yes")
	f("key-load-delay", "x")
}

// TestDuelGet compares which names a CONFIG GET answers, and in which case.
func TestDuelGet(t *testing.T) {
	redis := startRedis(t)
	f := func(patterns ...string) {
		want := redis.configGet(patterns...)
		got := map[string]string{}
		for _, p := range Default().Get(patterns, glob) {
			got[p.Name] = p.Value
			if notRedis(p.Name) {
				delete(got, p.Name)
			}
			if given[p.Name] {
				got[p.Name] = want[p.Name]
			}
		}
		require.Equal(t, want, got, patterns)
	}
	f("maxmemory", "maxmemory*", "bind", "*of")
	f("MAXMEMORY")
	f("MaxMem*")
	f("maxmemory", "MAXMEMORY")
	f("key-load-delay")
	f("key-load-del*")
	f("nonsense")
	f("slave*", "*ziplist*")
	f("h[z]", "?z")
	f("save", "SAVE", "sav?")
}

func TestSetRefusals(t *testing.T) {
	c := Default()
	_, _, err := c.Set([]Pair{{"dir", "x"}}, SetOptions{Loading: true, AllowProtected: true})
	require.ErrorIs(t, err, ErrLoading)
	_, _, err = c.Set([]Pair{{"dir", "x"}}, SetOptions{AllowProtected: true, Dir: func(string) (string, error) {
		return "", errors.New("No such file or directory")
	}})
	require.EqualError(t, err, "ERR CONFIG SET failed (possibly related to argument 'dir') - No such file or directory")
}

// TestSetLeavesTheOld checks that a published configuration never changes, and that changed names are the primary ones.
func TestSetLeavesTheOld(t *testing.T) {
	c := Default()
	next, changed, err := c.Set([]Pair{{"save", "3000 5"}, {"lua-time-limit", "7"}, {"activedefrag", "no"}, {"maxmemory", "0"},
		{"activerehashing", "no"}, {"tls-cert-file", ""}}, SetOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{"save", "busy-reply-threshold", "activerehashing", "tls-cert-file"}, changed)
	require.Equal(t, Default(), c)
	require.EqualValues(t, 7, next.BusyReplyThreshold)
	require.Equal(t, []SavePoint{{3000, 5}}, next.Save)
	require.Equal(t, "no", next.Text("activerehashing"))
}

// TestSetBack is the Tcl suite's "CONFIG sanity": what CONFIG GET shows can be set again, but for Redis' own immutable names.
func TestSetBack(t *testing.T) {
	c := Default()
	c.Dir = "/data"
	for _, p := range c.Get([]string{"*"}, glob) {
		o := Lookup(p.Name)
		if o.Flags&Immutable != 0 && o.Flags&Sticky == 0 {
			continue
		}
		next, _, err := c.Set([]Pair{p}, SetOptions{AllowProtected: true})
		require.NoError(t, err, p.Name)
		require.Equal(t, c.Text(p.Name), next.Text(p.Name), p.Name)
	}
}
