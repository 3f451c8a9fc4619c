package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A target is a server as named on the command line.
type target struct {
	name string
	addr string   // already running there, or
	cmd  []string // to be spawned
}

// parseTargets reads the -servers flag: `firn`, `redis`, `name=host:port`, `name=cmd:/path/to/binary --args`, separated by
// commas.
func parseTargets(list string) ([]target, error) {
	var targets []target
	for item := range strings.SplitSeq(list, ",") {
		name, spec, given := strings.Cut(strings.TrimSpace(item), "=")
		t := target{name: name}
		switch {
		case name == "":
			return nil, fmt.Errorf("-servers %q: empty name", list)
		case strings.HasPrefix(spec, "cmd:"):
			t.cmd = strings.Fields(strings.TrimPrefix(spec, "cmd:"))
			if len(t.cmd) == 0 {
				return nil, fmt.Errorf("-servers: %s has an empty command", name)
			}
		case given:
			if _, _, err := net.SplitHostPort(spec); err != nil {
				return nil, fmt.Errorf("-servers: %s: %w", name, err)
			}
			t.addr = spec
		case name == "redis":
			t.cmd = []string{"redis-server"}
		case name == "firn":
			t.cmd = []string{"firn"}
		default:
			return nil, fmt.Errorf("-servers: %q is not firn, redis, name=host:port or name=cmd:command", item)
		}
		for _, o := range targets {
			if o.name == t.name {
				return nil, fmt.Errorf("-servers: %s is named twice", t.name)
			}
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// buildFirn builds this module's server into dir and returns its path.
func buildFirn(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "firn")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", path, "firn").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build firn: %w\n%s", err, out)
	}
	return path, nil
}

// A server is a target that answers. pid is zero when it runs where /proc can't see it.
type server struct {
	name  string
	addr  string
	pid   int
	stop  func() // ends what was spawned, or empties what was not
	admin *client
	idle  *probeResult // of the idle server, in this experiment and round
	facts map[string]string
}

// startServer spawns the target, or connects to it, and waits for its PONG. A running server must be empty, as the experiments end by
// FLUSHALL there.
func startServer(ctx context.Context, t target) (*server, error) {
	if t.addr != "" {
		return attach(t)
	}
	dir, err := os.MkdirTemp("", "firn-bench-")
	if err != nil {
		return nil, err
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	cmd, log, err := spawn(ctx, t, dir, port)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(ended)
	}()
	s := &server{name: t.name, addr: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), pid: cmd.Process.Pid}
	s.stop = func() {
		if endedAlone(ctx, ended) {
			tail, _ := os.ReadFile(log)
			fmt.Fprintf(os.Stderr, "\nbench: %s ended by itself (%s); the end of its log:\n%s\n", t.name, cmd.ProcessState, lastBytes(tail, 4000))
		}
		endProcess(cmd.Process, ended)
		_ = os.RemoveAll(dir)
	}
	if s.admin, err = waitForPong(ctx, s.addr, ended); err != nil {
		tail, _ := os.ReadFile(log)
		s.stop()
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, lastBytes(tail, 600))
	}
	var refused serverError
	if s.facts, err = s.admin.info("server"); err != nil && !errors.As(err, &refused) {
		s.stop()
		return nil, err
	}
	if own := localPid(s.addr, s.facts["process_id"]); own != 0 {
		s.pid = own // what was spawned may be a script around the server
	}
	return s, nil
}

// spawn starts the command with persistence off. {port} and {dir} in it are replaced; without {port}, options in the manner of
// redis-server are added.
func spawn(ctx context.Context, t target, dir string, port int) (*exec.Cmd, string, error) {
	fill := strings.NewReplacer("{port}", strconv.Itoa(port), "{dir}", dir)
	args := make([]string, len(t.cmd))
	own := false
	for i, a := range t.cmd {
		args[i] = fill.Replace(a)
		own = own || strings.Contains(a, "{port}")
	}
	if !own {
		args = append(args, "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir)
	}
	log := filepath.Join(dir, "log")
	f, err := os.Create(log)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, f, f
	return cmd, log, cmd.Start()
}

// endedAlone tells a crash from an end that was asked for.
func endedAlone(ctx context.Context, ended <-chan struct{}) bool {
	select {
	case <-ended:
		return ctx.Err() == nil
	default:
		return false
	}
}

// endProcess asks by SIGTERM and insists after half a minute.
func endProcess(p *os.Process, ended <-chan struct{}) {
	_ = p.Signal(syscall.SIGTERM)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		_ = p.Kill()
		<-ended
	}
}

func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

func waitForPong(ctx context.Context, addr string, ended <-chan struct{}) (*client, error) {
	deadline := time.Now().Add(15 * time.Second)
	for {
		c, err := dial(addr)
		if err == nil {
			var pong string
			if pong, err = c.do("PING"); err == nil && pong == "PONG" {
				return c, nil
			}
			c.close()
		}
		if time.Now().After(deadline) {
			return nil, fmt.Errorf("no PONG: %w", err)
		}
		select {
		case <-ended:
			return nil, errors.New("the server ended at once")
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func attach(t target) (*server, error) {
	c, err := dial(t.addr)
	if err != nil {
		return nil, err
	}
	size, err := c.number("DBSIZE")
	if err != nil {
		return nil, err
	}
	if size != 0 {
		return nil, fmt.Errorf("%s at %s holds %d keys: the experiments only run against an empty server", t.name, t.addr, size)
	}
	s := &server{name: t.name, addr: t.addr, admin: c}
	if s.facts, err = c.info("server"); err != nil {
		return nil, err
	}
	s.pid = localPid(t.addr, s.facts["process_id"])
	s.stop = func() {
		_, _ = c.do("CONFIG", "SET", "maxmemory", "0")
		_, _ = c.do("FLUSHALL")
		c.close()
	}
	return s, nil
}

// localPid is the server's own word on its process id, taken only from a loopback address.
func localPid(addr, id string) int {
	host, _, _ := net.SplitHostPort(addr)
	ip := net.ParseIP(host)
	pid, err := strconv.Atoi(id)
	if err != nil || ip == nil || !ip.IsLoopback() {
		return 0
	}
	if _, err := procMemory(pid); err != nil {
		return 0
	}
	return pid
}

func lastBytes(b []byte, n int) []byte { return b[max(0, len(b)-n):] }
