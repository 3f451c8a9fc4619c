package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// An experiment fills its table with one round of all servers. A server that fails has that noted in the table; an error ends the run.
type experiment struct {
	name  string
	title string
	run   func(b *bench, t *Table) error
}

// experiments in the order in which they are printed.
func experiments() []experiment {
	return []experiment{
		{"throughput", "GET and SET of 1 M random keys", runThroughput},
		{"types", "collections by redis-benchmark", runTypes},
		{"pubsub", "PUBLISH to many subscribers", runPubsub},
		{"weigh", "memory of collections, and the first write to one that is held", runWeigh},
		{"e1", "a big value goes away", runE1},
		{"e2", "scans beside a load of 50 connections, GET:SET 10:1", runE2},
		{"e3", "MULTI, set algebra and long replies of 500 k members", runE3},
		{"e4", "memory while values grow from 100 to 690 bytes", runE4},
		{"e5", "first eviction at maxmemory under SETs", runE5},
	}
}

func findExperiment(name string) (experiment, bool) {
	for _, e := range experiments() {
		if e.name == name {
			return e, true
		}
	}
	return experiment{}, false
}

// A bench is one run: its options, and the facts about the servers it met.
type bench struct {
	ctx      context.Context
	opt      options
	progress *progress
	facts    map[string]map[string]string
}

func (b *bench) names() []string {
	var names []string
	for _, t := range b.opt.targets {
		names = append(names, t.name)
	}
	return names
}

// prepare builds firn if it takes part and no binary was given.
func (b *bench) prepare(dir string) error {
	for i, t := range b.opt.targets {
		if t.addr != "" || len(t.cmd) != 1 || t.cmd[0] != "firn" {
			continue
		}
		path := b.opt.firn
		if path == "" {
			b.progress.say("building firn")
			var err error
			if path, err = buildFirn(b.ctx, dir); err != nil {
				return err
			}
		}
		b.opt.targets[i].cmd = []string{path}
	}
	return nil
}

func (b *bench) runAll(r *report, out io.Writer) error {
	for _, e := range experiments() {
		if !slices.Contains(b.opt.run, e.name) {
			continue
		}
		t := newTable(e.name, e.title)
		r.Tables = append(r.Tables, t)
		for round := range b.opt.rounds {
			b.progress.title = fmt.Sprintf("%s %d/%d", e.name, round+1, b.opt.rounds)
			if err := e.run(b, t); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		b.progress.clear()
		fmt.Fprintln(out, t.Render(b.names()))
	}
	return nil
}

// alone runs each server by itself, one after the other: for experiments that weigh memory.
func (b *bench) alone(t *Table, do func(s *server) error) error {
	for _, target := range b.opt.targets {
		b.step("%s: starting", target.name)
		s, err := b.start(target)
		if err == nil {
			err = do(s)
			s.stop()
		}
		if err := b.failed(t, target.name, err); err != nil {
			return err
		}
	}
	return nil
}

// together starts every server and hands over those that came up and were set up, so that a row can be measured on one
// right after the other: what disturbs the machine then disturbs both.
func (b *bench) together(t *Table, setUp func(s *server) error, do func(live []*server) error) error {
	var live []*server
	defer func() {
		for _, s := range live {
			s.stop()
		}
	}()
	for _, target := range b.opt.targets {
		b.step("%s: starting", target.name)
		s, err := b.start(target)
		if err == nil {
			if err = setUp(s); err == nil {
				live = append(live, s)
			} else {
				s.stop()
			}
		}
		if err := b.failed(t, target.name, err); err != nil {
			return err
		}
	}
	return do(live)
}

func (b *bench) start(t target) (*server, error) {
	s, err := startServer(b.ctx, t)
	if err == nil {
		b.facts[s.name] = s.facts
	}
	return s, err
}

// failed notes what ended a server's part in an experiment; only the end of the whole run is passed on.
func (b *bench) failed(t *Table, name string, err error) error {
	if b.ctx.Err() != nil {
		return b.ctx.Err()
	}
	if err != nil {
		t.Fail("the experiment", name, reason(err))
	}
	return nil
}

func (b *bench) sleep(d time.Duration) error {
	select {
	case <-b.ctx.Done():
		return b.ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (b *bench) step(format string, args ...any) { b.progress.say(format, args...) }

// startProbe is nil when probes are switched off.
func (b *bench) startProbe(s *server) (*probe, error) {
	if !b.opt.probe {
		return nil, nil
	}
	return startProbe(s.addr)
}

// withProbe runs do beside a probe and adds what the probe felt.
func (b *bench) withProbe(t *Table, row string, s *server, do func() error) error {
	p, err := b.startProbe(s)
	if err != nil {
		return err
	}
	doErr := do()
	r, err := p.finish()
	if err := errors.Join(doErr, err); err != nil {
		return err
	}
	b.addProbe(t, row, s, r)
	return nil
}

// probeIdle probes the server while nothing else is asked of it: what every other wait is judged against.
func (b *bench) probeIdle(t *Table, s *server) error {
	b.step("%s: probing while idle", s.name)
	const row = "idle server"
	p, err := b.startProbe(s)
	if err != nil || p == nil {
		return err
	}
	before, began := readCPU(s), time.Now()
	sleepErr := b.sleep(b.opt.idle)
	t.addOthers(row, s, readCPU(s).since(before), time.Since(began))
	r, err := p.finish()
	if err := errors.Join(sleepErr, err); err != nil {
		return err
	}
	b.addProbe(t, row, s, r)
	s.idle = r
	return nil
}

// addProbe adds a probe's figures. Waits count from when each request was due; the JSON file also has those from sending.
func (b *bench) addProbe(t *Table, row string, s *server, r *probeResult) {
	if r == nil {
		return
	}
	t.Add(row, "probe max", millis, s.name, inMillis(r.Max))
	if s.idle != nil {
		t.Add(row, "  minus idle max", millis, s.name, inMillis(r.Max-s.idle.Max))
	}
	t.Add(row, "probe p99.9", millis, s.name, inMillis(r.P999))
	t.AddRaw(row, "probe p99", millis, s.name, inMillis(r.P99))
	t.AddRaw(row, "probe p50", millis, s.name, inMillis(r.P50))
	t.AddRaw(row, "probe max from sending", millis, s.name, inMillis(r.SentMax))
	t.AddRaw(row, "probe p99 from sending", millis, s.name, inMillis(r.SentP99))
	t.AddRaw(row, "probe itself late, max", millis, s.name, inMillis(r.LateMax))
	t.AddRaw(row, "probe requests", count, s.name, float64(r.Asked))
	t.AddRaw(row, "probe unanswered", count, s.name, float64(r.Unanswered))
	if r.Priority != "fifo" {
		t.Note("The probe could only run at %s priority: its waits hold some of the client's own.", r.Priority)
	}
}

func inMillis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
func inMicros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// fill SETs the first n keys.
func (b *bench) fill(s *server, n int, value []byte) error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	var key []byte
	next := func(i int, dst []byte) []byte {
		key = appendKey(key[:0], uint64(i))
		return appendSet(dst, key, value)
	}
	if err := c.pipeline(n, 500, next, b.countTo(s, "loading", n)); err != nil {
		return err
	}
	_, err = c.do("SET", probeKey, "1")
	return err
}

// countTo returns a callback for pipeline that shows how far it is.
func (b *bench) countTo(s *server, what string, n int) func(int) {
	last := 0
	return func(done int) {
		if done-last >= 50_000 {
			last = done
			b.step("%s: %s %d %%", s.name, what, 100*done/n)
		}
	}
}

func appendSet(dst, key, value []byte) []byte {
	dst = append(dst, "*3\r\n$3\r\nSET\r\n"...)
	dst = appendArg(dst, key)
	return appendArg(dst, value)
}

// progress rewrites one line on a terminal, and is silent elsewhere. The zero value is silent.
type progress struct {
	w     io.Writer
	title string
	begin time.Time
}

func newProgress(f *os.File) *progress {
	p := &progress{begin: time.Now()}
	if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
		p.w = f
	}
	return p
}

func (p *progress) say(format string, args ...any) {
	if p.w == nil {
		return
	}
	line := fmt.Sprintf("%5.0f s  %s  %s", time.Since(p.begin).Seconds(), p.title, fmt.Sprintf(format, args...))
	fmt.Fprintf(p.w, "\r\x1b[K%s", strings.ReplaceAll(line[:min(len(line), 78)], "\n", " "))
}

func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
