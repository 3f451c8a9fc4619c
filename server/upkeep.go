package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// upkeep is what the server notes of itself from time to time, for INFO.
type upkeep struct {
	replID       atomic.Pointer[string] // 40 hex digits
	rewriteMu    sync.Mutex             // one CONFIG REWRITE at a time
	volatileOnce sync.Once

	peak atomic.Int64 // most used memory seen
	ops  rate
	in   rate
	out  rate
}

// upkeepPeriod is how often: as with Redis' hz of 10.
const upkeepPeriod = 100 * time.Millisecond

// keepUp runs until the context ends.
func (srv *Server) keepUp(ctx context.Context) {
	var gc collector
	var slow spikes
	tick := time.NewTicker(upkeepPeriod)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			srv.yieldToLoops()
			now := srv.monotonic()
			srv.ops.sample(now, srv.stats.commands())
			srv.in.sample(now, srv.stats.netIn.Load())
			srv.out.sample(now, srv.stats.netOut.Load())
			used := srv.usedMemory()
			srv.noteUsed(used)
			gc.follow(readHeap(), srv.shards.Taken()+srv.besides(), srv.stats.changes.Load(), func(f func()) { srv.shards.Heavy.Go(f) })
			slow.watch(srv)
		}
	}
}

// fixedMemory is what a server takes that holds nothing, in bytes: goroutine
// stacks, command table, statistics, loops.
const fixedMemory = 1 << 20

// besides is the used memory that is neither data nor index.
func (srv *Server) besides() int64 {
	return srv.clients.memory.Load() + srv.pubsub.memory.Load() + fixedMemory
}

// usedMemory is what INFO calls used_memory: live data, index, clients' buffers
// and the server itself.
func (srv *Server) usedMemory() int64 { return srv.shards.Used() + srv.besides() }

// noteUsed keeps the peak.
func (srv *Server) noteUsed(used int64) {
	for {
		peak := srv.peak.Load()
		if used <= peak || srv.peak.CompareAndSwap(peak, used) {
			return
		}
	}
}

// rateSamples is over how many samples a rate is averaged, as in Redis.
const rateSamples = 16

// A rate averages the growth of a counter over its last samples.
type rate struct {
	mu      sync.Mutex
	samples [rateSamples]float64 // per second
	next    int
	at      int64 // monotonic ns
	count   int64
}

// sample notes the counter at a time. A counter that was reset begins anew.
func (r *rate) sample(now, count int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.at > 0 && now > r.at {
		r.samples[r.next] = float64(max(count-r.count, 0)) * 1e9 / float64(now-r.at)
		r.next = (r.next + 1) % rateSamples
	}
	r.at, r.count = now, count
}

// perSecond is the average.
func (r *rate) perSecond() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	sum := 0.0
	for _, s := range r.samples {
		sum += s
	}
	return sum / rateSamples
}

func (r *rate) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.samples = [rateSamples]float64{}
	r.at = 0
}

// resetStats is CONFIG RESETSTAT.
func (srv *Server) resetStats() {
	srv.stats.reset()
	srv.clients.evicted.Store(0)
	sh := srv.shards.Stats()
	for _, c := range []*atomic.Int64{&sh.Expired, &sh.ExpiredByRead, &sh.Evicted, &sh.EvictionSlices, &sh.LongWrites, &sh.Stores, &sh.DutyNanos, &sh.ExpireLate} {
		c.Store(0)
	}
	for _, r := range []*rate{&srv.ops, &srv.in, &srv.out} {
		r.reset()
	}
}

// blockedClients is how many clients wait for something that others must do.
func (srv *Server) blockedClients() int64 {
	return int64(srv.pause.length()) + srv.clients.blocked.all.Load()
}
