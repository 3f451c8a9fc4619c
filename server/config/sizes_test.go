package config

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSizes(t *testing.T) {
	f := func(set, cores, shards, heavy int) {
		c := Default()
		c.Shards, c.HeavyThreads, c.EventLoops = set, set, set
		require.Equal(t, shards, c.ShardCount(cores))
		require.Equal(t, heavy, c.HeavyThreadCount(cores))
		require.Equal(t, heavy, c.EventLoopCount(cores))
	}
	f(0, 1, 4, 1)
	f(0, 2, 8, 1)
	f(0, 3, 16, 1)
	f(0, 64, 256, 32)
	f(1, 8, 1, 1)
	f(3, 8, 4, 3)
	f(16, 8, 16, 16)
}

func TestClientMemoryLimit(t *testing.T) {
	f := func(maxmemory, clients string, want int64) {
		c, _, err := Default().Set([]Pair{{"maxmemory", maxmemory}, {"maxmemory-clients", clients}}, SetOptions{})
		require.NoError(t, err)
		require.Equal(t, want, c.ClientMemoryLimit())
	}
	f("0", "0", 0)
	f("0", "5%", 0)
	f("100mb", "5%", 5<<20)
	f("100mb", "1", 128<<10)
	f("1kb", "1%", 128<<10)
	f("1gb", "3mb", 3<<20)
	f("9223372036854775807", "100%", 9223372036854775800)
}
