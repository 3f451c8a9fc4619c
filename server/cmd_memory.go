package server

import (
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"time"

	"firn/commands"
)

// memoryCommands is the part of MEMORY that asks about the server; MEMORY USAGE
// is in package commands.
var memoryCommands = []commands.Command{
	{Name: "MEMORY", Arity: -2, Summary: "A container for memory diagnostics commands", Subs: []commands.Command{
		{Name: "STATS", Arity: 2, Run: onSession(memoryStats), Summary: "Show memory usage details"},
		{Name: "DOCTOR", Arity: 2, Run: onSession(memoryDoctor), Summary: "Outputs memory problems report"},
		{Name: "MALLOC-STATS", Arity: 2, Run: onSession(memoryMallocStats), Summary: "Show allocator internal stats"},
		{Name: "PURGE", Arity: 2, Run: onSession(memoryPurge), Summary: "Ask the allocator to release memory"},
		{Name: "HELP", Arity: 2, Run: onSession(memoryHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

// memoryStats gives the fields of Redis that have a meaning here.
func memoryStats(c *commands.Call, s *session) error {
	t := infoText{held: s.hold()}
	m := s.srv.memoryUse(&t)
	u := t.measured(s.srv)
	perKey := int64(0)
	if u.Keys > 0 {
		perKey = (m.used - fixedMemory) / u.Keys
	}
	ints := func(fields ...infoInt) {
		for _, f := range fields {
			c.Out.BulkString(f.name)
			c.Out.Int(f.v)
		}
	}
	double := func(name string, v float64) {
		c.Out.BulkString(name)
		c.Out.Double(v)
	}
	_, scripts := s.srv.scripts.cache.size()
	c.Out.Map(27)
	ints(infoInt{"peak.allocated", m.peak}, infoInt{"total.allocated", m.used}, infoInt{"startup.allocated", fixedMemory},
		infoInt{"replication.backlog", 0}, infoInt{"clients.slaves", 0}, infoInt{"clients.normal", m.clients},
		infoInt{"cluster.links", 0}, infoInt{"aof.buffer", 0}, infoInt{"lua.caches", scripts}, infoInt{"functions.caches", s.srv.functions.load().Bytes()},
		infoInt{"overhead.total", m.overhead}, infoInt{"keys.count", u.Keys}, infoInt{"keys.bytes-per-key", perKey},
		infoInt{"dataset.bytes", m.dataset})
	double("dataset.percentage", m.datasetShare())
	double("peak.percentage", 100*ratio(m.used, m.peak))
	ints(infoInt{"allocator.allocated", m.heap.objects}, infoInt{"allocator.active", m.heap.spans}, infoInt{"allocator.resident", m.heap.resident})
	for _, r := range []struct {
		name string
		a, b int64
	}{
		{"allocator-fragmentation", m.heap.spans, m.heap.objects},
		{"allocator-rss", m.heap.resident, m.heap.spans},
		{"rss-overhead", m.rss, m.heap.resident},
	} {
		double(r.name+".ratio", ratio(r.a, r.b))
		ints(infoInt{r.name + ".bytes", r.a - r.b})
	}
	double("fragmentation", ratio(m.rss, m.used))
	ints(infoInt{"fragmentation.bytes", m.rss - m.used})
	return nil
}

// smallMemory is the use below which a doctor has nothing to say: the program
// itself weighs more than the data.
const smallMemory = 32 << 20

// memoryDoctor says in words what the figures mean.
func memoryDoctor(c *commands.Call, s *session) error {
	t := infoText{held: s.hold()}
	m := s.srv.memoryUse(&t)
	u := t.measured(s.srv)
	cuts, oldest := s.srv.shards.Pins()
	var says []string
	add := func(format string, args ...any) { says = append(says, "* "+fmt.Sprintf(format, args...)) }
	if m.used < smallMemory {
		add("Little memory is used (%s): the figures below say more of the program than of the data.", human(m.used))
	}
	if m.peak > m.used*3/2 {
		add("Peak memory: %s were used at some time, %s are now. The difference has been given back to the collector, and goes back to the system within minutes; MEMORY PURGE does it now.", human(m.peak), human(m.used))
	}
	if m.rss > m.used*5/4 && m.used >= smallMemory {
		add("Resident memory is %.2f times the used memory. Of %s in segments, %s are live; overwritten records are cleaned as writes go on.", ratio(m.rss, m.used), human(u.Segments), human(u.Records))
	}
	if u.Pinned > m.used/10 && cuts > 0 {
		add("%d versions are held open, the oldest for %s, and keep %s that have been overwritten since. They are let go when the KEYS, SCAN or other long commands that read them end, or their clients read their replies (CLIENT LIST shows who has a long omem).",
			cuts, time.Duration(max(c.Now-oldest, 0))*time.Millisecond, human(u.Pinned))
	}
	if m.clients > m.used/4 {
		add("Clients' buffers take %s: see qbuf and omem in CLIENT LIST, and client-output-buffer-limit.", human(m.clients))
	}
	if share := gcShare(); share > 0.10 {
		add("The garbage collector has had %.0f %% of the processor time since the start.", 100*share)
	}
	if len(says) == 0 {
		says = []string{"Nothing wrong with the memory of this server."}
	}
	says = append(says, "", fmt.Sprintf("Used %s, resident %s, Go heap %s, collections %d, garbage collector %.1f %% of the processor time, versions open %d, pinned by them %s.",
		human(m.used), human(m.rss), human(m.heap.objects), m.heap.collected, 100*gcShare(), cuts, human(u.Pinned)))
	c.Out.Verbatim("txt", strings.Join(says, "\n")+"\n")
	return nil
}

// gcShare is the collector's share of the processor time since the start.
func gcShare() float64 {
	s := []metrics.Sample{
		{Name: "/cpu/classes/gc/total:cpu-seconds"},
		{Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"},
	}
	metrics.Read(s)
	busy := s[1].Value.Float64() - s[2].Value.Float64()
	if busy <= 0 {
		return 0
	}
	return s[0].Value.Float64() / busy
}

// memoryMallocStats prints what the Go runtime counts.
func memoryMallocStats(c *commands.Call, s *session) error {
	var samples []metrics.Sample
	for _, d := range metrics.All() {
		if d.Kind != metrics.KindFloat64Histogram && (strings.HasPrefix(d.Name, "/memory/") || strings.HasPrefix(d.Name, "/gc/")) {
			samples = append(samples, metrics.Sample{Name: d.Name})
		}
	}
	metrics.Read(samples)
	var text strings.Builder
	text.WriteString("Go runtime\n")
	for _, m := range samples {
		if m.Value.Kind() == metrics.KindUint64 {
			fmt.Fprintf(&text, "%s %d\n", m.Name, m.Value.Uint64())
		}
	}
	c.Out.Verbatim("txt", text.String())
	return nil
}

// memoryPurge collects and gives memory back to the system. It runs aside: it
// takes as long as a whole collection.
func memoryPurge(c *commands.Call, s *session) error {
	s.aside(func(c *commands.Call) error {
		return c.Guard(func() error {
			debug.FreeOSMemory()
			c.Out.OK()
			return nil
		})
	})
	return nil
}

func memoryHelp(c *commands.Call, s *session) error {
	c.Out.Help("MEMORY",
		"DOCTOR",
		"    Return memory problems reports.",
		"MALLOC-STATS",
		"    Return internal statistics report from the memory allocator.",
		"PURGE",
		"    Attempt to purge dirty pages for reclamation by the allocator.",
		"STATS",
		"    Return information about the memory usage of the server.",
		"USAGE <key> [SAMPLES <count>]",
		"    Return memory in bytes used by <key> and its value. Nested values are",
		"    sampled up to <count> times (default: 5, 0 means sample all).")
	return nil
}
