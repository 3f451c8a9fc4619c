package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// clockTick is the unit of /proc/PID/stat: USER_HZ, 100 on every Linux port that Go runs on.
const clockTick = 10 * time.Millisecond

// memory is a process's resident memory, in bytes.
type memory struct{ rss, peak float64 }

// procMemory reads /proc/PID/status.
func procMemory(pid int) (memory, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	return memory{rss: kilobytes(string(text), "VmRSS:"), peak: kilobytes(string(text), "VmHWM:")}, nil
}

// kilobytes finds "name   123 kB" and returns bytes; zero if it isn't there.
func kilobytes(text, name string) float64 {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok {
			continue
		}
		n, _ := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
		return n * 1024
	}
	return 0
}

// procCPU is the CPU time that a process has used, in steps of clockTick; zero if pid is zero.
func procCPU(pid int) time.Duration {
	if pid == 0 {
		return 0
	}
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	return parseCPU(string(text))
}

// parseCPU takes utime and stime, fields 14 and 15 of stat; the second may hold spaces, in parentheses.
func parseCPU(stat string) time.Duration {
	_, rest, _ := strings.Cut(stat[strings.LastIndex(stat, ")")+1:], " ")
	f := strings.Fields(rest)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.ParseInt(f[11], 10, 64)
	system, _ := strconv.ParseInt(f[12], 10, 64)
	return time.Duration(user+system) * clockTick
}

// treeShare is the memory of a process and its children in bytes, with shared pages counted once (their proportional
// share): what a save by fork costs.
func treeShare(pid int) float64 {
	total := proportional(pid)
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, file := range children {
		text, _ := os.ReadFile(file)
		for _, id := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(id)
			total += proportional(child)
		}
	}
	return total
}

func proportional(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	if err != nil {
		return 0
	}
	return kilobytes(string(text), "Pss:")
}

// ownCPU is the CPU time of this process: what the load costs.
func ownCPU() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// hostCPU is the CPU time that the whole machine has used, with what its host took from it.
func hostCPU() time.Duration {
	text, _ := os.ReadFile("/proc/stat")
	return parseHostCPU(string(text))
}

// parseHostCPU sums the first line of /proc/stat: user nice system idle iowait irq softirq steal, without the two idle ones.
func parseHostCPU(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 {
		return 0
	}
	var ticks int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, _ := strconv.ParseInt(f[i], 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * clockTick
}

// cpuTimes are taken before and after what is measured.
type cpuTimes struct{ server, own, host time.Duration }

func readCPU(s *server) cpuTimes { return cpuTimes{procCPU(s.pid), ownCPU(), hostCPU()} }

func (c cpuTimes) since(o cpuTimes) cpuTimes {
	return cpuTimes{c.server - o.server, c.own - o.own, c.host - o.host}
}

// hostFacts says where a report comes from.
type hostFacts struct {
	Cores    int    `json:"cores"`
	CPU      string `json:"cpu"`
	MemoryMB int    `json:"memory_mb"`
	Kernel   string `json:"kernel"`
	Go       string `json:"go"`
}

func readHost() hostFacts {
	h := hostFacts{Cores: runtime.NumCPU(), Go: runtime.Version()}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		h.MemoryMB = int(kilobytes(string(text), "MemTotal:") / (1 << 20))
	}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		h.Kernel = strings.TrimSpace(string(text))
	}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			h.CPU = strings.TrimSpace(v)
			break
		}
	}
	return h
}
