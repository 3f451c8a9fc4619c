package shard

import (
	"sync/atomic"
	"time"
)

// Longest keeps the longest of some durations until somebody takes it.
type Longest struct{ nanos atomic.Int64 }

// note takes a duration into account.
func (l *Longest) note(d time.Duration) {
	for {
		now := l.nanos.Load()
		if int64(d) <= now || l.nanos.CompareAndSwap(now, int64(d)) {
			return
		}
	}
}

// Take returns the longest duration since the last call; 0 if there was none.
func (l *Longest) Take() time.Duration { return time.Duration(l.nanos.Swap(0)) }
