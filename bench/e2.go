package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A scanRow is one row of E2: what runs beside the load.
type scanRow struct {
	scanners int
	count    int
	keys     bool // a KEYS loop instead
}

const (
	quickRows = "0,1x1000,10x100,10x1000,10x10000,100x1000,1000x1000,keys"
	allRows   = "0,1x100,1x1000,1x10000,10x100,10x1000,10x10000,100x100,100x1000,100x10000,1000x1000,keys"
)

// parseRows reads the -e2 flag. The row without scanners is always there, and first, as the others are judged by it.
func parseRows(list string) ([]scanRow, error) {
	if list == "all" {
		list = allRows
	}
	rows := []scanRow{{}}
	for item := range strings.SplitSeq(list, ",") {
		if item == "0" {
			continue
		}
		if item == "keys" {
			rows = append(rows, scanRow{keys: true})
			continue
		}
		n, c, ok := strings.Cut(item, "x")
		scanners, err1 := strconv.Atoi(n)
		size, err2 := strconv.Atoi(c)
		if !ok || err1 != nil || err2 != nil || scanners < 1 || size < 1 {
			return nil, fmt.Errorf("-e2: row %q is not 0, keys, or scanners x COUNT like 10x1000", item)
		}
		rows = append(rows, scanRow{scanners: scanners, count: size})
	}
	return rows, nil
}

func (r scanRow) String() string {
	switch {
	case r.keys:
		return "KEYS in a loop"
	case r.scanners == 0:
		return "no scanner"
	case r.scanners == 1:
		return fmt.Sprintf("1 scanner, COUNT %d", r.count)
	}
	return fmt.Sprintf("%d scanners, COUNT %d", r.scanners, r.count)
}

// e2 is the state of one round.
type e2 struct {
	*bench
	t    *Table
	n    int
	want keySum
	base map[string]float64 // ops/s without scanners, by server
}

const (
	e2Keys  = 5_000_000
	e2Conns = 50
	e2Value = 32
)

func runE2(b *bench, t *Table) error {
	n := b.opt.scaled(e2Keys)
	b.step("counting the keys that match")
	e := &e2{bench: b, t: t, n: n, want: matching(n), base: map[string]float64{}}
	t.Note("%d keys of %d bytes, values of %d; %d match %s. Keys scanned/s: keys returned, times all keys over those that match.",
		n, keyLen, e2Value, e.want.count, pattern)
	setUp := func(s *server) error {
		if err := b.fill(s, n, make([]byte, e2Value)); err != nil {
			return err
		}
		if err := b.sleep(b.opt.settle); err != nil {
			return err
		}
		return b.probeIdle(t, s)
	}
	return b.together(t, setUp, e.allRows)
}

func (e *e2) allRows(live []*server) error {
	for _, r := range e.opt.rows {
		for _, s := range live {
			e.step("%s: %s", s.name, r)
			err := e.row(r, s)
			if e.ctx.Err() != nil {
				return e.ctx.Err()
			}
			if err != nil {
				e.t.Fail(r.String(), s.name, reason(err))
			}
		}
	}
	for _, s := range live {
		e.step("%s: a checked pass", s.name)
		if err := e.checkedPass(s); err != nil {
			e.t.Fail(passRow, s.name, reason(err))
		}
	}
	return e.ctx.Err()
}

func (e *e2) load(s *server, w *window) (*group, error) {
	return startLoad(s.addr, load{
		conns: e2Conns, depth: 1, keys: e.n, getSet: 10, value: e2Value, seed: e.opt.seed,
	}, w)
}

// row runs the load and what is to run beside it, and measures a window of both.
func (e *e2) row(r scanRow, s *server) error {
	w := newWindow()
	side, drivers, err := e.startSide(r, s, w)
	if err != nil {
		return err
	}
	main, err := e.load(s, w)
	if err != nil {
		return errors.Join(err, side.finish())
	}
	length := e.opt.window
	if r.keys {
		length *= 2 // one KEYS takes seconds
	}
	m, err := e.measure(s, w, length)
	err = errors.Join(err, main.finish(), side.finish())
	if err != nil {
		return err
	}
	got, err := main.result(w)
	if err != nil {
		return err
	}
	e.addLoad(r.String(), s, got, m)
	e.addSide(r, s, w, drivers)
	if side != nil {
		if _, err := side.result(w); err != nil {
			return err
		}
	}
	_, err = s.admin.do("PING") // so that a KEYS still under way does not fall into the next row
	return err
}

// startSide starts the scanners of a row; nil if it has none.
func (e *e2) startSide(r scanRow, s *server, w *window) (*group, []driver, error) {
	var drivers []driver
	conns := r.scanners
	if r.keys {
		conns = 1
	}
	if conns == 0 {
		return nil, nil, nil
	}
	g, err := startGroup(s.addr, conns, w, func(int) driver {
		var d driver = &keysDriver{want: e.want}
		if !r.keys {
			d = newScanDriver(r.count, e.want)
		}
		drivers = append(drivers, d)
		return d
	})
	return g, drivers, err
}

func (e *e2) addLoad(row string, s *server, got loadResult, m measured) {
	t, name := e.t, s.name
	if row == (scanRow{}).String() {
		e.base[name] = got.ops
	}
	t.Add(row, "ops/s", perSecond, name, got.ops)
	if base := e.base[name]; base > 0 {
		t.Add(row, "of own no-scanner", percent, name, got.ops/base)
	}
	t.Add(row, "p50", millis, name, inMillis(got.hist.Quantile(.5)))
	t.Add(row, "p99", millis, name, inMillis(got.hist.Quantile(.99)))
	t.Add(row, "max", millis, name, inMillis(got.worst))
	t.AddRaw(row, "p99.9", millis, name, inMillis(got.hist.Quantile(.999)))
	e.addProbe(t, row, s, m.probe)
	m.addCPU(t, row, s)
}

func (e *e2) addSide(r scanRow, s *server, w *window, drivers []driver) {
	row, name := r.String(), s.name
	var keys, passes, wrong float64
	for _, d := range drivers {
		switch d := d.(type) {
		case *scanDriver:
			keys, passes, wrong = keys+float64(d.keys), passes+float64(d.passes), wrong+float64(d.wrong)
		case *keysDriver:
			passes, wrong = passes+float64(d.passes), wrong+float64(d.wrong)
		}
	}
	if r.scanners > 0 {
		rate := keys / w.length().Seconds() * float64(e.n) / float64(e.want.count)
		e.t.Add(row, "keys scanned/s", perSecond, name, rate)
	}
	if len(drivers) > 0 {
		e.t.Add(row, "passes whole", count, name, passes)
		e.t.Add(row, "passes wrong", count, name, wrong)
	}
}

const passRow = "a checked pass under load"

// checkedPass scans everything once beside the load and books each key in a bitmap, so that it can say how many were missed and
// how many came twice.
func (e *e2) checkedPass(s *server) error {
	w := newWindow()
	main, err := e.load(s, w)
	if err != nil {
		return err
	}
	p := newPass(e.n)
	began := w.now()
	err = errors.Join(p.run(e.bench, s.addr, 1000), main.finish())
	if err != nil {
		return err
	}
	took := float64(w.now()-began) / 1e9
	e.t.Add(passRow, "takes", seconds, s.name, took)
	e.t.Add(passRow, "keys scanned/s", perSecond, s.name, float64(e.n)/took)
	e.t.Add(passRow, "keys missed", count, s.name, float64(e.want.count-p.seen))
	e.t.Add(passRow, "keys twice", count, s.name, float64(p.twice))
	e.t.Add(passRow, "keys foreign", count, s.name, float64(p.foreign))
	return nil
}

// A pass is one whole SCAN with every key remembered.
type pass struct {
	n       int
	index   keyIndex
	bits    []uint64
	seen    int64 // different keys
	twice   int64
	foreign int64 // keys that were never stored
}

func newPass(n int) *pass {
	return &pass{n: n, index: newKeyIndex(), bits: make([]uint64, n/64+1)}
}

func (p *pass) book(key []byte) {
	number, ok := parseKey(key)
	i := p.index.of(number)
	if !ok || i >= uint64(p.n) {
		p.foreign++
		return
	}
	bit := uint64(1) << (i % 64)
	if p.bits[i/64]&bit != 0 {
		p.twice++
		return
	}
	p.bits[i/64] |= bit
	p.seen++
}

func (p *pass) run(b *bench, addr string, size int) error {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer c.close()
	cursor := "0"
	for {
		visit := func(i int, body []byte) {
			switch {
			case i == 0:
				cursor = string(body)
			case i > 1:
				p.book(body)
			}
		}
		if _, err := c.each(visit, "SCAN", cursor, "MATCH", pattern, "COUNT", strconv.Itoa(size)); err != nil {
			return err
		}
		if cursor == "0" || b.ctx.Err() != nil {
			return b.ctx.Err()
		}
	}
}
