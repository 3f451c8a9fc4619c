package server

import (
	"slices"
	"strings"
	"sync"
	"time"

	"firn/commands"
)

// observe notes a command that took so many nanoseconds in the slow log and the
// latency monitor, where it was slow enough. What it waited for before it
// began (a place of the heavy pool, the line behind a long write, a client that
// does not read) does not count.
func (srv *Server) observe(s *session, c *commands.Call, nanos int64) {
	cfg := srv.config()
	if t := cfg.SlowlogLogSlowerThan; t >= 0 && nanos/1000 >= t && c.Row.Flags&commands.SkipSlow == 0 {
		srv.slow.add(cfg.SlowlogMaxLen, s, c, nanos/1000)
	}
	if t := cfg.LatencyMonitorThreshold; t > 0 && nanos/1e6 >= t {
		event := eventCommand
		if c.Row.Fast() {
			event = eventFastCommand
		}
		srv.latency.add(event, time.Now().Unix(), nanos/1e6)
	}
}

// The events of the latency monitor.
const (
	eventCommand     = "command"
	eventFastCommand = "fast-command"   // whose time does not depend on the data
	eventLockWait    = "lock-wait"      // a command in line behind a long write
	eventExpire      = "expire-cycle"   // a slice of removing keys
	eventEviction    = "eviction-cycle" // a slice of evicting keys
	eventFreeze      = "freeze"         // taking a consistent view of all shards
	eventGCPause     = "gc-pause"       // the garbage collector stopping the world
)

// spike notes an event that took so many nanoseconds, if that is over the
// threshold.
func (srv *Server) spike(event string, nanos int64) {
	if t := srv.config().LatencyMonitorThreshold; t > 0 && nanos/1e6 >= t {
		srv.latency.add(event, time.Now().Unix(), nanos/1e6)
	}
}

// latencySamples is how many samples are kept of an event, as in Redis.
const latencySamples = 160

// A latencySample is the worst of one second.
type latencySample struct{ at, millis int64 } // at is unix seconds

// A latencySeries is what is known of one event.
type latencySeries struct {
	event   string
	samples []latencySample // oldest first
	worst   int64           // ms, of all time
}

// last is the latest sample.
func (l *latencySeries) last() latencySample { return l.samples[len(l.samples)-1] }

// latencyMonitor keeps the events that were over the threshold. It may be used
// from anywhere.
type latencyMonitor struct {
	mu     sync.Mutex
	events map[string]*latencySeries
}

func newLatencyMonitor() *latencyMonitor {
	return &latencyMonitor{events: map[string]*latencySeries{}}
}

// add notes that the event took so long at a time (unix seconds).
func (m *latencyMonitor) add(event string, second, millis int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.events[event]
	if l == nil {
		l = &latencySeries{event: event}
		m.events[event] = l
	}
	l.worst = max(l.worst, millis)
	if n := len(l.samples); n > 0 && l.samples[n-1].at == second {
		l.samples[n-1].millis = max(l.samples[n-1].millis, millis)
		return
	}
	if len(l.samples) == latencySamples {
		l.samples = slices.Delete(l.samples, 0, 1)
	}
	l.samples = append(l.samples, latencySample{second, millis})
}

// of returns a copy of the series of an event; nil if there is none.
func (m *latencyMonitor) of(event string) *latencySeries {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.events[event]
	if l == nil {
		return nil
	}
	return &latencySeries{l.event, slices.Clone(l.samples), l.worst}
}

// all returns copies of all series, by name.
func (m *latencyMonitor) all() (all []*latencySeries) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.events {
		all = append(all, &latencySeries{l.event, slices.Clone(l.samples), l.worst})
	}
	slices.SortFunc(all, func(a, b *latencySeries) int { return strings.Compare(a.event, b.event) })
	return all
}

// reset forgets the event, in whatever case, or all for "", and says how many
// that were.
func (m *latencyMonitor) reset(event string) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.events {
		if event == "" || strings.EqualFold(name, event) {
			delete(m.events, name)
			n++
		}
	}
	return n
}
