// Package shard owns the keyspace: who may touch which part of it when, what
// happens at one instant, and the work that nobody asked for (expiry, eviction,
// cleaning).
//
// # Ownership
//
//	what                      owner                         others look through
//	mvcc.Store of a shard     whoever has taken the shard   versions (Cut, Hold.Freeze)
//	Shard.locks               whoever has taken the shard   -
//	Shard.lines, late         whoever has taken the shard   -
//	Set.long (long write)     longWriter.mu                 -
//	Set.backlog (of serving)  backlog.mu                    -
//	Pool                      Pool.mu                       Pool.Load
//	eviction candidates       evictor.mu                    -
//
// A shard is taken by a Hold: for one short command, for a slice of a long one,
// for a slice of a duty. The design asked for an owner goroutine with an inbox
// that sessions may borrow from; measured, a pipelined SET/GET costs 1.6 µs of
// CPU with a channel hop each and 0.8 µs in place, and an idle shard is the
// rule. So borrowing is the only way: the lock inside Shard is the ownership,
// nobody keeps it longer than a slice of 200 µs or gives it back without leaving
// it to those who wait (Shard.lock), and the owner goroutine that
// is left (Set.Run) only does the duties.
//
// # One instant
//
// Several shards are taken in index order and given back together, so a command
// on any number of keys happens at one instant. A Cut freezes all shards while
// it holds them all, O(1) each.
//
// # Long writes
//
// A write of many keys (MSET of 500,000 pairs) would hold its shards too long.
// It runs aside instead (Set.Long): its keys are locked, all at once; it writes
// in slices, between which everybody else has the shards; freezes meanwhile see
// the state without it (mvcc's splice); it takes effect when the splices end,
// with all its shards held. Commands that touch its keys wait in line. There is
// one long write at a time, so there is no deadlock and no retry. Dragonfly's
// VLL (Ren, Thomson, Abadi: "Lightweight locking for main memory database
// systems", VLDB '13) locks keys for the same reason but runs the command whole.
//
// # Transactions
//
// Several commands become one by an open Hold (Hold.Open): it holds what all of
// them need, so that their own taking and giving does nothing, and what they
// have done is one batch of the journal, which copies it only if somebody
// listens. A short EXEC, and a script, run so. A long EXEC is a long write of
// many commands (Set.Transact), and a script may lock keys as it comes to them
// (Hold.Extend).
//
// The road not taken is optimism (to run on versions, and to check at the end
// that nobody wrote what was read): a transaction of Redis never fails for what
// others do, unless it asked for that with WATCH, and a long one would never
// get through.
//
// # Stores
//
// A command that computes a value from some keys and puts it under another
// (SINTERSTORE of two huge sets) reads for long and writes at once. It runs
// aside (Set.Store): at one instant its inputs are frozen and the keys that it
// writes are locked; it computes from the frozen inputs, which everybody else
// may go on changing; then its result is put in place, O(1), and the lock comes
// off. It has happened when it froze: whoever names one of its keys waits and
// sees the result. Any number of stores run at a time. A store that has its
// lock waits for no other, and so there is no deadlock, nor between stores and
// the long write, which waits for the locks on its keys before it begins.
//
// What looks at a whole database without naming keys (KEYS, DBSIZE, a save)
// sees the keys of a store as they were until the result is in place, even if
// it sees a change of an input that came after the freeze. The journal has the
// result where it was put in place.
//
// # Who waits for a key
//
// A client that waits for a key has a seat in the key's line (Hold.Await), and
// the line's key is marked (mvcc.Mark). Whoever gives shards back in which a
// marked key was written serves its clients first: at the instant of the write,
// as far as anybody can see, and after all of a transaction; first come, first
// served. What that takes is mostly one shard more, the one that a move (BLMOVE)
// writes, which is taken out of order and so only if it is free. Where that does
// not go (the shard is not free; the destination is locked by a long write or a
// store; there are too many clients for a goroutine that has others to look
// after), the key is locked, others who name it wait in line, and the heavy pool
// serves its clients, one key after the other. Such a lock does not hold that
// up, whosever it is, and what serves waits for long writes and stores alone: so
// there is no deadlock.
//
// # Heavy work
//
// The Pool runs what is long on a bounded number of goroutines, first come
// first served, each giving way after a slice when others wait. Between two tasks a
// goroutine of it may rest (Enter), so that a hundred clients with long work do
// not keep the cores from those with short work.
package shard
