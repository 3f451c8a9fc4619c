package shard

import "firn/mvcc"

// An Effect is one change as a plain Redis command, as the append-only file and
// replicas will read it: SPOP has become SREM, EXPIRE PEXPIREAT.
type Effect struct {
	DB   int
	Args [][]byte
}

// Expired is the effect of a key, or of a member of one, that went by itself.
func Expired(r mvcc.Removed) Effect {
	if r.Member == nil {
		return Effect{DB: r.DB, Args: [][]byte{[]byte("DEL"), r.Key}}
	}
	name := "HDEL"
	switch r.Type {
	case mvcc.Set:
		name = "SREM"
	case mvcc.ZSet:
		name = "ZREM"
	}
	return Effect{DB: r.DB, Args: [][]byte{[]byte(name), r.Key, r.Member}}
}

// A Journal takes effects in the one total order in which they happened: each
// shard's order and each transaction's wholeness are kept.
type Journal interface {
	// Append takes the effects of one command or transaction, which belong
	// together, while its shards are held. The arguments are valid until it
	// returns. It must be quick, and it can't fail: a journal that can't go
	// on says so elsewhere.
	Append(now int64, effects []Effect)
}
