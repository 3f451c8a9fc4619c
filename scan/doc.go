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
package scan
