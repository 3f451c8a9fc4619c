package main

import (
	"errors"
	"slices"
	"strconv"
	"time"
)

const (
	e1Elements = 5_000_000
	e1Key      = "ligkey"
	e1Chunk    = 1 << 20 // bytes that the big string grows by at a time

	// e1Back is how long after a DEL the memory must be back.
	e1Back = 10 * time.Second

	e1Patience = 100 * time.Second
)

// removal is one way in which a big key goes away.
type removal struct {
	name string
	do   func(c *client) error
}

func removals() []removal {
	command := func(args ...string) func(c *client) error {
		return func(c *client) error {
			_, err := c.do(args...)
			return err
		}
	}
	return []removal{
		{"DEL", command("DEL", e1Key)},
		{"UNLINK", command("UNLINK", e1Key)},
		{"PEXPIRE", expireAndWait},
		{"SET over it", command("SET", e1Key, "x")},
		{"RENAME over it", command("RENAME", "small", e1Key)},
		{"eviction", evict},
		{"FLUSHALL", command("FLUSHALL")},
	}
}

// expireAndWait waits by DBSIZE, which unlike EXISTS does not itself expire the key.
func expireAndWait(c *client) error {
	before, err := c.number("DBSIZE")
	if err != nil {
		return err
	}
	if _, err := c.do("PEXPIRE", e1Key, "1"); err != nil {
		return err
	}
	return untilFewer(c, before)
}

// evict makes the big key the only one that may be evicted, and then the limit so low that it must be.
func evict(c *client) error {
	before, err := c.number("DBSIZE")
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"EXPIRE", e1Key, "100000"}, {"CONFIG", "SET", "maxmemory-policy", "volatile-ttl"}, {"CONFIG", "SET", "maxmemory", "1"},
	} {
		if _, err := c.do(args...); err != nil {
			return err
		}
	}
	_, _ = c.do("SET", "small", "y") // a write pays for the eviction; it may be refused
	if err := untilFewer(c, before); err != nil {
		return err
	}
	_, err = c.do("CONFIG", "SET", "maxmemory", "0")
	return err
}

// untilFewer waits until DBSIZE has fallen below before.
func untilFewer(c *client, before int64) error {
	for range int(e1Patience / time.Millisecond) {
		now, err := c.number("DBSIZE")
		if err != nil || now < before {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return errors.New("the big key does not go away")
}

// bigValue is a value of one type, made by n commands that are pipelined.
type bigValue struct {
	name string
	n    int
	next func(i int, dst []byte) []byte
}

func bigValues(n int) []bigValue {
	var field, value []byte
	number := func(i int) {
		field = strconv.AppendInt(append(field[:0], "test"...), int64(i), 10)
		value = strconv.AppendInt(append(value[:0], "test67890"...), int64(i), 10)
	}
	chunk := make([]byte, e1Chunk)
	return []bigValue{
		{"hash", n, func(i int, dst []byte) []byte {
			number(i)
			return appendArg(appendArg(appendArg(append(dst, "*4\r\n$4\r\nHSET\r\n"...), e1Key), field), value)
		}},
		{"set", n, func(i int, dst []byte) []byte {
			number(i)
			return appendArg(appendArg(append(dst, "*3\r\n$4\r\nSADD\r\n"...), e1Key), value)
		}},
		{"sorted set", n, func(i int, dst []byte) []byte {
			number(i)
			return appendArg(appendArg(appendArg(append(dst, "*4\r\n$4\r\nZADD\r\n"...), e1Key), field[4:]), value)
		}},
		{"list", n, func(i int, dst []byte) []byte {
			number(i)
			return appendArg(appendArg(append(dst, "*3\r\n$5\r\nRPUSH\r\n"...), e1Key), value)
		}},
		{"stream", n, func(i int, dst []byte) []byte {
			number(i)
			dst = appendArg(append(dst, "*5\r\n$4\r\nXADD\r\n"...), e1Key)
			return appendArg(appendArg(append(dst, "$1\r\n*\r\n"...), "field"), value)
		}},
		{"string", max(n*27/e1Chunk, 2), func(_ int, dst []byte) []byte {
			return appendArg(appendArg(append(dst, "*3\r\n$6\r\nAPPEND\r\n"...), e1Key), chunk)
		}},
	}
}

func runE1(b *bench, t *Table) error {
	n := b.opt.scaled(e1Elements)
	t.Note("%d elements (hash: fields test<i> with values test67890<i>; string: as many bytes), made anew for each row; PEXPIRE and eviction take until DBSIZE falls.", n)
	return b.alone(t, func(s *server) error { return b.e1(t, s, n) })
}

func (b *bench) e1(t *Table, s *server, n int) error {
	if _, err := s.admin.do("SET", probeKey, "1"); err != nil {
		return err
	}
	if err := b.probeIdle(t, s); err != nil {
		return err
	}
	for _, v := range bigValues(n) {
		if !slices.Contains(b.opt.e1, v.name) {
			continue
		}
		for i, r := range removals() {
			if err := b.e1Row(t, s, v, r, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// e1Row makes the value and removes it; weigh adds what it took and what of that stays.
func (b *bench) e1Row(t *Table, s *server, v bigValue, r removal, weigh bool) error {
	for _, key := range []string{"small", probeKey} {
		if _, err := s.admin.do("SET", key, "1"); err != nil {
			return err
		}
	}
	before, err := b.weigh(s)
	if err != nil {
		return err
	}
	if err := b.makeBig(t, s, v, before, weigh); err != nil {
		return err
	}
	b.step("%s: %s, %s", s.name, v.name, r.name)
	row := v.name + ", " + r.name
	var took time.Duration
	err = b.withProbe(t, row, s, func() error {
		began := time.Now()
		err := r.do(s.admin)
		took = time.Since(began)
		return errors.Join(err, b.sleep(b.opt.idle/4)) // what is freed later may stall as well
	})
	if err != nil {
		return err
	}
	t.Add(row, "takes", millis, s.name, inMillis(took))
	if weigh {
		if err := b.sleep(min(e1Back, 20*b.opt.settle)); err != nil {
			return err
		}
		after, err := b.weigh(s)
		if err != nil {
			return err
		}
		t.Add(v.name, "rss left 10 s after DEL", mebibytes, s.name, after.rss-before.rss)
	}
	_, err = s.admin.do("DEL", e1Key)
	return err
}

// makeBig makes the big value; weigh adds what it takes.
func (b *bench) makeBig(t *Table, s *server, v bigValue, before weight, weigh bool) error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	batch := 500
	if v.name == "string" {
		batch = 1
	}
	if err := c.pipeline(v.n, batch, v.next, b.countTo(s, v.name, v.n)); err != nil || !weigh {
		return err
	}
	if err := b.sleep(b.opt.settle); err != nil {
		return err
	}
	after, err := b.weigh(s)
	if err != nil {
		return err
	}
	t.Add(v.name, "used_memory grows", mebibytes, s.name, after.used-before.used)
	t.Add(v.name, "rss grows", mebibytes, s.name, after.rss-before.rss)
	return nil
}
