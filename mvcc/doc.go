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
//	members  (an owner's) which objects have members that expire, and when
//
// # Collections
//
// A small hash, set, sorted set or list is a flat blob in its record (flat.go).
// Past about a kilobyte it is an object with copy-on-write trees of its own,
// whose leaves are pages of bytes:
//
//	hash, set    ptree: (position of the member, member) -> value
//	sorted set   the same, with the score as value, and a second ptree by
//	             (score, member), counted, so that ranks are O(log n)
//	list         seq: a counted tree of pages of packed elements
//	stream       nodes of delta-packed entries in a tree by id; groups, consumers
//	             and pending entries in trees of plain values
//
// Pages of two kilobytes take the place that segments have for records: they need
// no cleaner, a write after a freeze copies one of them, and a dropped value is
// left to the collector, which has one object without pointers to free for some
// forty entries. The roads not taken: segments and an index in each collection
// (a cleaner for each, and one more cache miss a lookup), and one tree with the
// members of a sorted set (a range by score would look each member up).
//
// Writers (writer.go) are the one way to edit a collection: of a key, or detached
// from all keys on any goroutine, to be put in place in O(1) by PutValue.
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
// # Marks
//
// A Mark counts the changes of the key at a position of a database, for as long
// as somebody wants to know (WATCH, and clients that wait for a key). It is found
// by position and database at every write, so that a store without marks pays a
// look at a nil pointer, and a client that watches pays nothing while it does.
//
// # Freezing
//
// Freeze copies the tree headers and raises the keyspace's epoch: O(1). After
// it the first write to a tree path copies that path, the first write to a big
// value copies that value's header. A record that a version can reach is never
// written again, with one exception: its three access-clock bytes, which no
// version can read. Records are moved by the cleaner, never changed.
//
// What a writer has replaced because a version might see it, index nodes and
// segments, is used again when no version does (index_reuse.go): beside scanners,
// who freeze all the time, it would be nearly all of the garbage.
//
// The record store is the log-structured memory of Rumble, Kejriwal and
// Ousterhout, "Log-structured Memory for DRAM-based Storage", FAST '14, reduced
// to one level: segments of a megabyte, the emptiest of a sample is cleaned.
package mvcc
