package server

import (
	"runtime"

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
