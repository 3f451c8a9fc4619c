package server

import "firn/commands"

// observe notes a command that took so many nanoseconds in the slow log and the
// latency monitor, where it was slow enough.
func (srv *Server) observe(s *session, c *commands.Call, nanos int64) {
	cfg := srv.config()
	if t := cfg.SlowlogLogSlowerThan; t >= 0 && nanos/1000 >= t && c.Row.Flags&commands.SkipSlow == 0 {
		srv.slow.add(cfg.SlowlogMaxLen, s, c, nanos/1000)
	}
	if t := cfg.LatencyMonitorThreshold; t > 0 && nanos/1e6 >= t {
		srv.latency.add("command", c.Now/1000, nanos/1e6)
	}
}

type slowlog struct{}

func newSlowlog() *slowlog { return &slowlog{} }

func (l *slowlog) add(maxLen int64, s *session, c *commands.Call, micros int64) {}

type latencyMonitor struct{}

func newLatencyMonitor() *latencyMonitor { return &latencyMonitor{} }

func (m *latencyMonitor) add(event string, second, millis int64) {}
