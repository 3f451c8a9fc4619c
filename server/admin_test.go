package server

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestInfoSections: what is named is shown once, what nobody has is nothing,
// and nothing stands behind avg_ttl, which exporters count to.
func TestInfoSections(t *testing.T) {
	s := serve(t)
	c := s.dial()
	c.do("SET k v EX 100")
	require.Empty(t, c.text("INFO nosuch"))
	require.Equal(t, "# Keyspace\r\ndb0:keys=1,expires=1,avg_ttl=0\r\n", c.text("INFO keyspace"))
	require.Equal(t, "# Modules\r\n", c.text("INFO module_list"))
	require.Equal(t, "# Cluster\r\ncluster_enabled:0\r\n", c.text("INFO CLUSTER cluster"))

	usual := c.text("INFO")
	require.NotContains(t, usual, "cmdstat_")
	require.Contains(t, usual, "\r\nmvcc_pinned_bytes:0\r\n")
	all := c.text("INFO keyspace everything")
	require.Equal(t, 1, strings.Count(all, "# Keyspace"))
	require.Contains(t, all, "cmdstat_set:calls=1,")
	require.Contains(t, all, "latency_percentiles_usec_set:p50=")
	require.Less(t, strings.Index(all, "\r\nloading:"), strings.Index(all, "async_loading:"))
	for _, line := range strings.Split(strings.TrimSpace(all), "\r\n") {
		require.Regexp(t, `^(|# \w+|[\w.|-]+:.*)$`, line)
	}
}

func TestConfigResetStat(t *testing.T) {
	c := serve(t).dial()
	c.do("GET nosuch")
	c.do("nosuch")
	require.Contains(t, c.text("INFO stats"), "keyspace_misses:1\r\n")
	require.Contains(t, c.text("INFO errorstats"), "errorstat_ERR:count=1\r\n")
	c.do("CONFIG RESETSTAT")
	require.Contains(t, c.text("INFO stats"), "keyspace_misses:0\r\n")
	require.Equal(t, "# Errorstats\r\n", c.text("INFO errorstats"))
}

// TestConfigSetListensAnew: the new port serves and the old one doesn't; one
// that can't be had leaves everything as it was; clients stay connected.
func TestConfigSetListensAnew(t *testing.T) {
	s := serve(t)
	c := s.dial()
	port := freePort(t)
	require.Equal(t, "+OK", c.do("CONFIG SET port "+strconv.Itoa(port)))
	_, err := net.Dial("tcp", s.addr)
	require.Error(t, err)
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	require.Equal(t, "+PONG", s.dial().do("PING"))

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	_, busy, _ := net.SplitHostPort(taken.Addr().String())
	require.Contains(t, c.do("CONFIG SET port "+busy), "Unable to listen on this port")
	require.Contains(t, c.do("CONFIG SET bind 192.0.2.1"), "Failed to bind to specified addresses")
	require.Contains(t, c.do("CONFIG SET tls-port "+strconv.Itoa(freePort(t))), "Unable to update TLS configuration")
	require.Equal(t, "+OK", c.do(`CONFIG SET bind "127.0.0.1 127.0.0.2"`))
	require.Equal(t, "+OK", c.do("CONFIG SET bind 127.0.0.1"))
	require.Equal(t, "+PONG", s.dial().do("PING"))
	require.Equal(t, "+PONG", c.do("PING"))
}

func TestConfigRewrite(t *testing.T) {
	file := filepath.Join(t.TempDir(), "firn.conf")
	port := strconv.Itoa(freePort(t))
	require.NoError(t, os.WriteFile(file, []byte("# mine\nport "+port+"\nbind 127.0.0.1\nsave \"\"\n"), 0o600))
	s := serveWith(t, file)
	s.addr = net.JoinHostPort("127.0.0.1", port)
	c := s.dial()
	require.Equal(t, "+OK", c.do("CONFIG SET maxmemory 100mb"))
	require.Equal(t, "+OK", c.do("CONFIG REWRITE"))
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(b), "# mine\nport "+port+"\n")
	require.Contains(t, string(b), "maxmemory 100mb\n")
}

// TestVolatileWarning: switching persistence on works and says once that
// nothing comes of it yet.
func TestVolatileWarning(t *testing.T) {
	s := serve(t)
	c := s.dial()
	for _, line := range []string{"CONFIG SET appendonly yes", "CONFIG SET appendonly no", "CONFIG SET appendonly yes", `CONFIG SET save "60 1"`} {
		require.Equal(t, "+OK", c.do(line))
	}
	require.Equal(t, 1, s.logs.FilterMessageSnippet("nothing is written to disk").Len())
}

func TestShutdownCommand(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Contains(t, c.do("SHUTDOWN SAVE NOSAVE"), "syntax error")
	require.Contains(t, c.do("SHUTDOWN ABORT NOW"), "syntax error")
	require.Contains(t, c.do("SHUTDOWN ABORT"), "No shutdown in progress")
	require.Contains(t, c.do("SHUTDOWN SAVE"), "Errors trying to SHUTDOWN")
	require.Equal(t, "+PONG", c.do("PING"))
	c.send("SHUTDOWN NOSAVE")
	require.Empty(t, c.closed())
	select {
	case <-s.Stopped():
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
}

// TestRenameCommand: an empty name takes a command away.
func TestRenameCommand(t *testing.T) {
	c := serve(t, "--rename-command", "FLUSHALL", "", "--rename-command", "GET", "fetch").dial()
	require.Contains(t, c.do("FLUSHALL"), "unknown command")
	require.Contains(t, c.do("GET k"), "unknown command")
	require.Equal(t, "+OK", c.do("SET k v"))
	require.Contains(t, c.do("Fetch k"), "v")
	require.Contains(t, c.do("fetch"), "'get' command")
}

// TestCheckUser: a limit that would not be kept is refused.
func TestCheckUser(t *testing.T) {
	require.NoError(t, CheckUser(strings.Fields("default on nopass sanitize-payload ~* &* +@all")))
	require.Error(t, CheckUser(strings.Fields("default on nopass ~app:* +@all")))
	require.Error(t, CheckUser(strings.Fields("alice on >secret ~* +@all")))
}

func TestHuman(t *testing.T) {
	for n, want := range map[int64]string{0: "0B", 1023: "1023B", 1024: "1.00K", 1536: "1.50K", 1 << 20: "1.00M", 5 << 30: "5.00G", 1 << 62: "4096.00P"} {
		require.Equal(t, want, human(n))
	}
}

// TestRate: the average of sixteen samples, which a counter that was reset does
// not spoil.
func TestRate(t *testing.T) {
	var r rate
	r.sample(1e8, 0)
	for i := range int64(rateSamples) {
		r.sample((i+2)*1e8, (i+1)*100)
	}
	require.InDelta(t, 1000, r.perSecond(), 1e-6)
	r.sample(18e8, 0)
	require.InDelta(t, 1000*15.0/16, r.perSecond(), 1e-6)
}

func TestPercentiles(t *testing.T) {
	var h histogram
	_, any := h.percentiles([]float64{50})
	require.False(t, any)
	for range 99 {
		h.buckets[bucketOf(2000)].Add(1)
	}
	h.buckets[bucketOf(1e6)].Add(1)
	p, any := h.percentiles([]float64{0, 50, 99, 100})
	require.True(t, any)
	require.Equal(t, p[0], p[2])
	require.GreaterOrEqual(t, p[1], int64(2000))
	require.Less(t, p[1], int64(2300))
	require.GreaterOrEqual(t, p[3], int64(1e6))
}
