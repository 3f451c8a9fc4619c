// Package scan finds keys and elements: globs, cursors, the walks of KEYS, SCAN, HSCAN, SSCAN and ZSCAN, and the access
// paths they choose from. It is handed what to walk and answers what it found; it knows nothing of who asks.
//
// # Globs
//
// A [Glob] is a compiled pattern in the grammar of Redis 7.0.15 (stringmatchlen in util.c), quirks included: every
// pattern and string get the answer Redis gives. The cost differs: a pattern is parsed once, not once a key, and a match
// never costs more than len(pattern) times len(string).
//
// A Glob is immutable once compiled: any number of goroutines may share one.
//
// # Walks and cursors
//
// Keys are walked in the order of their positions (see package mvcc), which is
// the same however many stores there are, and a [Cursor] is the top 52 bits of
// the position to go on with. From that follows what SCAN promises, without a
// byte of state between two calls:
//
//   - A key that is there from the first call to the last is returned exactly
//     once, whatever else is written, deleted, renamed or flushed meanwhile: it
//     has one position, and each is visited once. Redis promises at least once.
//   - A call costs O(COUNT), wherever the cursor stands and whatever was
//     deleted: there are no empty buckets to pass.
//   - A cursor stays valid for as long as the seed of the positions does: across
//     restarts, with another number of stores.
//
// Keys whose positions share the top 52 bits are returned by the same call,
// which may therefore return more than COUNT. One such pair is to be expected
// among a hundred million keys, or a million of one hash tag.
//
// A [Walk] reads frozen versions, each frozen when the walk gets to its store,
// and writes nothing: what has expired is passed over and left to its owner.
// One call sees each store at one instant, KEYS all stores at the same one.
//
// Positions are hashes, so that there is no order of names in them. Two kinds
// of patterns need not walk everything all the same ([SpanOf]): a name without
// wildcards, and a prefix that holds a whole hash tag. An index in the order of
// names would be the next access path.
package scan
