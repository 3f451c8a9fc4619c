package server

import (
	"bytes"
	"os"
	"runtime/metrics"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// A heapSize is what the Go runtime says of its memory, in bytes.
type heapSize struct {
	live      int64 // alive at the end of the last collection
	objects   int64 // live and not yet swept objects
	spans     int64 // spans in use for objects
	resident  int64 // mapped and not given back to the system
	released  int64
	free      int64 // of resident, spans that hold nothing
	stacks    int64
	collected int64 // completed garbage collections
	goal      int64 // heap size at which the next one begins
}

func readHeap() heapSize {
	s := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
		{Name: "/gc/cycles/total:gc-cycles"},
		{Name: "/gc/heap/goal:bytes"},
		{Name: "/gc/heap/live:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(s)
	v := func(i int) int64 { return int64(s[i].Value.Uint64()) }
	return heapSize{
		objects: v(0), spans: v(0) + v(1), released: v(2), resident: v(3) - v(2),
		stacks: v(4), collected: v(5), goal: v(6), live: v(7), free: v(8),
	}
}

// residentMemory is the memory that the system has given the process, in bytes;
// 0 if it doesn't say.
func residentMemory() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	f := bytes.Fields(b)
	if err != nil || len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// systemMemory is the machine's memory in bytes.
var systemMemory = sync.OnceValue(func() int64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 0
	}
	return int64(s.Totalram) * int64(s.Unit)
})

// memoryUse is how INFO and MEMORY divide the used memory up, in bytes.
type memoryUse struct {
	used, peak, rss int64
	clients         int64
	dataset         int64 // keys and values
	overhead        int64 // all but them: index, clients' buffers, the server itself
	heap            heapSize
}

func (srv *Server) memoryUse(t *infoText) memoryUse {
	u := t.measured(srv)
	m := memoryUse{rss: residentMemory(), clients: srv.clients.memory.Load(), heap: readHeap()}
	m.used = srv.usedMemory()
	srv.noteUsed(m.used)
	m.peak = srv.peak.Load()
	m.dataset = u.Records + u.Objects
	m.overhead = m.used - m.dataset
	return m
}

// datasetShare is the data set's share, in per cent, of what was used since the
// start.
func (m *memoryUse) datasetShare() float64 {
	return 100 * ratio(m.dataset, max(m.used-fixedMemory, 1))
}

func infoMemory(t *infoText, srv *Server) {
	c, m := srv.config(), srv.memoryUse(t)
	t.memory("used_memory", m.used)
	t.memory("used_memory_rss", m.rss)
	t.memory("used_memory_peak", m.peak)
	t.fixed("used_memory_peak_perc", 100*ratio(m.used, m.peak), "%")
	t.int("used_memory_overhead", m.overhead)
	t.int("used_memory_startup", fixedMemory)
	t.int("used_memory_dataset", m.dataset)
	t.fixed("used_memory_dataset_perc", m.datasetShare(), "%")
	t.int("allocator_allocated", m.heap.objects)
	t.int("allocator_active", m.heap.spans)
	t.int("allocator_resident", m.heap.resident)
	t.memory("total_system_memory", systemMemory())
	infoScripts(t, srv)
	t.memory("maxmemory", c.MaxMemory)
	t.str("maxmemory_policy", c.MaxMemoryPolicy.String())
	infoFragmentation(t, &m)
	t.zeros("mem_not_counted_for_evict", "mem_replication_backlog", "mem_total_replication_buffers", "mem_clients_slaves")
	t.int("mem_clients_normal", m.clients)
	t.zeros("mem_cluster_links", "mem_aof_buffer")
	t.str("mem_allocator", "go")
	t.zeros("active_defrag_running", "lazyfree_pending_objects", "lazyfreed_objects")
}

// infoScripts tells of the scripts. Their interpreters are part of the heap.
func infoScripts(t *infoText, srv *Server) {
	t.zeros("used_memory_lua", "used_memory_vm_eval")
	t.str("used_memory_lua_human", human(0))
	n, bytes := srv.scripts.cache.size()
	t.int("used_memory_scripts_eval", bytes)
	t.int("number_of_cached_scripts", int64(n))
	functions := srv.functions.load()
	libraries, found := functions.Len()
	t.int("number_of_functions", int64(found))
	t.int("number_of_libraries", int64(libraries))
	t.zeros("used_memory_vm_functions")
	t.memory("used_memory_vm_total", 0)
	t.int("used_memory_functions", functions.Bytes())
	t.memory("used_memory_scripts", bytes+functions.Bytes())
}

func infoFragmentation(t *infoText, m *memoryUse) {
	for _, r := range []struct {
		name, name2 string
		a, b        int64
	}{
		{"allocator_frag_ratio", "allocator_frag_bytes", m.heap.spans, m.heap.objects},
		{"allocator_rss_ratio", "allocator_rss_bytes", m.heap.resident, m.heap.spans},
		{"rss_overhead_ratio", "rss_overhead_bytes", m.rss, m.heap.resident},
		{"mem_fragmentation_ratio", "mem_fragmentation_bytes", m.rss, m.used},
	} {
		t.fixed(r.name, ratio(r.a, r.b), "")
		t.int(r.name2, r.a-r.b)
	}
}
