package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A driver says what one connection asks and looks at what it is answered: the only thing that differs between a GET/SET load,
// scanners and a KEYS loop.
type driver interface {
	// request appends the next commands and says how many they are.
	request(dst []byte) ([]byte, int)
	// token sees each element of a reply.
	token(t token)
	// answered is called after the last element of each reply; counted says that it fell into the measured window.
	answered(counted bool)
}

// A window is the measured part of a run. It is opened and closed by who started the run, while the workers go on: answers
// outside of it are not counted, so neither connecting nor winding down colours the figures.
type window struct {
	start    time.Time
	from, to atomic.Int64 // offsets from start; zero while unset
}

func newWindow() *window { return &window{start: time.Now()} }

func (w *window) now() int64 { return int64(time.Since(w.start)) }
func (w *window) open()      { w.from.Store(w.now()) }
func (w *window) close()     { w.to.Store(w.now()) }

// length is the window's duration; it must have been closed.
func (w *window) length() time.Duration { return time.Duration(w.to.Load() - w.from.Load()) }

// heldPast tells of a request sent at sent and answered at now that it spans the window's end.
func (w *window) heldPast(sent, now int64) bool {
	to := w.to.Load()
	return to != 0 && sent <= to && now > to
}

func (w *window) holds(t int64) bool {
	from, to := w.from.Load(), w.to.Load()
	return from != 0 && t >= from && (to == 0 || t <= to)
}

// A worker drives one connection from its own goroutine: it sends a request (or one pipeline), reads the answer and goes on.
//
// One epoll loop for all connections was written first and measured against redis-server with 50 connections on two
// cores: 9.5 µs of CPU an operation in the client and 7.2 in the server, where a goroutine a connection takes 7.6 and 5.7
// (redis-benchmark: 10 and 7.3). The lone loop is so quick to drain that it is woken for a few events at a time: four times as many
// context switches. Yielding before it blocks got it to 8.5.
type worker struct {
	conn  net.Conn
	drive driver
	win   *window
	stop  *atomic.Bool
	p     parser
	in    []byte
	w     int // in[:w] is read but not yet parsed
	out   []byte
	left  int       // replies that the commands in flight still lack
	sent  int64     // when they were sent, on the window's clock
	hist  Histogram // from sending to the last reply of a pipeline
	ops   uint64    // replies in the window
	fails uint64    // error replies
	fail  string    // the first
	worst int64     // how long the last request had waited at the window's end, if it went unanswered
}

func newWorker(addr string, d driver, w *window, stop *atomic.Bool) (*worker, error) {
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &worker{conn: conn, drive: d, win: w, stop: stop, in: make([]byte, 16<<10)}, nil
}

// run goes on until stop is set, and its blocked read is ended by a deadline.
func (k *worker) run() error {
	for !k.stop.Load() {
		k.out, k.left = k.drive.request(k.out[:0])
		k.sent = k.win.now()
		if _, err := k.conn.Write(k.out); err != nil {
			return k.ended(err)
		}
		for k.left > 0 {
			if err := k.read(); err != nil {
				return k.ended(err)
			}
		}
	}
	return nil
}

// ended tells being stopped from failing. A request that a stalled server never answered must not vanish from the figures.
func (k *worker) ended(err error) error {
	if !k.stop.Load() || !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("load: %w", err)
	}
	k.worst = max(0, k.win.to.Load()-k.sent)
	return nil
}

func (k *worker) read() error {
	if k.w == len(k.in) {
		k.in = append(k.in, make([]byte, len(k.in))...)
	}
	n, err := k.conn.Read(k.in[k.w:])
	if err != nil {
		return err
	}
	k.w += n
	r := 0
	for r < k.w {
		t, used, err := k.p.next(k.in[r:k.w])
		if err != nil {
			return err
		}
		if used == 0 {
			break
		}
		r += used
		k.take(t)
	}
	k.w = copy(k.in, k.in[r:k.w])
	return nil
}

func (k *worker) take(t token) {
	k.drive.token(t)
	if t.kind == '-' {
		k.noteError(t)
	}
	if !k.p.done() {
		return
	}
	k.left--
	now := k.win.now()
	counted := k.win.holds(now)
	if counted {
		k.ops++
	}
	if k.left == 0 && (counted || k.win.heldPast(k.sent, now)) {
		k.hist.Add(time.Duration(now - k.sent)) // a stall that outlasts the window is the slowest answer of all
	}
	k.drive.answered(counted)
}

func (k *worker) noteError(t token) {
	k.fails++
	if k.fail == "" {
		k.fail = string(t.body)
	}
}

// A group is a set of workers that run until stopped: a load, or scanners. A nil group is empty.
type group struct {
	workers []*worker
	stop    atomic.Bool
	errs    chan error
}

// startGroup connects n workers, each with a driver of its own, and starts them.
func startGroup(addr string, n int, w *window, drive func(i int) driver) (*group, error) {
	g := &group{errs: make(chan error, n)}
	for i := range n {
		k, err := newWorker(addr, drive(i), w, &g.stop)
		if err != nil {
			g.close()
			return nil, err
		}
		g.workers = append(g.workers, k)
	}
	for _, k := range g.workers {
		go func() { g.errs <- k.run() }()
	}
	return g, nil
}

func (g *group) close() {
	for _, k := range g.workers {
		_ = k.conn.Close()
	}
}

// finish ends the workers, waits for them, closes their sockets and returns the first error.
func (g *group) finish() error {
	if g == nil {
		return nil
	}
	g.stop.Store(true)
	for _, k := range g.workers {
		_ = k.conn.SetDeadline(time.Now())
	}
	var failed error
	for range g.workers {
		if err := <-g.errs; err != nil && failed == nil {
			failed = err
		}
	}
	g.close()
	return failed
}

// loadResult is what a finished group measured in its window.
type loadResult struct {
	ops   float64 // a second
	hist  Histogram
	worst time.Duration // slowest answer, or longest wait for one that never came
}

// result sums the workers. Error replies fail the run: a load that is refused is no load.
func (g *group) result(w *window) (loadResult, error) {
	var r loadResult
	for _, k := range g.workers {
		if k.fails > 0 {
			return r, fmt.Errorf("%d error replies: %w", k.fails, serverError(k.fail))
		}
		r.ops += float64(k.ops) / w.length().Seconds()
		r.hist.Merge(&k.hist)
		r.worst = max(r.worst, time.Duration(k.worst))
	}
	r.worst = max(r.worst, r.hist.Max())
	return r, nil
}
