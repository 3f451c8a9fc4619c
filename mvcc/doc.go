// Package mvcc is the keyspace as a pure data structure: positions, the index,
// records in segments, big values, frozen versions. It knows nothing of Redis
// commands, goroutines, disks or logs, and it never reads a clock.
//
// # Shape
//
// A Space is cut into Stores (one a shard); a Store holds one keyspace per
// database. A keyspace is a [tables] value, which is all that a reader needs,
// plus what only its owner needs (accounting, cleaning, the expiry index):
//
//	index    position -> ref, a copy-on-write B* tree (index.go)
//	twins    the refs of keys that share one 64-bit position (all but never)
//	objects  id -> value that is too big for a record
//	segs     the segments that refs point into, append-only byte slices
//
// The order of positions is the same however many stores there are, because
// the store is chosen by the top bits of the position.
//
// # Ownership
//
// All methods of Store, Tx and of a live View need the ownership of the stores
// that they touch (package shard hands it out). A Version may be read from any
// goroutine, without a lock, until it is released.
//
// # Freezing
//
// Freeze copies the tree headers and raises the keyspace's epoch: O(1). After
// it the first write to a tree path copies that path, the first write to a big
// value copies that value's header. A record that a version can reach is never
// written again, with one exception: its three access-clock bytes, which no
// version can read. Records are moved by the cleaner, never changed.
//
// The record store is the log-structured memory of Rumble, Kejriwal and
// Ousterhout, "Log-structured Memory for DRAM-based Storage", FAST '14, reduced
// to one level: segments of a megabyte, the emptiest of a sample is cleaned.
package mvcc
