package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	table := newTable("e9", "a test")
	for _, v := range []float64{50_000, 10, 60_000} {
		table.Add("load", "ops/s", perSecond, "firn", v)
	}
	table.Add("load", "ops/s", perSecond, "redis", 40_000)
	table.Add("load", "p99", millis, "redis", 3.456)
	table.AddRaw("load", "hidden", millis, "redis", 1)
	for _, v := range []float64{0.1, 0.26, 1.23} {
		table.AddRaw("load", othersMetric, factor, "redis", v)
	}
	table.Fail("load", "firn", "n/a (a reason that is far too long for a cell)")
	table.Fail("BGSAVE", "firn", "n/a (unknown command)")
	table.Add("memory", "rss", mebibytes, "firn", 210*1024*1024)
	table.Add("memory", "rss/used", factor, "redis", 1.5)
	table.Note("%d keys", 5)
	table.Note("%d keys", 5)
	want := `
e9: a test
  e9                                 firn    redis  firn/redis
  load    ops/s                    50,000   40,000        1.25
          p99              n/a, see below  3.46 ms           -
  BGSAVE            n/a (unknown command)
  memory  rss                     210 MiB        -           -
          rss/used                      -     1.50           -
  5 keys
  firn, load: n/a (a reason that is far too long for a cell)
  Disturbed: in 2 of 3 measurements other processes used up to 1.2 cores.
`
	got := "\n" + table.Render([]string{"firn", "redis"})
	require.Equal(t, want, got)
}

func TestFormat(t *testing.T) {
	f := func(v float64, u unit, want string) {
		t.Helper()
		require.Equal(t, want, format(v, u))
	}
	f(1234567, count, "1,234,567")
	f(999.6, perSecond, "1,000")
	f(-1234, millis, "-1,234 ms")
	f(-0.2, count, "0")
	f(0.754, percent, "75.4 %")
	f(12.34, micros, "12.3 µs")
	f(0, seconds, "0.00 s")
}

func TestRatioNeedsBothSides(t *testing.T) {
	require.Equal(t, "0.50", ratio([]float64{1, 3}, []float64{4}))
	require.Equal(t, "-", ratio(nil, []float64{4}))
	require.Equal(t, "-", ratio([]float64{4}, []float64{0}))
	require.Equal(t, "b", baseline([]string{"a", "b"}))
	require.Equal(t, "redis", baseline([]string{"redis", "b"}))
}

func TestRatesFindTheWorstSecond(t *testing.T) {
	v := eviction{bins: make([]int, 41)}
	for i := range v.bins {
		v.bins[i] = 100
	}
	for i := 17; i < 22; i++ { // a stall of half a second that two clock seconds share
		v.bins[i] = 0
	}
	worst, mean := v.rates(900 * time.Millisecond) // bins 10 to 39
	require.InDelta(t, 500, worst, 1e-9)
	require.InDelta(t, 2500.0/3, mean, 1e-9)

	short := eviction{bins: []int{5, 10, 1}}
	worst, mean = short.rates(0)
	require.Equal(t, []float64{100, 100}, []float64{worst, mean}, "less than a second is taken whole")
}

func TestParsers(t *testing.T) {
	require.Equal(t, 170*time.Millisecond, parseCPU("12 (a (b) c) S 1 1 1 0 -1 4194560 1 0 0 0 7 10 0 0 20 0 4"))
	require.Zero(t, parseCPU("garbage"))
	require.Equal(t, 60*time.Millisecond, parseHostCPU("cpu  1 1 1 900 800 1 1 1 70 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n"))
	require.Zero(t, parseHostCPU(""))
	require.EqualValues(t, 3*1024, kilobytes("VmPeak: 9 kB\nVmRSS:\t 3 kB\n", "VmRSS:"))
	out := "noise\n\"test\",\"rps\",\"p50_latency_ms\"\n\"SET\",\"5.5\",\"0.25\"\n"
	fields, err := parseBenchmark(out, "SET")
	require.NoError(t, err)
	require.Equal(t, map[string]float64{"rps": 5.5, "p50_latency_ms": .25}, fields)
	for _, bad := range []string{"", out[:30]} {
		_, err = parseBenchmark(bad, "SET")
		require.Error(t, err)
	}
	_, err = parseBenchmark(out, "GET")
	require.Error(t, err)
}
