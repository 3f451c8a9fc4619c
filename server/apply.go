package server

import (
	"time"

	"firn/mvcc"
	"firn/server/config"
	"firn/shard"
)

// apply puts into effect what parts outside the server go by. It is called at
// the start and after every change of the configuration.
func (srv *Server) apply(c *config.Config) {
	srv.shards.Space.SetAccess(mvcc.Access{
		LFU: c.MaxMemoryPolicy.LFU(), Evicts: c.MaxMemory > 0 && clocked(c.MaxMemoryPolicy), LogFactor: c.LFULogFactor, DecayTime: c.LFUDecayTime, Rand: srv.rand,
	})
	srv.shards.Space.SetLimits(limitsOf(c))
	srv.shards.SetLimit(shard.Limit{
		Max:     c.MaxMemory,
		Policy:  policyOf(c.MaxMemoryPolicy),
		Samples: c.MaxMemorySamples,
		Slice:   evictionSlice(c.MaxMemoryTenacity),
		Extra:   srv.besides,
	})
	srv.shards.Kick()
	srv.setLevel(c)
}

// limitsOf translates what the configuration says of collections.
func limitsOf(c *config.Config) mvcc.Limits {
	return mvcc.Limits{
		HashEntries: c.HashMaxListpackEntries, HashValue: int(c.HashMaxListpackValue),
		SetInts:     c.SetMaxIntsetEntries,
		ZSetEntries: c.ZSetMaxListpackEntries, ZSetValue: int(c.ZSetMaxListpackValue),
		StreamBytes: int(c.StreamNodeMaxBytes), StreamCount: int(c.StreamNodeMaxEntries),
		HLLSparseBytes: int(c.HLLSparseMaxBytes),
	}
}

// clocked says whether the policy goes by when or how often a key was used.
func clocked(p config.EvictionPolicy) bool {
	return p.LFU() || p == config.AllKeysLRU || p == config.VolatileLRU
}

// policyOf translates the configuration's policy.
func policyOf(p config.EvictionPolicy) shard.Policy {
	switch p {
	case config.VolatileLRU:
		return shard.VolatileLRU
	case config.VolatileLFU:
		return shard.VolatileLFU
	case config.VolatileRandom:
		return shard.VolatileRandom
	case config.VolatileTTL:
		return shard.VolatileTTL
	case config.AllKeysLRU:
		return shard.AllKeysLRU
	case config.AllKeysLFU:
		return shard.AllKeysLFU
	case config.AllKeysRandom:
		return shard.AllKeysRandom
	}
	return shard.NoEviction
}

// evictionSlice is how long one command may evict before it is run, by
// maxmemory-eviction-tenacity (evictionTimeLimitUs of Redis' evict.c): 500 µs at
// 10, up to 2 ms, and never longer than that, because nothing may hold others up.
func evictionSlice(tenacity int) time.Duration {
	return min(time.Duration(max(tenacity, 1))*50*time.Microsecond, 2*time.Millisecond)
}
