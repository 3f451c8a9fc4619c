package config

import "math/bits"

// ShardCount gives the number of shards on a machine with that many cores: a power of two, four for each core if none is set.
func (c *Config) ShardCount(cores int) int {
	n := c.Shards
	if n == 0 {
		n = 4 * max(cores, 1)
	}
	return 1 << bits.Len(uint(n-1))
}

// HeavyThreadCount gives how many cores long commands may take: half of them if nothing is set, at least one.
func (c *Config) HeavyThreadCount(cores int) int { return orHalf(c.HeavyThreads, cores) }

// EventLoopCount gives how many goroutines wait for connections' bytes: half the cores if nothing is set, at least one.
func (c *Config) EventLoopCount(cores int) int { return orHalf(c.EventLoops, cores) }

func orHalf(n, cores int) int {
	if n > 0 {
		return n
	}
	return max(cores/2, 1)
}

// minClientMemory is the least that maxmemory-clients can ask for.
const minClientMemory = 128 << 10

// ClientMemoryLimit gives how many bytes the buffers of all clients may take before the biggest clients are dropped, 0 for any
// number. A share of maxmemory is none if there is no maxmemory.
func (c *Config) ClientMemoryLimit() int64 {
	limit := c.MaxMemoryClients
	if limit < 0 {
		limit = c.MaxMemory / 100 * -limit
	}
	if limit == 0 {
		return 0
	}
	return max(limit, minClientMemory)
}
