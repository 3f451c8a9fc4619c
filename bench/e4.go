package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	e4Keys      = 1_000_000
	e4Overwrite = 0.9 // of the keys, drawn at random with repetition, in each stage after the first
)

// e4Sizes are the value sizes of the 16 stages.
func e4Sizes() []int {
	sizes := []int{100}
	for size := 130; size <= 690; size += 40 {
		sizes = append(sizes, size)
	}
	return sizes
}

// weight is what a server takes, by the kernel and by its own account, in bytes.
type weight struct{ rss, peak, used float64 }

// weigh reads both. Without a process in sight the server's own word stands for the kernel's.
func (b *bench) weigh(s *server) (weight, error) {
	info, err := s.admin.info("memory")
	if err != nil {
		return weight{}, err
	}
	var w weight
	if w.used, err = strconv.ParseFloat(info["used_memory"], 64); err != nil {
		return w, fmt.Errorf("INFO memory: used_memory: %w", err)
	}
	if s.pid == 0 {
		w.rss, _ = strconv.ParseFloat(info["used_memory_rss"], 64)
		w.peak, _ = strconv.ParseFloat(info["used_memory_peak"], 64)
		return w, nil
	}
	m, err := procMemory(s.pid)
	w.rss, w.peak = m.rss, m.peak
	return w, err
}

// e4 is one server's round.
type e4 struct {
	*bench
	t      *Table
	s      *server
	c      *client
	rng    *rand.Rand
	length []uint16 // of each key's value
	valid  int      // bytes of all keys and values
	value  []byte
	key    []byte
	worst  struct{ used, valid float64 }
}

func runE4(b *bench, t *Table) error {
	n := b.opt.scaled(e4Keys)
	t.Note("%d keys of %d bytes; each stage overwrites %.0f %% as many keys at random, then waits %g s. valid = bytes of keys and values.",
		n, keyLen, e4Overwrite*100, b.opt.settle.Seconds())
	return b.alone(t, func(s *server) error {
		c, err := dial(s.addr)
		if err != nil {
			return err
		}
		defer c.close()
		e := &e4{
			bench: b, t: t, s: s, c: c, rng: rand.New(rand.NewPCG(b.opt.seed, 4)),
			length: make([]uint16, n), valid: n * keyLen, value: make([]byte, 1024),
		}
		return e.stages()
	})
}

func (e *e4) stages() error {
	for i, size := range e4Sizes() {
		row := fmt.Sprintf("stage %d, %d bytes", i+1, size)
		e.step("%s: %s", e.s.name, row)
		if err := e.write(i == 0, size); err != nil {
			return err
		}
		if err := e.sleep(e.opt.settle); err != nil {
			return err
		}
		if err := e.weighStage(row); err != nil {
			return err
		}
	}
	e.t.Add("worst stage", "rss/used", factor, e.s.name, e.worst.used)
	e.t.Add("worst stage", "rss/valid", factor, e.s.name, e.worst.valid)
	if err := e.bgsave(); err != nil {
		e.t.Fail(bgsaveRow, e.s.name, reason(err))
	}
	return nil
}

// write sets every key in order, or a share of them at random.
func (e *e4) write(all bool, size int) error {
	n := len(e.length)
	if !all {
		n = int(float64(n) * e4Overwrite)
	}
	return e.c.pipeline(n, 500, func(i int, dst []byte) []byte {
		if !all {
			i = e.rng.IntN(len(e.length))
		}
		return e.set(i, size, dst)
	}, nil)
}

func (e *e4) set(i, size int, dst []byte) []byte {
	e.valid += size - int(e.length[i])
	e.length[i] = uint16(size)
	e.key = appendKey(e.key[:0], uint64(i))
	return appendSet(dst, e.key, e.value[:size])
}

func (e *e4) weighStage(row string) error {
	w, err := e.weigh(e.s)
	if err != nil {
		return err
	}
	valid, name := float64(e.valid), e.s.name
	e.worst.used = max(e.worst.used, w.rss/w.used)
	e.worst.valid = max(e.worst.valid, w.rss/valid)
	e.t.Add(row, "valid", mebibytes, name, valid)
	e.t.Add(row, "used", mebibytes, name, w.used)
	e.t.Add(row, "rss", mebibytes, name, w.rss)
	e.t.Add(row, "rss/used", factor, name, w.rss/w.used)
	e.t.Add(row, "rss/valid", factor, name, w.rss/valid)
	e.t.AddRaw(row, "peak rss", mebibytes, name, w.peak)
	return nil
}

const bgsaveRow = "BGSAVE while overwriting"

// bgsave saves under overwrites at full speed, and weighs the process with its children as often as it can: a page that parent and child
// share counts once.
func (e *e4) bgsave() error {
	if e.s.pid == 0 {
		return errors.New("the server's process is out of sight")
	}
	before := treeShare(e.s.pid)
	began := time.Now()
	if _, err := e.s.admin.do("BGSAVE"); err != nil {
		return err
	}
	var stop atomic.Bool
	peak := make(chan float64)
	go func() {
		most := before
		for !stop.Load() {
			most = max(most, treeShare(e.s.pid))
			time.Sleep(20 * time.Millisecond)
		}
		peak <- most
	}()
	err := e.overwriteUntilSaved()
	took := time.Since(began)
	stop.Store(true)
	most := <-peak
	if err != nil {
		return err
	}
	e.t.Add(bgsaveRow, "takes", seconds, e.s.name, took.Seconds())
	e.t.Add(bgsaveRow, "peak memory", mebibytes, e.s.name, most)
	e.t.Add(bgsaveRow, "peak/before", factor, e.s.name, most/before)
	return nil
}

func (e *e4) overwriteUntilSaved() error {
	size := e4Sizes()[15]
	for {
		err := e.c.pipeline(2000, 500, func(_ int, dst []byte) []byte {
			return e.set(e.rng.IntN(len(e.length)), size, dst)
		}, nil)
		if err != nil {
			return err
		}
		info, err := e.s.admin.info("persistence")
		if err != nil {
			return err
		}
		if info["rdb_bgsave_in_progress"] == "0" {
			return nil
		}
		if e.ctx.Err() != nil {
			return e.ctx.Err()
		}
	}
}
