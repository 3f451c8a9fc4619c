package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
)

const (
	throughputKeys  = 1_000_000
	throughputValue = 32
)

// plainRow is one row of the plain throughput: a command over so many connections, so many commands in flight on each.
type plainRow struct {
	command      string
	conns, depth int
}

func (r plainRow) String() string {
	if r.depth == 1 {
		return fmt.Sprintf("%s, %d connections", r.command, r.conns)
	}
	return fmt.Sprintf("%s, %d connections, %d deep", r.command, r.conns, r.depth)
}

func plainRows() []plainRow {
	return []plainRow{{"SET", 50, 1}, {"GET", 50, 1}, {"SET", 20, 32}, {"GET", 20, 32}}
}

func runThroughput(b *bench, t *Table) error {
	n := b.opt.scaled(throughputKeys)
	t.Note("%d keys, values of %d bytes; redis-benchmark with its own keys and values of 3 bytes.", n, throughputValue)
	setUp := func(s *server) error {
		if err := b.fill(s, n, make([]byte, throughputValue)); err != nil {
			return err
		}
		return b.sleep(b.opt.settle)
	}
	return b.together(t, setUp, func(live []*server) error { return b.plainRows(t, live, n) })
}

func (b *bench) plainRows(t *Table, live []*server, n int) error {
	foreign, missing := exec.LookPath("redis-benchmark")
	for _, r := range plainRows() {
		for _, s := range live {
			b.step("%s: %s", s.name, r)
			rate, err := b.ownThroughput(t, r, s, n)
			if err != nil {
				t.Fail(r.String(), s.name, reason(err))
			}
			if missing == nil && err == nil {
				b.step("%s: redis-benchmark, %s", s.name, r)
				if err := b.redisBenchmark(t, foreign, r, s, rate); err != nil {
					t.Fail("redis-benchmark "+r.String(), s.name, reason(err))
				}
			}
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
		}
	}
	return nil
}

// ownThroughput measures one row by this program's load and returns its operations a second. No probe runs beside it, as its share of the
// cores would be part of the figure.
func (b *bench) ownThroughput(t *Table, r plainRow, s *server, n int) (float64, error) {
	l := load{conns: r.conns, depth: r.depth, keys: n, value: throughputValue, seed: b.opt.seed}
	if r.command == "GET" {
		l.getSet = -1
	}
	w := newWindow()
	g, err := startLoad(s.addr, l, w)
	if err != nil {
		return 0, err
	}
	quiet := *b
	quiet.opt.probe = false
	m, err := quiet.measure(s, w, b.opt.window)
	if err := errors.Join(err, g.finish()); err != nil {
		return 0, err
	}
	got, err := g.result(w)
	if err != nil {
		return 0, err
	}
	row, ops := r.String(), got.ops*m.length.Seconds()
	t.Add(row, "ops/s", perSecond, s.name, got.ops)
	t.Add(row, "p50", millis, s.name, inMillis(got.hist.Quantile(.5)))
	t.Add(row, "p99", millis, s.name, inMillis(got.hist.Quantile(.99)))
	t.AddRaw(row, "max", millis, s.name, inMillis(got.worst))
	if s.pid != 0 {
		t.Add(row, "server CPU an op", micros, s.name, inMicros(m.cpu.server)/ops)
	}
	t.Add(row, "load CPU an op", micros, s.name, inMicros(m.cpu.own)/ops)
	t.addOthers(row, s, m.cpu, m.length)
	return got.ops, nil
}

// redisBenchmark runs the same row through redis-benchmark, for about as long as the own row took.
func (b *bench) redisBenchmark(t *Table, path string, r plainRow, s *server, rate float64) error {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return err
	}
	n := max(int(rate*b.opt.window.Seconds()), 1000)
	cmd := exec.CommandContext(b.ctx, path, "-h", host, "-p", port, "-n", strconv.Itoa(n), "-c", strconv.Itoa(r.conns),
		"-P", strconv.Itoa(r.depth), "-r", strconv.Itoa(b.opt.scaled(throughputKeys)), "-t", strings.ToLower(r.command), "--csv")
	cpu := procCPU(s.pid)
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	used := procCPU(s.pid) - cpu
	fields, err := parseBenchmark(string(out), r.command)
	if err != nil {
		return err
	}
	row := "redis-benchmark " + r.String()
	t.Add(row, "ops/s", perSecond, s.name, fields["rps"])
	t.Add(row, "p50", millis, s.name, fields["p50_latency_ms"])
	t.Add(row, "p99", millis, s.name, fields["p99_latency_ms"])
	t.AddRaw(row, "max", millis, s.name, fields["max_latency_ms"])
	if s.pid != 0 {
		t.Add(row, "server CPU an op", micros, s.name, inMicros(used)/float64(n))
	}
	return nil
}

// parseBenchmark reads the line of one test out of `redis-benchmark --csv`, by the names in its header.
func parseBenchmark(out, test string) (map[string]float64, error) {
	start := strings.Index(out, `"test"`)
	if start < 0 {
		return nil, fmt.Errorf("redis-benchmark printed no table: %q", lastBytes([]byte(out), 200))
	}
	lines, err := csv.NewReader(strings.NewReader(out[start:])).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("redis-benchmark: %w", err)
	}
	for _, line := range lines[1:] {
		if line[0] != test {
			continue
		}
		fields := map[string]float64{}
		for i, name := range lines[0][1:] {
			if fields[name], err = strconv.ParseFloat(line[i+1], 64); err != nil {
				return nil, fmt.Errorf("redis-benchmark: %w", err)
			}
		}
		return fields, nil
	}
	return nil, fmt.Errorf("redis-benchmark printed no line for %s", test)
}
