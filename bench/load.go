package main

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// load is what a group of connections asks; see startLoad.
type load struct {
	conns  int
	depth  int // commands in flight on each connection
	keys   int // drawn from the first so many, uniformly
	getSet int // GETs for one SET; 0 is SET only, -1 is GET only
	value  int // bytes
	loops  int
	seed   uint64
}

// mixDriver draws GETs and SETs.
type mixDriver struct {
	load
	rng   *rand.Rand
	value []byte
	key   []byte
}

func newMixDriver(l load, loop int) *mixDriver {
	value := make([]byte, l.value)
	for i := range value {
		value[i] = 'a' + byte(i%26)
	}
	return &mixDriver{load: l, rng: rand.New(rand.NewPCG(l.seed, uint64(loop))), value: value}
}

func (m *mixDriver) request(_ *conn, dst []byte) ([]byte, int) {
	for range m.depth {
		m.key = appendKey(m.key[:0], m.rng.Uint64N(uint64(m.keys)))
		if m.isGet() {
			dst = append(dst, "*2\r\n$3\r\nGET\r\n"...)
			dst = appendArg(dst, m.key)
			continue
		}
		dst = append(dst, "*3\r\n$3\r\nSET\r\n"...)
		dst = appendArg(dst, m.key)
		dst = appendArg(dst, m.value)
	}
	return dst, m.depth
}

func (m *mixDriver) isGet() bool {
	return m.getSet < 0 || m.getSet > 0 && m.rng.IntN(m.getSet+1) > 0
}

func (m *mixDriver) token(*conn, token)   {}
func (m *mixDriver) answered(*conn, bool) {}

// A group is a set of loops that run until stopped: a load, or scanners.
type group struct {
	loops []*loop
	stop  atomic.Bool
	errs  chan error
}

func (g *group) start() {
	g.errs = make(chan error, len(g.loops))
	for _, l := range g.loops {
		go func() { g.errs <- l.run() }()
	}
}

// finish ends the loops, waits for them, closes their sockets and returns the first error.
func (g *group) finish() error {
	if g == nil {
		return nil
	}
	g.stop.Store(true)
	var failed error
	for range g.loops {
		if err := <-g.errs; err != nil && failed == nil {
			failed = err
		}
	}
	for _, l := range g.loops {
		l.close()
	}
	return failed
}

// startGroup connects conns sockets over the given number of loops and starts them; drive makes the driver of each loop.
func startGroup(addr string, conns, loops int, w *window, drive func(loop int) driver) (*group, error) {
	g := &group{}
	for i := range loops {
		n := conns*(i+1)/loops - conns*i/loops
		l, err := newLoop(addr, conns*i/loops, n, drive(i), w, &g.stop)
		if err != nil {
			for _, l := range g.loops {
				l.close()
			}
			return nil, err
		}
		g.loops = append(g.loops, l)
	}
	g.start()
	return g, nil
}

func startLoad(addr string, l load, w *window) (*group, error) {
	return startGroup(addr, l.conns, l.loops, w, func(i int) driver { return newMixDriver(l, i) })
}

// loadResult is what a finished group measured in its window.
type loadResult struct {
	ops   float64 // a second
	hist  Histogram
	worst time.Duration // slowest answer, or longest wait for one that never came
}

// result sums the loops. Error replies fail the run: a load that is refused is no load.
func (g *group) result(w *window) (loadResult, error) {
	var r loadResult
	for _, l := range g.loops {
		if l.fails > 0 {
			return r, fmt.Errorf("%d error replies: %w", l.fails, serverError(l.fail))
		}
		r.ops += float64(l.ops) / w.length().Seconds()
		r.hist.Merge(&l.hist)
		r.worst = max(r.worst, time.Duration(l.worst))
	}
	r.worst = max(r.worst, r.hist.Max())
	return r, nil
}
