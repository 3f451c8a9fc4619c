package main

import (
	"fmt"
	"math"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// typeTests are redis-benchmark's tests of collections, with the names of their lines. XADD is a command of its own there.
func typeTests() [][2]string {
	return [][2]string{
		{"lpush", "LPUSH"}, {"rpush", "RPUSH"}, {"lpop", "LPOP"}, {"rpop", "RPOP"}, {"sadd", "SADD"}, {"hset", "HSET"}, {"spop", "SPOP"},
		{"zadd", "ZADD"}, {"zpopmin", "ZPOPMIN"}, {"lrange_100", "LRANGE_100 (first 100 elements)"},
		{"lrange_300", "LRANGE_300 (first 300 elements)"}, {"lrange_600", "LRANGE_600 (first 600 elements)"}, {"mset", "MSET (10 keys)"},
		{"xadd", ""},
	}
}

const (
	typesRequests = 1_000_000 // with a pipeline; a tenth of them without, or of long replies
	typesRandom   = 1_000_000
)

// runTypes asks redis-benchmark for all types, each test on one server right after the other.
func runTypes(b *bench, t *Table) error {
	path, err := exec.LookPath("redis-benchmark")
	if err != nil {
		return b.failed(t, "all", err)
	}
	t.Note("redis-benchmark, 50 connections, %d random keys; the mean of the ratios is the geometric one.", b.opt.scaled(typesRandom))
	return b.together(t, func(*server) error { return nil }, func(live []*server) error {
		for _, depth := range []int{1, 16} {
			if err := b.typesAt(t, path, live, depth); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) typesAt(t *Table, path string, live []*server, depth int) error {
	logs := make([]float64, len(live))
	for _, test := range typeTests() {
		row := fmt.Sprintf("%s, %d deep", strings.ToUpper(test[0]), depth)
		for i, s := range live {
			b.step("%s: %s", s.name, row)
			rps, err := b.typeTest(path, s, test, depth)
			if b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			if err != nil {
				t.Fail(row, s.name, reason(err))
				continue
			}
			t.Add(row, "ops/s", perSecond, s.name, rps)
			logs[i] += math.Log(rps)
		}
	}
	for i, s := range live {
		t.Add(fmt.Sprintf("geometric mean, %d deep", depth), "ops/s", perSecond, s.name, math.Exp(logs[i]/float64(len(typeTests()))))
	}
	return nil
}

func (b *bench) typeTest(path string, s *server, test [2]string, depth int) (float64, error) {
	host, port, err := net.SplitHostPort(s.addr)
	if err != nil {
		return 0, err
	}
	n := b.opt.scaled(typesRequests)
	if depth == 1 || strings.HasPrefix(test[0], "lrange") {
		n /= 10
	}
	args := []string{"-h", host, "-p", port, "-n", strconv.Itoa(max(n, 100)), "-P", strconv.Itoa(depth), "-r", strconv.Itoa(b.opt.scaled(typesRandom)), "--csv"}
	name := test[1]
	if name == "" {
		args = append(args, "XADD", "mystream", "*", "myfield", "xxx")
		name = strings.Join(args[len(args)-5:], " ")
	} else {
		args = append(args, "-t", test[0])
	}
	out, err := exec.CommandContext(b.ctx, path, args...).Output()
	if err != nil {
		return 0, fmt.Errorf("redis-benchmark: %w: %s", err, out)
	}
	fields, err := parseBenchmark(string(out), name)
	return fields["rps"], err
}

const (
	weighElements = 1_000_000
	weighKeys     = 1_000_000 // small hashes
)

// heldValue is a value of one type, with a command whose reply shows all of it and one that changes it.
type heldValue struct {
	bigValue
	read, write []string
}

func heldValues(n int) []heldValue {
	set := func(i int, dst []byte) []byte { return appendCommand(dst, "SADD", e1Key, strconv.Itoa(i)) }
	var held []heldValue
	for _, v := range bigValues(n) {
		h := heldValue{bigValue: v}
		switch v.name {
		case "hash":
			h.read, h.write = []string{"HGETALL", e1Key}, []string{"HSET", e1Key, "test1", "x"}
		case "set":
			h.bigValue = bigValue{"set of integers", n, set}
			h.read, h.write = []string{"SMEMBERS", e1Key}, []string{"SADD", e1Key, "x"}
		case "sorted set":
			h.read, h.write = []string{"ZRANGE", e1Key, "0", "-1", "WITHSCORES"}, []string{"ZADD", e1Key, "7", "x"}
		case "list":
			h.read, h.write = []string{"LRANGE", e1Key, "0", "-1"}, []string{"LSET", e1Key, strconv.Itoa(n / 2), "x"}
		case "stream":
			h.read, h.write = []string{"XRANGE", e1Key, "-", "+"}, []string{"XADD", e1Key, "*", "a", "x"}
		case "string":
			h.read, h.write = []string{"GET", e1Key}, []string{"SETRANGE", e1Key, "1000000", "x"}
		}
		held = append(held, h)
	}
	return held
}

// runWeigh weighs a value of each type, and times the first write to it while somebody who does not read holds an old version of it.
func runWeigh(b *bench, t *Table) error {
	n := b.opt.scaled(weighElements)
	t.Note("%d elements each; the first write comes while another client has asked for the whole value and does not read the reply.", n)
	return b.alone(t, func(s *server) error {
		if err := b.weighSmall(t, s); err != nil {
			return err
		}
		for _, v := range heldValues(n) {
			if err := b.weighHeld(t, s, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// weighSmall weighs many small hashes.
func (b *bench) weighSmall(t *Table, s *server) error {
	n := b.opt.scaled(weighKeys)
	before, err := b.weigh(s)
	if err != nil {
		return err
	}
	c, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer c.close()
	next := func(i int, dst []byte) []byte {
		k := strconv.Itoa(i)
		return appendCommand(dst, "HSET", "user:"+k, "name", "name"+k, "email", "user"+k+"@example.com", "age", strconv.Itoa(i%100), "city", "Berlin", "visits", k)
	}
	if err := c.pipeline(n, 500, next, b.countTo(s, "small hashes", n)); err != nil {
		return err
	}
	if err := b.addWeight(t, s, fmt.Sprintf("%d hashes of 5 fields", n), before); err != nil {
		return err
	}
	_, err = s.admin.do("FLUSHALL")
	return err
}

func (b *bench) addWeight(t *Table, s *server, row string, before weight) error {
	if err := b.sleep(b.opt.settle); err != nil {
		return err
	}
	after, err := b.weigh(s)
	if err != nil {
		return err
	}
	t.Add(row, "used_memory grows", mebibytes, s.name, after.used-before.used)
	t.Add(row, "rss grows", mebibytes, s.name, after.rss-before.rss)
	return nil
}

func (b *bench) weighHeld(t *Table, s *server, v heldValue) error {
	before, err := b.weigh(s)
	if err != nil {
		return err
	}
	if err := b.makeBig(t, s, v.bigValue, before, false); err != nil {
		return err
	}
	if err := b.addWeight(t, s, v.name, before); err != nil {
		return err
	}
	holder, err := dial(s.addr)
	if err != nil {
		return err
	}
	defer holder.close()
	if err := holder.send(appendCommand(nil, v.read...)); err != nil {
		return err
	}
	if err := b.sleep(b.opt.settle / 4); err != nil {
		return err
	}
	began := time.Now()
	if _, err := s.admin.do(v.write...); err != nil {
		return err
	}
	t.Add(v.name, "first write", millis, s.name, inMillis(time.Since(began)))
	_, err = s.admin.do("FLUSHALL")
	return err
}
