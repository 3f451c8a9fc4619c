package main

import (
	"strconv"
	"time"
)

const e3Members = 500_000

// e3Commands are run on two sets, and two sorted sets, that share half their members.
func e3Commands() [][]string {
	return [][]string{
		{"SDIFF", "a", "b"},
		{"SINTERSTORE", "dst", "a", "b"},
		{"SUNIONSTORE", "dst", "a", "b"},
		{"SORT", "a", "ALPHA"},
		{"SMEMBERS", "a"},
		{"ZUNIONSTORE", "zdst", "2", "za", "zb"},
		{"ZRANGE", "za", "0", "-1"},
		{"HGETALL", "h"},
		{"LRANGE", "l", "0", "-1"},
	}
}

// e3Values are what the commands work on, each filled by n commands from a first member on.
func e3Values(n int) []e3Value {
	return []e3Value{
		{0, func(i int, dst []byte) []byte { return appendCommand(dst, "SADD", "a", member(i)) }},
		{n / 2, func(i int, dst []byte) []byte { return appendCommand(dst, "SADD", "b", member(i)) }},
		{0, func(i int, dst []byte) []byte { return appendCommand(dst, "ZADD", "za", strconv.Itoa(i), member(i)) }},
		{n / 2, func(i int, dst []byte) []byte { return appendCommand(dst, "ZADD", "zb", strconv.Itoa(i), member(i)) }},
		{0, func(i int, dst []byte) []byte { return appendCommand(dst, "HSET", "h", member(i), strconv.Itoa(i)) }},
		{0, func(i int, dst []byte) []byte { return appendCommand(dst, "RPUSH", "l", member(i)) }},
	}
}

type e3Value struct {
	from int
	add  func(i int, dst []byte) []byte
}

func runE3(b *bench, t *Table) error {
	n := b.opt.scaled(e3Members)
	t.Note("EXEC takes from sending EXEC to the end of its reply of %d; its probe also runs while the commands are queued.", n)
	return b.alone(t, func(s *server) error { return b.e3(t, s, n) })
}

func (b *bench) e3(t *Table, s *server, n int) error {
	if _, err := s.admin.do("SET", probeKey, "1"); err != nil {
		return err
	}
	if err := b.probeIdle(t, s); err != nil {
		return err
	}
	sadd := func(i int, dst []byte) []byte { return appendCommand(dst, "SADD", "tx", member(i)) }
	set := func(i int, dst []byte) []byte { return appendCommand(dst, "SET", member(i), "1") }
	b.e3Exec(t, s, "MULTI, SADD each, EXEC", n, sadd)
	b.e3Exec(t, s, "MULTI, SET each, EXEC", n, set)
	for _, v := range e3Values(n) {
		err := b.e3Fill(s, n, func(i int, dst []byte) []byte { return v.add(v.from+i, dst) })
		if err != nil {
			for _, args := range e3Commands() {
				t.Fail(args[0], s.name, reason(err))
			}
			return nil
		}
	}
	for _, args := range e3Commands() {
		b.step("%s: %s", s.name, args[0])
		b.e3Row(t, s, args[0], func() (time.Duration, error) {
			began := time.Now()
			_, err := s.admin.do(args...)
			return time.Since(began), err
		})
	}
	return nil
}

func member(i int) string { return "/pub/linux/file" + strconv.Itoa(i) }

// e3Row runs one command beside a probe and adds how long it took, or why it did not run.
func (b *bench) e3Row(t *Table, s *server, row string, do func() (time.Duration, error)) {
	var took time.Duration
	err := b.withProbe(t, row, s, func() error {
		var err error
		took, err = do()
		return err
	})
	if err != nil {
		t.Fail(row, s.name, reason(err))
		return
	}
	t.Add(row, "takes", millis, s.name, inMillis(took))
}

func (b *bench) e3Fill(s *server, n int, next func(int, []byte) []byte) error {
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	return c.pipeline(n, 500, next, b.countTo(s, "filling", n))
}

func (b *bench) e3Exec(t *Table, s *server, row string, n int, next func(int, []byte) []byte) {
	b.e3Row(t, s, row, func() (time.Duration, error) {
		c, err := dial(s.addr)
		if err != nil {
			return 0, err
		}
		defer c.close()
		if _, err := c.do("MULTI"); err != nil {
			return 0, err
		}
		if err := c.pipeline(n, 500, next, b.countTo(s, row, n)); err != nil {
			return 0, err
		}
		began := time.Now()
		_, err = c.do("EXEC")
		return time.Since(began), err
	})
}
