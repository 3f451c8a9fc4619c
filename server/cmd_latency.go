package server

import (
	"bytes"

	"firn/commands"
)

var latencyCommands = []commands.Command{
	{Name: "LATENCY", Arity: -2, Summary: "A container for latency diagnostics commands", Subs: []commands.Command{
		{Name: "DOCTOR", Arity: 2, Run: onSession(latencyDoctor), Flags: adminFlags, Summary: "Return a human readable latency analysis report."},
		{Name: "GRAPH", Arity: 3, Run: onSession(latencyGraph), Flags: adminFlags, Summary: "Return a latency graph for the event."},
		{Name: "HELP", Arity: 2, Run: onSession(latencyHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands."},
		{Name: "HISTOGRAM", Arity: -2, Run: onSession(latencyHistogram), Flags: adminFlags, Summary: "Return the cumulative distribution of latencies of a subset of commands or all."},
		{Name: "HISTORY", Arity: 3, Run: onSession(latencyHistory), Flags: adminFlags, Summary: "Return timestamp-latency samples for the event."},
		{Name: "LATEST", Arity: 2, Run: onSession(latencyLatest), Flags: adminFlags, Summary: "Return the latest latency samples for all events."},
		{Name: "RESET", Arity: -2, Run: onSession(latencyReset), Flags: adminFlags, Summary: "Reset latency data for one or more events."},
	}},
}

func latencyLatest(c *commands.Call, s *session) error {
	all := s.srv.latency.all()
	c.Out.Array(len(all))
	for _, l := range all {
		c.Out.Array(4)
		c.Out.BulkString(l.event)
		c.Out.Int(l.last().at)
		c.Out.Int(l.last().millis)
		c.Out.Int(l.worst)
	}
	return nil
}

func latencyHistory(c *commands.Call, s *session) error {
	l := s.srv.latency.of(string(c.Args[2]))
	if l == nil {
		c.Out.Array(0)
		return nil
	}
	c.Out.Array(len(l.samples))
	for _, sample := range l.samples {
		c.Out.Array(2)
		c.Out.Int(sample.at)
		c.Out.Int(sample.millis)
	}
	return nil
}

func latencyReset(c *commands.Call, s *session) error {
	n := 0
	if len(c.Args) == 2 {
		n = s.srv.latency.reset("")
	}
	for _, event := range c.Args[2:] {
		if len(event) > 0 {
			n += s.srv.latency.reset(string(event))
		}
	}
	c.Out.Int(int64(n))
	return nil
}

func latencyGraph(c *commands.Call, s *session) error {
	l := s.srv.latency.of(string(c.Args[2]))
	if l == nil {
		return commands.ErrNoSamples(c.Args[2])
	}
	c.Out.Verbatim("txt", l.graph(s.home.clock()/1e6))
	return nil
}

// latencyDoctor runs aside: it reads a file for which the kernel looks at all
// memory of the process.
func latencyDoctor(c *commands.Call, s *session) error {
	now := s.home.clock() / 1e6
	s.aside(func(c *commands.Call) error {
		c.Out.Verbatim("txt", s.srv.latencyReport(now))
		return nil
	})
	return nil
}

// latencyHistogram answers for the rows of the arguments, a container's
// subcommands with it, or for all; rows that have not run are left out.
func latencyHistogram(c *commands.Call, s *session) error {
	var rows []*commands.Command
	if len(c.Args) == 2 {
		for i := range s.srv.table.Len() {
			rows = append(rows, s.srv.table.ByIndex(i))
		}
	}
	for _, name := range c.Args[2:] {
		if row := s.srv.rowNamed(name); row != nil {
			rows = append(rows, row)
			for i := range row.Subs {
				rows = append(rows, &row.Subs[i])
			}
		}
	}
	s.srv.replyHistograms(c.Out, rows)
	return nil
}

// rowNamed finds a row by its full name, "config|get".
func (srv *Server) rowNamed(name []byte) *commands.Command {
	container, sub, isSub := bytes.Cut(name, []byte("|"))
	row := srv.table.Lookup(container)
	if row != nil && isSub {
		return row.Sub(sub)
	}
	return row
}

// A distribution is a row with how many of its calls took at most so long.
type distribution struct {
	row     *commands.Command
	calls   int64
	buckets []bucket
}

// A bucket counts all calls up to a duration.
type bucket struct{ micros, calls int64 }

func (srv *Server) replyHistograms(out *commands.Reply, rows []*commands.Command) {
	var all []distribution
	for _, row := range rows {
		d := srv.stats.rows[row.Index()].hist.octaves()
		if d.row = row; d.calls > 0 {
			all = append(all, d)
		}
	}
	out.Map(len(all))
	for _, d := range all {
		out.BulkString(d.row.FullName())
		out.Map(2)
		out.BulkString("calls")
		out.Int(d.calls)
		out.BulkString("histogram_usec")
		out.Map(len(d.buckets))
		for _, b := range d.buckets {
			out.Int(b.micros)
			out.Int(b.calls)
		}
	}
}

// octaves sums up in Redis' buckets: each ends at a power of two of
// nanoseconds, from 1,024 on, plus the width that a value has there in its
// histogram (1/128); those without a call of their own are left out. The last
// takes all that is over a second.
func (h *histogram) octaves() (d distribution) {
	const last = 30
	for i := range h.buckets {
		n := h.buckets[i].Load()
		if n == 0 {
			continue
		}
		d.calls += n
		power := min(i/8+11, last)
		if i == 0 {
			power = 10 // all that is below 1,024; the rest of that eighth counts as such
		}
		micros := (int64(1)<<power + int64(1)<<(power-7) - 1) / 1000
		if end := len(d.buckets) - 1; end >= 0 && d.buckets[end].micros == micros {
			d.buckets[end].calls = d.calls
		} else {
			d.buckets = append(d.buckets, bucket{micros, d.calls})
		}
	}
	return d
}

func latencyHelp(c *commands.Call, s *session) error {
	c.Out.Help("LATENCY",
		"DOCTOR",
		"    Return a human readable latency analysis report.",
		"GRAPH <event>",
		"    Return an ASCII latency graph for the <event> class.",
		"HISTORY <event>",
		"    Return time-latency samples for the <event> class.",
		"LATEST",
		"    Return the latest latency samples for all events.",
		"RESET [<event> ...]",
		"    Reset latency data of one or more <event> classes.",
		"    (default: reset all data for all event classes)",
		"HISTOGRAM [COMMAND ...]",
		"    Return a cumulative distribution of latencies in the format of a histogram for the specified command names.",
		"    If no commands are specified then all histograms are replied.",
	)
	return nil
}
