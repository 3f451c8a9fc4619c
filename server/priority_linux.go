package server

import (
	"os"
	"runtime"
	"strconv"

	"firn/server/config"

	"golang.org/x/sys/unix"
)

// The loops answer clients, so their threads come first: by how much all other
// threads of the process are nicer than the process was at its start. (To be
// nicer needs no privilege, and to be less nice does.) Heavy work takes what the
// loops leave over; neither it nor the garbage collector keeps a loop that wakes
// up from its core until the end of a time slice, which is 4 ms and more. E2 in
// one run, share of the own no-scanner throughput that is kept beside 10 and 100
// scanners, and keys scanned/s beside 100:
//
//	nice of others, of heavy work; loops
//	0, 5; not locked to a thread:          71 %  47 %   9.0 M
//	0, 5; locked:                          72 %  49 %  10.2 M
//	4, 8; locked:                          74 %  64 %   8.0 M
//	5, 5; locked:                          72 %  60 %   9.6 M
//
// In another run, with less garbage: 4, 8: 76 %, 60 %, 12.0 M; 4, 11: 81 %, 63 %,
// 11.9 M; 4, 15: 84 %, 60 %, 11.2 M.
const (
	othersNice = 4
	heavyNice  = 11
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

// ownThread gives the loop a thread of its own, for the rest of its life.
func (l *loop) ownThread() {
	runtime.LockOSThread()
	l.thread.Store(int64(unix.Gettid()))
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
		if err != nil || srv.isLoop(int64(id)) {
			continue
		}
		if n, err := unix.Getpriority(unix.PRIO_PROCESS, id); err == nil && 20-n < nice {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, nice)
		}
	}
}

func (srv *Server) isLoop(thread int64) bool {
	for _, l := range srv.loops {
		if l.thread.Load() == thread {
			return true
		}
	}
	return false
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
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + c.HeavyThreadCount(runtime.NumCPU()))
	}
}
