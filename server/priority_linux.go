package server

import (
	"os"
	"runtime"

	"firn/server/config"

	"golang.org/x/sys/unix"
)

// heavyNice is by how much the threads that do heavy work are nicer than the
// process. E2 in one run, share of the own no-scanner throughput that is kept
// beside 10 and 100 scanners, and keys scanned/s beside 100:
//
//	0: 50 % 46 % 4.7 M    2: 91 % 55 % 4.3 M    4: 79 % 64 % 3.9 M    7: 84 % 81 % 3.4 M
const heavyNice = 5

// lowerPriority gives the calling goroutine a thread of its own and makes the
// kernel prefer others to it: heavy work takes what the loops leave over, and a
// loop that wakes up does not wait for the end of a scanner's time slice.
func lowerPriority() {
	runtime.LockOSThread()
	present, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // 20 less the nice value, on Linux
	if err != nil {
		return
	}
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, min(20-present+heavyNice, 19)) // of the thread, on Linux; to go on without it is no fault
}

// Processors gives the runtime a processor for each heavy thread beside those of
// the cores, unless GOMAXPROCS says otherwise. With as many as cores, a loop that
// wakes up beside a scanner and the garbage collector waits until the runtime
// takes a processor from one of them, up to 10 ms; so the kernel decides, which
// knows that heavy threads are nicer. E2, 100 and 1000 scanners, the probe's
// longest wait over that of the idle server: 7.7 and 10.8 ms with 2 (on 2
// cores), 5.1 and 4.1 ms with 3; with 4 the scanners take from the clients.
func Processors(c *config.Config) {
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + c.HeavyThreadCount(runtime.NumCPU()))
	}
}
