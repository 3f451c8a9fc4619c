package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// pubsubRow is one row of publishing: so many publishers, each with so many PUBLISHes in flight, to the same subscribers.
type pubsubRow struct {
	publishers, depth, subscribers, size int
	patterns                             int // that do not match, of one more client
}

func (r pubsubRow) String() string {
	s := fmt.Sprintf("%d publishers %d deep, %d subscribers, %d bytes", r.publishers, r.depth, r.subscribers, r.size)
	if r.patterns > 0 {
		s += fmt.Sprintf(", %d patterns", r.patterns)
	}
	return s
}

func pubsubRows() []pubsubRow {
	return []pubsubRow{
		{1, 1, 50, 64, 0}, {1, 64, 50, 64, 0}, {1, 64, 50, 4096, 0}, {4, 32, 1, 64, 0}, {4, 32, 1, 64, 10_000},
	}
}

func runPubsub(b *bench, t *Table) error {
	t.Note("messages that reach a subscriber, and how long after they were sent; the bytes hold the time.")
	nothing := func(*server) error { return nil }
	return b.together(t, nothing, func(live []*server) error {
		for _, r := range pubsubRows() {
			for _, s := range live {
				b.step("%s: %s", s.name, r)
				if err := b.pubsub(t, r, s); err != nil {
					t.Fail(r.String(), s.name, reason(err))
				}
			}
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
		}
		return nil
	})
}

// A pubsubLoad is the connections of one row.
type pubsubLoad struct {
	row    pubsubRow
	stop   atomic.Bool
	ended  sync.WaitGroup
	mu     sync.Mutex
	waits  Histogram
	got    atomic.Int64 // messages
	failed error
	conns  []net.Conn
}

// windowsMost is for how many windows messages may stay away.
const windowsMost = 50

func (b *bench) pubsub(t *Table, r pubsubRow, s *server) error {
	l := &pubsubLoad{row: r}
	defer l.close()
	if err := l.start(s.addr); err != nil {
		return err
	}
	for l.got.Load() == 0 {
		if err := b.sleep(b.opt.window / 4); err != nil {
			return err
		}
	}
	cpu, got, began := procCPU(s.pid), l.got.Load(), time.Now()
	// With many patterns a pipeline can take longer than a short window.
	for range windowsMost {
		if err := b.sleep(b.opt.window); err != nil {
			return err
		}
		if l.got.Load() > got {
			break
		}
	}
	n := float64(l.got.Load() - got)
	rate, used := n/time.Since(began).Seconds(), procCPU(s.pid)-cpu
	l.stop.Store(true)
	l.close()
	if l.failed != nil {
		return l.failed
	}
	if n == 0 {
		return errors.New("nothing arrived")
	}
	row := r.String()
	t.Add(row, "delivered/s", perSecond, s.name, rate)
	t.Add(row, "p50", millis, s.name, inMillis(l.waits.Quantile(.5)))
	t.Add(row, "p99", millis, s.name, inMillis(l.waits.Quantile(.99)))
	if s.pid != 0 {
		t.Add(row, "server CPU a message", micros, s.name, inMicros(used)/n)
	}
	return nil
}

func (l *pubsubLoad) start(addr string) error {
	for range l.row.subscribers {
		if err := l.subscribe(addr); err != nil {
			return err
		}
	}
	if l.row.patterns > 0 {
		args := []string{"PSUBSCRIBE"}
		for i := range l.row.patterns {
			args = append(args, fmt.Sprintf("user:%d:*", i))
		}
		c, err := l.dial(addr, appendCommand(nil, args...))
		if err != nil {
			return err
		}
		l.ended.Go(func() { _, _ = io.Copy(io.Discard, c) })
	}
	for range l.row.publishers {
		c, err := l.dial(addr, nil)
		if err != nil {
			return err
		}
		l.ended.Go(func() { l.publish(c) })
	}
	return nil
}

func (l *pubsubLoad) dial(addr string, first []byte) (net.Conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	l.conns = append(l.conns, c)
	_, err = c.Write(first)
	return c, err
}

func (l *pubsubLoad) subscribe(addr string) error {
	c, err := l.dial(addr, appendCommand(nil, "SUBSCRIBE", "news"))
	if err != nil {
		return err
	}
	answer := make([]byte, len("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"))
	if _, err := io.ReadFull(c, answer); err != nil {
		return err
	}
	l.ended.Go(func() { l.read(c) })
	return nil
}

// read counts the messages, and times the first of each read.
func (l *pubsubLoad) read(c net.Conn) {
	size := len("*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$\r\n\r\n") + len(strconv.Itoa(l.row.size)) + l.row.size
	buf, have := make([]byte, 256<<10), 0
	var h Histogram
	for {
		n, err := c.Read(buf[have:])
		if err != nil {
			break
		}
		have += n
		whole := have / size
		if whole > 0 {
			text := buf[size-l.row.size-2:]
			digits, _, _ := bytes.Cut(text, []byte{'x'})
			sent, _ := strconv.ParseInt(string(digits), 10, 64)
			h.Add(time.Duration(time.Now().UnixNano() - sent))
			l.got.Add(int64(whole))
			have = copy(buf, buf[whole*size:have])
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waits.Merge(&h)
	if !l.stop.Load() {
		l.failed = errors.New("a subscriber lost its connection")
	}
}

func (l *pubsubLoad) publish(c net.Conn) {
	answer := len(":\r\n") + len(strconv.Itoa(l.row.subscribers))
	in := make([]byte, l.row.depth*answer)
	text := bytes.Repeat([]byte{'x'}, l.row.size)
	var out []byte
	for !l.stop.Load() {
		out = out[:0]
		for range l.row.depth {
			strconv.AppendInt(text[:0], time.Now().UnixNano(), 10)
			out = appendCommand(out, "PUBLISH", "news", string(text))
		}
		if _, err := c.Write(out); err != nil {
			return
		}
		if _, err := io.ReadFull(c, in); err != nil {
			return
		}
	}
}

func (l *pubsubLoad) close() {
	l.stop.Store(true)
	for _, c := range l.conns {
		_ = c.Close()
	}
	l.ended.Wait()
}
