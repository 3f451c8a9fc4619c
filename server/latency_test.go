package server

import (
	"fmt"
	"runtime/metrics"
	"strings"
	"testing"

	"firn/shard"

	"github.com/stretchr/testify/require"
)

func TestLatencySeries(t *testing.T) {
	m := newLatencyMonitor()
	m.add("command", 100, 5)
	m.add("command", 100, 9)
	m.add("command", 100, 7)
	m.add("command", 101, 3)
	m.add("freeze", 102, 1)
	l := m.of("command")
	require.Equal(t, []latencySample{{100, 9}, {101, 3}}, l.samples, "the worst of each second")
	require.EqualValues(t, 9, l.worst)
	for i := range int64(2 * latencySamples) {
		m.add("command", 200+i, i)
	}
	l = m.of("command")
	require.Len(t, l.samples, latencySamples)
	require.Equal(t, latencySample{200 + 2*latencySamples - 1, 2*latencySamples - 1}, l.last())
	require.Len(t, m.all(), 2)
	require.Equal(t, 0, m.reset("commands"))
	require.Equal(t, 1, m.reset("COMMAND"))
	require.Equal(t, 1, m.reset(""))
	require.Nil(t, m.of("command"))
}

// TestLatencyGraph: as redis-server 7.0.15 drew what it had measured.
func TestLatencyGraph(t *testing.T) {
	const now = 1796034360
	l := &latencySeries{event: "command", worst: 200, samples: []latencySample{{now - 6, 30}, {now - 5, 110}, {now - 3, 60}, {now - 2, 200}, {now - 1, 31}}}
	require.Equal(t, "command - high 200 ms, low 30 ms (all time high 200 ms)\n"+
		strings.Repeat("-", 80)+"\n"+
		"   # \n"+
		"   | \n"+
		" # | \n"+
		"_|#|_\n"+
		"     \n"+
		"65321\n"+
		"sssss\n", l.graph(now))
	for seconds, want := range map[int64]string{59: "59s", 3599: "59m", 3600: "1h", 86399: "23h", 864000: "10d"} {
		require.Equal(t, want, ago(seconds))
	}
	for i := range int64(graphColumns) {
		l.samples = append(l.samples, latencySample{now, i})
	}
	require.Equal(t, 5, strings.Count(strings.SplitN(l.graph(now), "\n\n", 2)[1], "0"), "the sixth to the last: a second block")
}

// TestLatencyCommands has a threshold that no event of a busy machine reaches.
func TestLatencyCommands(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Contains(t, c.text("LATENCY DOCTOR"), "I'm sorry, Dave")
	require.Equal(t, "+OK", c.do("CONFIG SET latency-monitor-threshold 1000000"))
	require.NotContains(t, c.text("LATENCY DOCTOR"), "I'm sorry, Dave")
	require.Equal(t, "*0", c.do("LATENCY LATEST"))
	require.Equal(t, "-ERR No samples available for event 'command'", c.do("LATENCY GRAPH command"))
	for _, event := range []string{eventCommand, eventFastCommand, eventLockWait, eventExpire, eventEviction, eventFreeze, eventGCPause} {
		s.spike(event, 999e9)
		s.spike(event, 1500e9)
		require.Regexp(t, `^\*1\r\n\*2\r\n:\d{10}\r\n:1500000$`, c.do("LATENCY HISTORY "+event))
		require.Contains(t, c.text("LATENCY DOCTOR"), event+": 1 latency spikes (average 1500000ms, mean deviation 0ms, period 1.00 sec). Worst all time event 1500000ms.")
	}
	require.Regexp(t, `^\*7\r\n\*4\r\n\$7\r\ncommand\r\n:\d{10}\r\n:1500000\r\n:1500000\r\n`, c.do("LATENCY LATEST"))
	require.Contains(t, c.text("LATENCY DOCTOR"), "The garbage collector stopped the process")
	require.Equal(t, ":2", c.do("LATENCY RESET COMMAND freeze nosuch"))
	require.Equal(t, ":5", c.do("LATENCY RESET"))
	require.Equal(t, "*0", c.do("LATENCY HISTORY command"))
}

// TestLockWaitIsSeen: a command in line behind a long write. On a busy machine
// the command may come when the write has ended: then a longer one is tried.
func TestLockWaitIsSeen(t *testing.T) {
	s := serve(t, "--latency-monitor-threshold", "1")
	c := s.dial()
	for nanos := int64(20e6); s.latency.of(eventLockWait) == nil; nanos *= 2 {
		require.Less(t, nanos, int64(10e9), "no wait was seen")
		s.longWrite("k", nanos)
		require.Equal(t, "+OK", c.do("SET k v"))
	}
	require.Equal(t, "$1\r\nv", c.do("GET k"))
}

// longWrite begins a long write that has the key locked for so long, and
// returns when it is.
func (s *testServer) longWrite(key string, nanos int64) {
	locked := make(chan struct{})
	s.shards.Heavy.Go(func() {
		s.shards.Long([][]byte{[]byte(key)}, []int{0}, func(_ *shard.Hold, pause func()) []shard.Effect {
			close(locked)
			for end := s.monotonic() + nanos; s.monotonic() < end; {
				pause()
			}
			return nil
		})
	})
	<-locked
}

// TestHistogramOctaves: Redis' buckets.
func TestHistogramOctaves(t *testing.T) {
	var h histogram
	for _, nanos := range []int64{10, 900, 1500, 2100, 30_000, 33_500, 70_000, 900_000, 5e9, 9e9} {
		h.buckets[bucketOf(nanos)].Add(1)
	}
	d := h.octaves()
	require.EqualValues(t, 10, d.calls)
	require.Equal(t, []bucket{{1, 2}, {2, 3}, {4, 4}, {33, 5}, {66, 6}, {132, 7}, {1056, 8}, {1082130, 10}}, d.buckets)
}

func TestLatencyHistogram(t *testing.T) {
	c := serve(t).dial()
	c.do("CONFIG RESETSTAT")
	require.Regexp(t, `^\*2\r\n\$16\r\nconfig\|resetstat\r\n\*4\r\n\$5\r\ncalls\r\n:1\r\n\$14\r\nhistogram_usec\r\n\*2\r\n:\d+\r\n:1$`, c.do("LATENCY HISTOGRAM"))
	c.do("CLIENT ID")
	c.do("CLIENT LIST")
	c.do("SET a b")
	require.Equal(t, "*0", c.do("LATENCY HISTOGRAM nosuch get client|nosuch nosuch|id"))
	for args, rows := range map[string][]string{"client": {"client|id", "client|list"}, "Client|ID nosuch set": {"client|id", "set"}} {
		got := c.do("LATENCY HISTOGRAM " + args)
		require.Contains(t, got, fmt.Sprintf("*%d\r\n", 2*len(rows)))
		for _, row := range rows {
			require.Contains(t, got, "\r\n"+row+"\r\n*4\r\n$5\r\ncalls\r\n:1\r\n")
		}
	}
	require.Equal(t, "-ERR wrong number of arguments for 'latency|help' command", c.do("LATENCY HELP x"))
}

// TestPausesGrown: the longest of the pauses since the last look.
func TestPausesGrown(t *testing.T) {
	var w spikes
	h := &metrics.Float64Histogram{Buckets: []float64{-1, 0, 0.001, 0.01, 0.1}, Counts: []uint64{0, 3, 1, 0}}
	require.EqualValues(t, 1e6, w.grown(h))
	require.Zero(t, w.grown(h))
	h.Counts[1]++
	require.EqualValues(t, 0, w.grown(h))
	h.Counts[3]++
	require.EqualValues(t, 10e6, w.grown(h))
	w = spikes{}
	w.longestPause()
	require.Equal(t, metrics.KindFloat64Histogram, w.sample[0].Value.Kind(), "the runtime has such a histogram")
}
