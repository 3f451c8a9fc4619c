package main

import (
	"bytes"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"firn/server"
	"firn/server/config"

	"go.uber.org/zap"
)

// checkStart refuses a start whose saves would fail hours later.
func checkStart(c *config.Config) error {
	if !c.AppendOnly && len(c.Save) == 0 {
		return nil
	}
	_, err := server.CheckDir(c.Dir)
	return err
}

// warnings logs what about the machine or the configuration will hurt later.
func warnings(log *zap.Logger, c *config.Config) {
	if limit := memoryLimit(); limit < math.MaxInt64 {
		switch {
		case c.MaxMemory == 0:
			log.Warn(fmt.Sprintf("WARNING: the memory of this container is limited to %d MB and maxmemory is not set: the system will kill the server when the data outgrows it. Set maxmemory to at most %d MB.", limit>>20, limit/4*3>>20))
		case c.MaxMemory > limit/4*3:
			log.Warn(fmt.Sprintf("WARNING: maxmemory (%d MB) is more than three quarters of the container's memory (%d MB): resident memory may be up to 1.25 times maxmemory, and clients' replies come on top.", c.MaxMemory>>20, limit>>20))
		}
	}
	if most := kernelNumber("/proc/sys/net/core/somaxconn"); most > 0 && int64(c.TCPBacklog) > most {
		log.Warn(fmt.Sprintf("WARNING: The TCP backlog setting of %d cannot be enforced because /proc/sys/net/core/somaxconn is set to the lower value of %d.", c.TCPBacklog, most))
	}
	if c.Supervised == config.SupervisedUpstart {
		log.Warn("supervised upstart is not supported")
	}
	if c.AppendOnly || len(c.Save) > 0 {
		log.Warn("WARNING: this version keeps data in memory only: 'save' and 'appendonly' are accepted, but nothing is written to disk")
	}
}

// memoryLimit is the memory that the process's control group may use, in bytes;
// the largest number if there is no limit.
func memoryLimit() int64 {
	limit := int64(math.MaxInt64)
	for _, file := range memoryLimitFiles() {
		if n := kernelNumber(file); n > 0 && n < 1<<60 {
			limit = min(limit, n)
		}
	}
	return limit
}

// memoryLimitFiles are the places where a limit may stand: version 2 of control
// groups, from the process's own group up, and version 1.
func memoryLimitFiles() []string {
	const root = "/sys/fs/cgroup"
	files := []string{filepath.Join(root, "memory/memory.limit_in_bytes")}
	groups, _ := os.ReadFile("/proc/self/cgroup")
	for line := range strings.Lines(string(groups)) {
		own, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for ok && own != "/" && own != "." {
			files = append(files, filepath.Join(root, own, "memory.max"))
			own = filepath.Dir(own)
		}
	}
	return append(files, filepath.Join(root, "memory.max"))
}

// kernelNumber is the number in a file of the kernel's, 0 if there is none.
func kernelNumber(file string) int64 {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return n
}

// writePID writes the process id to `pidfile` and returns what removes the file
// again. Without the file the server runs as well, so that a failure is only
// logged.
func writePID(log *zap.Logger, c *config.Config) (remove func()) {
	if c.PidFile == "" {
		return func() {}
	}
	path := c.PidFile
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Dir, path)
	}
	if err := os.WriteFile(path, fmt.Appendf(nil, "%d\n", os.Getpid()), 0o644); err != nil {
		log.Warn("Failed to write PID file", zap.Error(err))
		return func() {}
	}
	return func() { os.Remove(path) }
}

// wantsSystemd says whether systemd is to be told that the server is ready.
func wantsSystemd(c *config.Config) bool {
	return c.Supervised == config.SupervisedSystemd || c.Supervised == config.SupervisedAuto && os.Getenv("NOTIFY_SOCKET") != ""
}

// tellSystemd sends a state to the service manager; see sd_notify(3). A name
// that begins with @ is one of Linux' abstract ones, which net knows as well.
func tellSystemd(log *zap.Logger, state string) {
	c, err := net.Dial("unixgram", os.Getenv("NOTIFY_SOCKET"))
	if err != nil {
		log.Warn("systemd supervision requested, but NOTIFY_SOCKET can't be reached", zap.Error(err))
		return
	}
	defer c.Close()
	if _, err := c.Write([]byte(state)); err != nil {
		log.Warn("can't send notification to systemd", zap.Error(err))
	}
}
