package mvcc

// An Access is how a keyspace keeps its access clocks, the 24 bits in each
// record that eviction goes by. The zero value keeps LRU clocks.
type Access struct {
	LFU       bool
	LogFactor int           // lfu-log-factor
	DecayTime int           // lfu-decay-time, minutes; 0: no decay
	Rand      func() uint64 // uniform; needed for LFU
	Evicts    bool          // memory is limited and the clocks say which keys go
}

const (
	clockMask   = 1<<24 - 1
	minutesMask = 1<<16 - 1
	lfuInit     = 5 // LFU_INIT_VAL: a new key is not the first to go
)

// first is the clock of a new key.
func (a *Access) first(now int64) uint32 {
	if a.LFU {
		return minutes(now)<<8 | lfuInit
	}
	return uint32(now/1000) & clockMask
}

// touched is the clock after one more access.
func (a *Access) touched(clock uint32, now int64) uint32 {
	if !a.LFU {
		return uint32(now/1000) & clockMask
	}
	counter := a.Frequency(clock, now)
	if counter < 255 {
		p := 1.0 / float64(max(counter-lfuInit, 0)*a.LogFactor+1)
		if float64(a.Rand()>>11)/(1<<53) < p {
			counter++
		}
	}
	return minutes(now)<<8 | uint32(counter)
}

// Frequency is the logarithmic access counter (0 to 255) at now, with the
// decay since the last access (Redis' LFU: evict.c, "LFU approximated
// algorithm").
func (a *Access) Frequency(clock uint32, now int64) int {
	counter := int(clock & 255)
	if a.DecayTime == 0 {
		return counter
	}
	return max(counter-elapsed(minutes(now), clock>>8, minutesMask)/a.DecayTime, 0)
}

// elapsed is the time from one reading of a wrapping clock to another. Across
// the wrap it is one too little, as in Redis (estimateObjectIdleTime,
// LFUTimeElapsed), so that OBJECT answers the same.
func elapsed(now, then, mask uint32) int {
	if now >= then {
		return int(now - then)
	}
	return int(mask - then + now)
}

// Idle is the time since the last access in milliseconds, to the second; it
// wraps after 194 days.
func (a *Access) Idle(clock uint32, now int64) int64 {
	return int64(elapsed(uint32(now/1000)&clockMask, clock, clockMask)) * 1000
}

// IdleClock returns the clock of a key that was last used so many seconds ago.
func IdleClock(now, seconds int64) uint32 {
	at := now/1000&clockMask - seconds
	if at < 0 {
		at += clockMask // not one more: see elapsed
	}
	return uint32(at) & clockMask
}

// FrequencyClock returns the clock with the given LFU counter, accessed now.
func FrequencyClock(now int64, counter byte) uint32 { return minutes(now)<<8 | uint32(counter) }

func minutes(now int64) uint32 { return uint32(now/60000) & minutesMask }
