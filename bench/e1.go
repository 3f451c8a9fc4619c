package main

import (
	"errors"
	"strconv"
	"time"
)

const (
	e1Fields = 5_000_000
	e1Key    = "ligkey"
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
	for {
		now, err := c.number("DBSIZE")
		if err != nil || now < before {
			return err
		}
		time.Sleep(time.Millisecond)
	}
}

func runE1(b *bench, t *Table) error {
	n := b.opt.scaled(e1Fields)
	t.Note("a hash of %d fields test<i> with values test67890<i>, made anew for each row; PEXPIRE takes until DBSIZE falls.", n)
	return b.alone(t, func(s *server) error { return b.e1(t, s, n) })
}

func (b *bench) e1(t *Table, s *server, n int) error {
	if _, err := s.admin.do("SET", probeKey, "1"); err != nil {
		return err
	}
	if err := b.probeIdle(t, s); err != nil {
		return err
	}
	for i, r := range removals() {
		if _, err := s.admin.do("SET", "small", "x"); err != nil {
			return err
		}
		if err := b.makeHash(t, s, n, i == 0); err != nil {
			return err
		}
		b.step("%s: %s", s.name, r.name)
		var took time.Duration
		err := b.withProbe(t, r.name, s, func() error {
			began := time.Now()
			err := r.do(s.admin)
			took = time.Since(began)
			return errors.Join(err, b.sleep(b.opt.idle/4)) // what is freed later may stall as well
		})
		if err != nil {
			return err
		}
		t.Add(r.name, "takes", millis, s.name, inMillis(took))
		if _, err := s.admin.do("DEL", e1Key); err != nil {
			return err
		}
	}
	return nil
}

// makeHash makes the big hash; weigh adds what it takes.
func (b *bench) makeHash(t *Table, s *server, n int, weigh bool) error {
	before, err := b.weigh(s)
	if err != nil {
		return err
	}
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	bytes, field, value := 0, []byte("test"), []byte("test67890")
	next := func(i int, dst []byte) []byte {
		field = strconv.AppendInt(field[:4], int64(i), 10)
		value = strconv.AppendInt(value[:9], int64(i), 10)
		bytes += len(field) + len(value)
		dst = append(dst, "*4\r\n$4\r\nHSET\r\n"...)
		dst = appendArg(dst, e1Key)
		return appendArg(appendArg(dst, field), value)
	}
	if err := c.pipeline(n, 500, next, b.countTo(s, "HSET", n)); err != nil || !weigh {
		return err
	}
	if err := b.sleep(b.opt.settle); err != nil {
		return err
	}
	after, err := b.weigh(s)
	if err != nil {
		return err
	}
	const row = "the hash"
	t.Add(row, "fields and values", mebibytes, s.name, float64(bytes))
	t.Add(row, "used_memory grows", mebibytes, s.name, after.used-before.used)
	t.Add(row, "rss grows", mebibytes, s.name, after.rss-before.rss)
	return nil
}
