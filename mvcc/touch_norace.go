//go:build !race

package mvcc

// walkTouch is where a key of usual length ends, often in the next cache line.
// The byte may lie behind the record, where the owner is writing the next one:
// it is read for its place alone and then thrown away.
const walkTouch = 32
