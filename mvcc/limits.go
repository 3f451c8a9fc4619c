package mvcc

// Limits are what the configuration says of collections: until when OBJECT
// ENCODING calls them listpack or intset, as Redis' options of these names do,
// and how large the nodes of a stream get. How a value really lies in memory
// does not depend on the names.
type Limits struct {
	HashEntries, HashValue   int // hash-max-listpack-entries, -value (bytes)
	SetInts                  int // set-max-intset-entries
	ZSetEntries, ZSetValue   int // zset-max-listpack-entries, -value (bytes)
	StreamBytes, StreamCount int // stream-node-max-bytes, -entries; 0: no limit
	HLLSparseBytes           int // hll-sparse-max-bytes
}

// DefaultLimits are the defaults of Redis 7.0.
func DefaultLimits() Limits {
	return Limits{
		HashEntries: 512, HashValue: 64, SetInts: 512, ZSetEntries: 128, ZSetValue: 64,
		StreamBytes: 4096, StreamCount: 100, HLLSparseBytes: 3000,
	}
}

// Limits returns the limits in force.
func (s *Space) Limits() *Limits { return s.limits.Load() }

// SetLimits changes the limits, for writes from then on.
func (s *Space) SetLimits(l Limits) { s.limits.Store(&l) }
