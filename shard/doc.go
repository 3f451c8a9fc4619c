// Package shard owns the keyspace: who may touch which part of it when, what
// happens at one instant, and the work that nobody asked for (expiry, eviction,
// cleaning).
//
// # Ownership
//
//	what                      owner                         others look through
//	mvcc.Store of a shard     whoever has taken the shard   versions (Cut, Hold.Freeze)
//	Shard.locks               whoever has taken the shard   -
//	Set.long (long write)     Set.longMu                    -
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
// # Heavy work
//
// The Pool runs what is long on a bounded number of goroutines, first come
// first served, each giving way after a slice when others wait.
package shard
