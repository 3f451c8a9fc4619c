package server

import (
	"math"
	"os"
	"runtime"
	"strconv"

	"firn/server/config"

	"golang.org/x/sys/unix"
)

// The loops answer clients, so their threads come first, and with them the
// thread of the duties, for whose shards the loops may have to wait: by how much
// all other threads of the process are nicer than the process was at its start.
// (To be nicer needs no privilege, and to be less nice does.) Heavy work takes
// what the loops leave over; neither it nor the garbage collector keeps a loop
// that wakes up from its core until the end of a time slice, which is 4 ms and
// more. E2 in one run, share of the own no-scanner throughput that is kept
// beside 10 and 100 scanners, and keys scanned/s beside 100:
//
//	nice of others, of heavy work; loops
//	0, 5; not locked to a thread:          71 %  47 %   9.0 M
//	0, 5; locked:                          72 %  49 %  10.2 M
//	4, 8; locked:                          74 %  64 %   8.0 M
//	5, 5; locked:                          72 %  60 %   9.6 M
//
// In another run, with less garbage: 4, 8: 76 %, 60 %, 12.0 M; 4, 11: 81 %, 63 %,
// 11.9 M; 4, 15: 84 %, 60 %, 11.2 M. In a third, with Processors as it is: 4, 11:
// 79 %, 64 %, 10.8 M; 10, 14: 88 %, 69 %, 10.6 M; 15, 18: 80 %, 63 %, 10.5 M.
// In E5, of three runs each, 99.9 % of the waits were under 6 to 8 ms with 4, 11
// and under 4 to 5 ms with 10, 14; but with the duties as nice as others they
// were kept from their core with a shard in hand, and loops waited 13 ms for it.
//
// Since nodes and segments are used again there is next to no collection beside
// scanners, and what counts is how soon one of the runtime's threads gives a loop its
// processor back, which it takes every 10 ms and to scan the loop's stack: as nice as
// 10 that thread itself is kept waiting for up to 15 ms. Nice of others, and the
// longest wait beside KEYS in a loop over that of the idle server, median and worst
// of 3 (for 10) and 6 rounds: 10: 6.7, 9.3 ms; 4: 3.5, 4.7; 2: 3.6, 6.5; 0: 3.3,
// 5.5, and 31 once beside one scanner. E5, median and worst of 4: 10: 5.4, 8.7 ms;
// 4: 3.7, 9.5; 0: 5.8, 7.8.
const (
	othersNice = 4
	heavyNice  = 14
)

// ThreadNice is how nice the calling thread is, 0 if that is not known.
func ThreadNice() int {
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // of the thread, on Linux, and 20 less the nice value
	if err != nil {
		return 0
	}
	return 20 - n
}

// lowerPriority gives the calling goroutine a thread of its own and makes that
// nice. To go on without it is no fault.
func lowerPriority(nice int) {
	runtime.LockOSThread()
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(nice, 19))
}

// comeFirst gives the calling goroutine a thread of its own, for the rest of its
// life, that is not made nicer.
func (srv *Server) comeFirst() {
	runtime.LockOSThread()
	srv.first.Store(unix.Gettid(), true)
}

// yieldToLoops makes the threads that the runtime has started since the last
// call nicer than the loops. A new thread is as nice as the one that started it.
func (srv *Server) yieldToLoops() {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return
	}
	nice := min(srv.opt.Nice+othersNice, 19)
	for _, t := range tasks {
		id, err := strconv.Atoi(t.Name())
		if _, first := srv.first.Load(id); err != nil || first {
			continue
		}
		if n, err := unix.Getpriority(unix.PRIO_PROCESS, id); err == nil && 20-n < nice {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nice)
		}
	}
}

// Processors gives the runtime a processor for each heavy thread beside those of
// the cores, unless GOMAXPROCS says otherwise. With as many as cores, a loop that
// wakes up beside a scanner and the garbage collector waits until the runtime
// takes a processor from one of them, up to 10 ms; so the kernel decides, which
// knows that the other threads are nicer. E2, 100 and 1000 scanners, the probe's
// longest wait over that of the idle server: 7.7 and 10.8 ms with 2 (on 2
// cores), 5.1 and 4.1 ms with 3.
func Processors(c *config.Config) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(wholeWorkers(runtime.GOMAXPROCS(0) + c.HeavyThreadCount(runtime.NumCPU())))
	}
}

// wholeWorkers returns n, or the next number of processors of which a quarter is
// near a whole number. The collector marks on a quarter of them; where that is
// far from whole (1, 2, 3, 6) it lets every processor mark for a part of the
// time, and a loop that the runtime has taken its processor from waits out such
// a part, 5 to 8 ms. (startCycle of runtime/mgcpacer.go; E5, 99.9 % of the
// waits: under 6.6 ms with 3 processors, under 5 ms with 4.)
func wholeWorkers(n int) int {
	for {
		goal := float64(n) / 4
		workers := math.Floor(goal + .5)
		if math.Abs(workers/goal-1) <= .3 {
			return n
		}
		n++
	}
}
