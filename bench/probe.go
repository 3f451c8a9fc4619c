package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The probe runs as a process of its own (`bench probe`), on a locked thread, without a collector, under SCHED_FIFO where that is
// allowed. Measured beside the load of 50 connections on two busy cores, how late the probe itself was at worst: 16 to 123 ms as a goroutine of the
// load's process, with which it shares scheduler and collector; 6 to 9 ms as a process of its own, with nice -15 or
// without; 1.5 to 6 ms under SCHED_FIFO, and 0.1 to 0.6 ms beside scanners. All of that would be booked as the server's.

// maxOutstanding bounds the unanswered requests that a probe remembers: two minutes at one a millisecond.
const maxOutstanding = 1 << 17

// A schedule is the probe's timetable: request k is due at start + k*every, whatever became of the ones before it. A wait counts
// from when the request was due, so a stall of a second is seen by the thousand requests that fell into it and
// not only by the one that began it (what Gil Tene named coordinated omission). Waits from sending are kept beside it, and so
// is how late the probe itself was. Times are nanoseconds on one monotonic clock.
type schedule struct {
	start, every int64
	due, done    int64 // requests due so far, answers so far
	sentAt       [maxOutstanding]int64
	fromDue      Histogram
	fromSent     Histogram
	late         Histogram
}

// take returns how many requests have come due by now and notes them as sent now.
func (s *schedule) take(now int64) int {
	n := 0
	for s.nextDue() <= now && s.due-s.done < maxOutstanding {
		s.late.Add(time.Duration(now - s.nextDue()))
		s.sentAt[s.due%maxOutstanding] = now
		s.due++
		n++
	}
	return n
}

func (s *schedule) nextDue() int64 { return s.start + s.due*s.every }

func (s *schedule) outstanding() int64 { return s.due - s.done }

// answer books the n oldest outstanding requests as answered now.
func (s *schedule) answer(now int64, n int) {
	for range n {
		s.fromDue.Add(time.Duration(now - (s.start + s.done*s.every)))
		s.fromSent.Add(time.Duration(now - s.sentAt[s.done%maxOutstanding]))
		s.done++
	}
}

// probeResult is what a probe prints when it ends, in nanoseconds.
type probeResult struct {
	Asked      uint64        `json:"asked"`
	Max        time.Duration `json:"max_ns"` // from when each request was due
	P999       time.Duration `json:"p999_ns"`
	P99        time.Duration `json:"p99_ns"`
	P50        time.Duration `json:"p50_ns"`
	SentMax    time.Duration `json:"from_sending_max_ns"`
	SentP99    time.Duration `json:"from_sending_p99_ns"`
	LateMax    time.Duration `json:"probe_late_max_ns"` // by the probe's own fault
	Unanswered int64         `json:"unanswered"`        // after the patience ran out; their waits so far are counted
	Priority   string        `json:"priority"`
}

func (s *schedule) result() probeResult {
	return probeResult{
		Asked: s.fromDue.Count(), Max: s.fromDue.Max(), P50: s.fromDue.Quantile(.5),
		P99: s.fromDue.Quantile(.99), P999: s.fromDue.Quantile(.999),
		SentMax: s.fromSent.Max(), SentP99: s.fromSent.Quantile(.99), LateMax: s.late.Max(),
	}
}

// probePatience is how long a probe waits for its last answers.
const probePatience = 60 * time.Second

// probeMain is the sub-mode `bench probe -addr host:port`: it probes until its standard input ends, then prints its
// result as JSON. The line "ready" says that the first answer came.
func probeMain(args []string, in io.Reader, out io.Writer) error {
	fs := flag.NewFlagSet("probe", flag.ContinueOnError)
	addr := fs.String("addr", "127.0.0.1:6379", "server")
	key := fs.String("key", probeKey, "key to GET")
	every := fs.Duration("every", time.Millisecond, "time between requests")
	if err := fs.Parse(args); err != nil {
		return err
	}
	runtime.LockOSThread()
	debug.SetGCPercent(-1)
	p := &prober{priority: raisePriority(), request: appendCommand(nil, "GET", *key), s: &schedule{every: int64(*every)}}
	f, err := dialFile(*addr)
	if err != nil {
		return err
	}
	defer f.Close()
	p.fd = int(f.Fd())
	if err := unix.SetNonblock(p.fd, true); err != nil {
		return err
	}
	var stop atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, in)
		stop.Store(true)
	}()
	if err := p.run(&stop, out); err != nil {
		return err
	}
	r := p.s.result()
	r.Unanswered, r.Priority = p.unanswered, p.priority
	return json.NewEncoder(out).Encode(r)
}

// raisePriority asks for exact timers and for a place before all ordinary threads in the kernel's queue. It returns the
// name of what it got.
func raisePriority() string {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	fifo := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Flags: unix.SCHED_FLAG_RESET_ON_FORK, Priority: 1}
	if unix.SchedSetAttr(0, &fifo, 0) == nil {
		return "fifo"
	}
	if unix.Setpriority(unix.PRIO_PROCESS, 0, -15) == nil {
		return "nice -15"
	}
	return "normal"
}

// A prober is a probe's socket and timetable.
type prober struct {
	s          *schedule
	fd         int
	priority   string
	request    []byte
	out        []byte // not yet taken by the socket
	in         [16 << 10]byte
	w          int
	p          parser
	begin      time.Time
	unanswered int64
}

func (p *prober) now() int64 { return int64(time.Since(p.begin)) }

func (p *prober) run(stop *atomic.Bool, out io.Writer) error {
	p.begin = time.Now()
	p.out = make([]byte, 0, maxOutstanding)
	p.s.start = p.now() + p.s.every
	ready := false
	var deadline int64
	for {
		now := p.now()
		switch {
		case !stop.Load():
			for range p.s.take(now) {
				p.out = append(p.out, p.request...)
			}
		case deadline == 0:
			deadline = now + int64(probePatience)
		case p.s.outstanding() == 0:
			return nil
		case now > deadline:
			p.unanswered = p.s.outstanding()
			p.s.answer(now, int(p.unanswered))
			return nil
		}
		if err := p.turn(p.s.nextDue()-p.now(), deadline > 0); err != nil {
			return err
		}
		if !ready && p.s.done > 0 {
			ready = true
			fmt.Fprintln(out, "ready")
		}
	}
}

// turn writes what is due, waits for an answer or the next due time, and books answers.
func (p *prober) turn(wait int64, stopping bool) error {
	if len(p.out) > 0 {
		n, err := unix.Write(p.fd, p.out)
		if err != nil && err != unix.EAGAIN && err != unix.EINTR {
			return fmt.Errorf("probe write: %w", err)
		}
		p.out = p.out[:copy(p.out, p.out[max(n, 0):])]
	}
	if stopping {
		wait = int64(time.Millisecond)
	}
	ts := unix.NsecToTimespec(max(wait, 0))
	fds := [1]unix.PollFd{{Fd: int32(p.fd), Events: unix.POLLIN}}
	if n, err := unix.Ppoll(fds[:], &ts, nil); n <= 0 {
		if err != nil && err != unix.EINTR {
			return fmt.Errorf("probe poll: %w", err)
		}
		return nil
	}
	return p.read()
}

func (p *prober) read() error {
	n, err := unix.Read(p.fd, p.in[p.w:])
	if err == unix.EAGAIN || err == unix.EINTR {
		return nil
	}
	if err != nil || n == 0 {
		return fmt.Errorf("probe: the connection ended: %w", cmp.Or(err, io.EOF))
	}
	now := p.now()
	p.w += n
	r, replies := 0, 0
	for {
		_, used, err := p.p.next(p.in[r:p.w])
		if err != nil {
			return err
		}
		if used == 0 {
			break
		}
		r += used
		if p.p.done() {
			replies++
		}
	}
	p.w = copy(p.in[:], p.in[r:p.w])
	p.s.answer(now, replies)
	return nil
}

// probeKey is the small key that probes GET. It does not match the scans' pattern.
const probeKey = "probe"

// A probe is a running probe process. A nil probe (switched off) measures nothing.
type probe struct {
	cmd *exec.Cmd
	in  io.Closer
	out *bufio.Reader
}

// dialFile connects and takes the socket out of the runtime's poller.
func dialFile(addr string) (*os.File, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return nil, fmt.Errorf("%s is not a TCP address", addr)
	}
	return tcp.File()
}

// startProbe starts a probe and returns when it has had its first answer.
func startProbe(addr string) (*probe, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &probe{cmd: exec.Command(self, "probe", "-addr", addr)}
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.in, p.out = in, bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := p.out.ReadString('\n'); err != nil {
		_ = p.cmd.Wait()
		return nil, fmt.Errorf("probe did not start: %w", err)
	}
	return p, nil
}

// finish lets the probe wait for its last answers and returns what it measured.
func (p *probe) finish() (*probeResult, error) {
	if p == nil {
		return nil, nil
	}
	_ = p.in.Close()
	var r probeResult
	decodeErr := json.NewDecoder(p.out).Decode(&r)
	return &r, errors.Join(decodeErr, p.cmd.Wait())
}
