//go:build race

package mvcc

// walkTouch stays inside the record for the race detector, which can't know
// that the byte is thrown away.
const walkTouch = clockOffset - 1
