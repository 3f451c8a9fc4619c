package server

import (
	"runtime/metrics"
)

// spikes watches, for the latency monitor, what the server does beside
// commands.
type spikes struct {
	sample []metrics.Sample
	counts []uint64 // of the pauses' buckets, at the last look
}

// pauses is the runtime's histogram of the times that a collection stopped
// everything.
const pauses = "/sched/pauses/total/gc:seconds"

// watch notes what took longer than the threshold since the last call.
func (w *spikes) watch(srv *Server) {
	st := srv.shards.Stats()
	srv.spike(eventExpire, int64(st.LongestExpire.Take()))
	srv.spike(eventEviction, int64(st.LongestEviction.Take()))
	srv.spike(eventFreeze, int64(st.LongestFreeze.Take()))
	srv.spike(eventGCPause, w.longestPause())
}

// longestPause is the lower bound of the highest bucket that has grown since the
// last call, in nanoseconds.
func (w *spikes) longestPause() int64 {
	if w.sample == nil {
		w.sample = []metrics.Sample{{Name: pauses}}
	}
	metrics.Read(w.sample)
	if w.sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0 // a later runtime that calls it something else
	}
	return w.grown(w.sample[0].Value.Float64Histogram())
}

func (w *spikes) grown(h *metrics.Float64Histogram) (nanos int64) {
	if w.counts == nil {
		w.counts = make([]uint64, len(h.Counts))
	}
	for i, n := range h.Counts {
		if n > w.counts[i] {
			nanos = int64(max(h.Buckets[i], 0) * 1e9)
		}
		w.counts[i] = n
	}
	return nanos
}
