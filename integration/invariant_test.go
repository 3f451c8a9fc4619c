package integration

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longPairs is a number of keys with which a write runs aside (heavyFrom in
// server/dispatch.go) and shortPairs one with which it doesn't.
const (
	longPairs  = 420
	shortPairs = 30
)

// A party lets writers and readers loose on one server. Every function is a
// client that does one step over and over; a step says what it saw that must
// not be.
type party struct {
	addr   string
	before func(w *wire) error // what must be there when it begins
	steps  []func(w *wire) error
}

func (p *party) add(step func(w *wire) error) { p.steps = append(p.steps, step) }

// run ends when the time is over or a step has found something, and says how
// many steps were done.
func (p *party) run(d time.Duration) (steps int64, err error) {
	if p.before != nil {
		w, err := openWire(p.addr, 0)
		if err != nil {
			return 0, err
		}
		defer w.Close()
		if err := p.before(w); err != nil {
			return 0, err
		}
	}
	var stop atomic.Bool
	var n atomic.Int64
	end := time.Now().Add(d)
	err = together(len(p.steps), func(i int) error {
		defer stop.Store(true)
		w, err := openWire(p.addr, 0)
		if err != nil {
			return err
		}
		defer w.Close()
		if err := w.SetDeadline(end.Add(time.Minute)); err != nil {
			return err
		}
		for err == nil && !stop.Load() && time.Now().Before(end) {
			err = p.steps[i](w)
			n.Add(1)
		}
		return err
	})
	return n.Load(), err
}

// broken is what a step returns that saw what must not be.
func broken(format string, args ...any) error { return fmt.Errorf("broken: "+format, args...) }

// expect runs a command whose reply is known.
func (w *wire) expect(want string, args ...string) error {
	got, err := w.do(args...)
	if err == nil && got != want {
		err = broken("%.60s answers %.200s, not %s", strings.Join(args, " "), got, want)
	}
	return err
}

// names returns prefix0, prefix1, ….
func names(prefix string, n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(prefix, i)
	}
	return all
}

// mset is an MSET of the same value to all keys.
func mset(keys []string, value string) []string {
	args := []string{"MSET"}
	for _, k := range keys {
		args = append(args, k, value)
	}
	return args
}

func with(command string, keys ...string) []string { return append([]string{command}, keys...) }

// tokens: so many tokens go from key to key and so from shard to shard by
// RENAME, while long writes put many keys in and take them out again. KEYS and
// DBSIZE see all tokens, each once, and all of the many keys or none.
func tokens(addr string) *party {
	const movers, each, all = 3, 4, 12
	p := &party{addr: addr}
	place := func(m, i, n int) string { return fmt.Sprintf("token:%d:%d:%d", m, i, n) }
	p.before = func(w *wire) error {
		for n := range all {
			if err := w.expect("+OK", "SET", place(n/each, n%each, 0), "x"); err != nil {
				return err
			}
		}
		return nil
	}
	for m := range movers {
		n := 0
		p.add(func(w *wire) error {
			n++
			for i := range each {
				if err := w.expect("+OK", "RENAME", place(m, i, n-1), place(m, i, n)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	many := names("many:", longPairs)
	p.add(func(w *wire) error {
		if err := w.expect("+OK", mset(many, "x")...); err != nil {
			return err
		}
		return w.expect(fmt.Sprint(":", longPairs), with("DEL", many...)...)
	})
	p.add(func(w *wire) error {
		reply, err := w.do("KEYS", "*")
		if err != nil {
			return err
		}
		seen := seenTokens(reply)
		if slices.Sort(seen); len(seen) != all || len(slices.Compact(seen)) != all {
			return broken("KEYS sees the tokens %v", seen)
		}
		if n := len(elements(reply)); n != all && n != all+longPairs {
			return broken("KEYS sees %d keys", n)
		}
		return nil
	})
	p.add(func(w *wire) error {
		reply, err := w.do("DBSIZE")
		if err == nil && reply != fmt.Sprint(":", all) && reply != fmt.Sprint(":", all+longPairs) {
			err = broken("DBSIZE is %s", reply)
		}
		return err
	})
	return p
}

// seenTokens returns the tokens of a reply without where they are.
func seenTokens(reply string) []string {
	var seen []string
	for _, key := range elements(reply) {
		if strings.HasPrefix(key, `"token:`) {
			seen = append(seen, key[:strings.LastIndexByte(key, ':')])
		}
	}
	return seen
}

// equals: MSET of the same value to all keys of a group, by short writes and by
// long ones that set other keys besides; whoever reads the group sees one value,
// read in place or from frozen versions.
func equals(addr string) *party {
	p := &party{addr: addr}
	group, besides := names("group:", shortPairs), names("besides:", longPairs)
	for i := range 2 {
		n := 0
		p.add(func(w *wire) error {
			n++
			return w.expect("+OK", mset(group, fmt.Sprintf("short:%d:%d", i, n))...)
		})
	}
	for i := range 2 {
		n := 0
		p.add(func(w *wire) error {
			n++
			keys := slices.Concat(group[:shortPairs/2], besides, group[shortPairs/2:])
			return w.expect("+OK", mset(keys, fmt.Sprintf("long:%d:%d", i, n))...)
		})
	}
	p.add(func(w *wire) error { return oneValue(w, group, len(group)) })
	p.add(func(w *wire) error { return oneValue(w, slices.Concat(group, besides), len(group)) })
	p.add(func(w *wire) error { return oneValue(w, besides, len(besides)) })
	return p
}

// oneValue reads keys and wants one value for the first n.
func oneValue(w *wire, keys []string, n int) error {
	reply, err := w.do(with("MGET", keys...)...)
	if err != nil {
		return err
	}
	values := elements(reply)[:n]
	if slices.Sort(values); values[0] != values[n-1] {
		return broken("MGET of %d keys sees %q and %q", len(keys), values[0], values[n-1])
	}
	return nil
}

// freshness: what one writer sets comes in order, and what it has an answer for
// is there, for readers in place, from frozen versions, and by GET.
func freshness(addr string) *party {
	p := &party{addr: addr}
	keys := names("fresh:", longPairs)
	var asked, answered atomic.Int64
	p.add(func(w *wire) error {
		n := asked.Add(1)
		some := keys // by turns a long write and a short one
		if n%2 == 0 {
			some = keys[:shortPairs]
		}
		err := w.expect("+OK", mset(some, fmt.Sprint(n))...)
		answered.Store(n)
		return err
	})
	one := func(number int64, least int64) error {
		if most := asked.Load(); number < least || number > most {
			return broken("reads %d when %d to %d were written", number, least, most)
		}
		return nil
	}
	for _, many := range [][]string{keys[:1], keys[:shortPairs], keys} {
		p.add(func(w *wire) error {
			least := answered.Load()
			reply, err := w.do(with("MGET", many...)...)
			if err != nil || least == 0 {
				return err
			}
			return one(number(elements(reply)[0]), least)
		})
	}
	// KEYS must know of a key from the moment that it was set.
	n := 0
	p.add(func(w *wire) error {
		n++
		key := fmt.Sprint("own:", n)
		if err := w.expect("+OK", "SET", key, "x"); err != nil {
			return err
		}
		if err := w.expect(`["`+key+`"]`, "KEYS", "own:*"); err != nil {
			return err
		}
		return w.expect(":1", "DEL", key)
	})
	return p
}

func number(quoted string) int64 {
	n, _ := strconv.ParseInt(strings.Trim(quoted, `"`), 10, 64)
	return n
}

// pages: in a keyspace of one shard a page of SCAN is of one instant, so that
// it shows all keys of a long write or none.
func pages(addr string) *party {
	p := &party{addr: addr}
	many := names("many:", longPairs)
	p.add(func(w *wire) error {
		if err := w.expect("+OK", mset(many, "x")...); err != nil {
			return err
		}
		return w.expect(fmt.Sprint(":", longPairs), with("UNLINK", many...)...)
	})
	n := 0
	p.add(func(w *wire) error { // so that new versions are frozen all the time
		n++
		return w.expect("+OK", "SET", "other", strconv.Itoa(n))
	})
	for _, match := range [][]string{nil, {"MATCH", "many:*"}} {
		p.add(func(w *wire) error {
			reply, err := w.do(append([]string{"SCAN", "0", "COUNT", "100000"}, match...)...)
			if err != nil {
				return err
			}
			if seen := strings.Count(reply, `"many:`); seen != 0 && seen != longPairs {
				return broken("a page shows %d keys of a long write", seen)
			}
			return nil
		})
	}
	return p
}

// counts: EXISTS and GET beside long writes on the same keys wait in line, and
// see all of it.
func counts(addr string) *party {
	p := &party{addr: addr}
	many := names("many:", longPairs)
	p.add(func(w *wire) error {
		if err := w.expect(":1", with("MSETNX", mset(many, "x")[1:]...)...); err != nil {
			return err
		}
		return w.expect(fmt.Sprint(":", longPairs), with("DEL", many...)...)
	})
	p.add(func(w *wire) error {
		reply, err := w.do(with("EXISTS", many...)...)
		if err == nil && reply != ":0" && reply != fmt.Sprint(":", longPairs) {
			err = broken("EXISTS sees %s", reply)
		}
		return err
	})
	first := many[0]
	for range 2 {
		p.add(func(w *wire) error {
			reply, err := w.do("EXISTS", first, many[longPairs-1], many[longPairs/2])
			if err == nil && reply != ":0" && reply != ":3" {
				err = broken("EXISTS of three sees %s", reply)
			}
			return err
		})
	}
	return p
}

// flushes: what empties or exchanges databases waits for a long write, and takes
// all of it or nothing.
func flushes(addr string) *party {
	p := &party{addr: addr}
	many := names("many:", longPairs)
	p.add(func(w *wire) error { return w.expect("+OK", mset(many, "x")...) })
	for _, command := range []string{"FLUSHDB", "FLUSHALL ASYNC", "SWAPDB 0 1", "SWAPDB 1 2"} {
		p.add(func(w *wire) error { return w.expect("+OK", strings.Fields(command)...) })
	}
	p.add(func(w *wire) error {
		reply, err := w.do("KEYS", "*")
		if n := len(elements(reply)); err == nil && n != 0 && n != longPairs {
			err = broken("KEYS sees %d keys", n)
		}
		return err
	})
	p.add(func(w *wire) error {
		reply, err := w.do("DBSIZE")
		if err == nil && reply != ":0" && reply != fmt.Sprint(":", longPairs) {
			err = broken("DBSIZE is %s", reply)
		}
		return err
	})
	return p
}

// invariants are the runs: what must hold, and for how many shards.
func invariants() map[string]func(addr string) *party {
	return map[string]func(addr string) *party{
		"tokens": tokens, "equals": equals, "freshness": freshness, "pages": pages, "counts": counts, "flushes": flushes, "moved": moved,
	}
}

// TestInvariants: what every reader must see while short and long writes go on.
func TestInvariants(t *testing.T) {
	for name, invite := range invariants() {
		for _, shards := range []int{1, 8} {
			if name == "pages" && shards > 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s, %d shards", name, shards), func(t *testing.T) {
				addr := startFirn(t, buildFirn(t), historyOptions(shards)...)
				steps, err := invite(addr).run(budget(t, 3*time.Second))
				t.Logf("%d steps", steps)
				require.NoError(t, err)
				require.Greater(t, steps, int64(100))
				requireAtRest(t, addr)
			})
		}
	}
}

// TestInvariantsFindFaults: servers that make the mistakes that these runs are
// for must be found out.
func TestInvariantsFindFaults(t *testing.T) {
	check := func(fault string, start func(*testing.T, string, ...string) string, shards int, run string) {
		t.Run(fault+" by "+run, func(t *testing.T) {
			p := invariants()[run](start(t, fault, historyOptions(shards)...))
			steps, err := p.run(20 * time.Second)
			require.ErrorContains(t, err, "broken: ", "nobody noticed in %d steps", steps)
			t.Logf("found after %d steps: %v", steps, err)
		})
	}
	check("torn-cut", faultyAside, 8, "tokens")
	check("torn-cut", faultyAside, 8, "equals")
	check("torn-cut", faulty, 8, "equals")
	check("stale-version", faultyAside, 8, "freshness")
	check("stale-version", faulty, 8, "freshness")
	check("reply-first", faulty, 8, "freshness")
	check("torn-cut", faultyAside, 8, "moved")
	check("torn-cut", faulty, 8, "moved")
	check("no-splice", faulty, 8, "tokens")
	check("no-splice", faulty, 1, "pages")
	check("no-lock", faulty, 8, "equals")
	check("no-lock", faulty, 8, "counts")
	check("no-lock", faulty, 8, "flushes")
}
