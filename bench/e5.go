package main

import (
	"strconv"
	"sync/atomic"
	"time"
)

const (
	// The report had 14 M; half as many again, so that a server which needs
	// less memory a key reaches the limit too.
	e5Keys   = 21_000_000
	e5Memory = 1 << 30
	e5Value  = 20
)

// binsPerSecond is how fine inserts are counted. The worst second is the worst of all runs of so many bins, wherever it begins.
const binsPerSecond = 10

// evictionSample is what the watcher sees ten times a second.
type evictionSample struct {
	at            time.Duration
	size, evicted int64
	used          float64
}

func runE5(b *bench, t *Table) error {
	n, limit := b.opt.scaled(e5Keys), b.opt.scaled(e5Memory)
	t.Note("%d SETs of keys of %d bytes and values of %d, maxmemory %d MiB, allkeys-lru. Inserts from the first eviction on; "+
		"evicted/needed: against inserts less DBSIZE at the first eviction.", n, keyLen, e5Value, limit>>20)
	return b.alone(t, func(s *server) error { return b.e5(t, s, n, limit) })
}

func (b *bench) e5(t *Table, s *server, n, limit int) error {
	for _, args := range [][]string{
		{"SET", probeKey, "1"},
		{"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"},
		{"CONFIG", "SET", "maxmemory", strconv.Itoa(limit)},
	} {
		if _, err := s.admin.do(args...); err != nil {
			return err
		}
	}
	if err := b.probeIdle(t, s); err != nil {
		return err
	}
	var stop atomic.Bool
	var samples []evictionSample
	watched := make(chan error, 1)
	began := time.Now()
	go func() {
		var err error
		samples, err = watchEviction(s.addr, began, &stop)
		watched <- err
	}()
	const row = "SETs at the limit"
	var bins []int
	var took time.Duration
	err := b.withProbe(t, row, s, func() error {
		var err error
		bins, err = b.insert(s, n, began)
		took = time.Since(began)
		return err
	})
	stop.Store(true)
	if watchErr := <-watched; err == nil {
		err = watchErr
	}
	if err != nil {
		return err
	}
	return b.addEviction(t, row, s, eviction{n: n, limit: float64(limit), bins: bins, samples: samples, took: took})
}

// insert sends the SETs and returns how many were answered in each bin since began.
func (b *bench) insert(s *server, n int, began time.Time) ([]int, error) {
	c, err := dial(s.addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var bins []int
	value := make([]byte, e5Value)
	var key []byte
	next := func(i int, dst []byte) []byte {
		key = appendKey(key[:0], uint64(i))
		return appendSet(dst, key, value)
	}
	last, show := 0, b.countTo(s, "SET", n)
	err = c.pipeline(n, 200, next, func(done int) {
		bin := int(time.Since(began) * binsPerSecond / time.Second)
		for len(bins) <= bin {
			bins = append(bins, 0)
		}
		bins[bin] += done - last
		last = done
		show(done)
	})
	return bins, err
}

// watchEviction samples until stop is set, and once more. It has its own connection, and is stalled like any client.
func watchEviction(addr string, began time.Time, stop *atomic.Bool) ([]evictionSample, error) {
	c, err := dial(addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	var samples []evictionSample
	for last := false; !last; {
		last = stop.Load()
		s, err := sampleEviction(c)
		if err != nil {
			return samples, err
		}
		s.at = time.Since(began)
		samples = append(samples, s)
		if !last {
			time.Sleep(100 * time.Millisecond)
		}
	}
	return samples, nil
}

func sampleEviction(c *client) (s evictionSample, err error) {
	info, err := c.info("all")
	if err != nil {
		return s, err
	}
	if s.evicted, err = strconv.ParseInt(info["evicted_keys"], 10, 64); err != nil {
		return s, err
	}
	if s.used, err = strconv.ParseFloat(info["used_memory"], 64); err != nil {
		return s, err
	}
	s.size, err = c.number("DBSIZE")
	return s, err
}

// eviction is all that was seen of one run.
type eviction struct {
	n       int
	limit   float64
	bins    []int
	samples []evictionSample
	took    time.Duration
}

// reached is the first sample that shows an eviction; false if there is none.
func (v eviction) reached() (int, bool) {
	for i, s := range v.samples {
		if s.evicted > 0 {
			return i, true
		}
	}
	return 0, false
}

// rates returns the inserts in the worst second after the given time, and the mean.
func (v eviction) rates(from time.Duration) (worst, mean float64) {
	first := min(int(from*binsPerSecond/time.Second)+1, len(v.bins)-1)
	after := v.bins[first:]
	if len(after) > 1 {
		after = after[:len(after)-1] // the last bin is not full
	}
	width := min(binsPerSecond, len(after))
	total, sum := 0, 0
	least := -1
	for i, k := range after {
		total += k
		sum += k
		if i >= width {
			sum -= after[i-width]
		}
		if i >= width-1 && (least < 0 || sum < least) {
			least = sum
		}
	}
	scale := float64(binsPerSecond)
	return float64(least) * scale / float64(width), float64(total) * scale / float64(len(after))
}

func (b *bench) addEviction(t *Table, row string, s *server, v eviction) error {
	name := s.name
	t.Add(row, "all inserts/s, mean", perSecond, name, float64(v.n)/v.took.Seconds())
	end := v.samples[len(v.samples)-1]
	i, ok := v.reached()
	if !ok {
		t.Fail("eviction", name, "n/a (nothing was evicted)")
		return nil
	}
	worst, mean := v.rates(v.samples[i].at)
	t.Add(row, "inserts/s, worst second", perSecond, name, worst)
	t.Add(row, "inserts/s, mean", perSecond, name, mean)
	t.Add(row, "worst/mean", factor, name, worst/mean)
	most, least, used := int64(0), v.samples[i].size, 0.0
	for _, x := range v.samples[i:] {
		most, least, used = max(most, x.size), min(least, x.size), max(used, x.used)
	}
	most = max(most, v.samples[max(i-1, 0)].size)
	t.Add(row, "DBSIZE, most", count, name, float64(most))
	t.Add(row, "DBSIZE, least after", count, name, float64(least))
	t.Add(row, "evicted", count, name, float64(end.evicted))
	needed := float64(v.n) - float64(most)
	t.Add(row, "evicted/needed", factor, name, float64(end.evicted)/max(needed, 1))
	t.Add(row, "lost without eviction", count, name, float64(int64(v.n)+1-end.size-end.evicted))
	t.Add(row, "used/maxmemory, worst", factor, name, used/v.limit)
	w, err := b.weigh(s)
	t.Add(row, "peak rss", mebibytes, name, w.peak)
	return err
}
