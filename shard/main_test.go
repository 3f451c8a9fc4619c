package shard

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

var seedFlag = flag.Uint64("seed", 0, "seed of the random tests; 0: a new one each")

func TestMain(m *testing.M) {
	before := runtime.NumGoroutine()
	code := m.Run()
	if code == 0 && leaked(before) {
		code = 1
	}
	os.Exit(code)
}

// leaked says whether goroutines are left after the tests, and which.
func leaked(before int) bool {
	for end := time.Now().Add(2 * time.Second); runtime.NumGoroutine() > before; {
		if time.Now().After(end) {
			fmt.Fprintln(os.Stderr, "goroutines are left after the tests:")
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
			return true
		}
		runtime.Gosched()
	}
	return false
}

// harness is a Set with a clock that stands until it is moved.
type harness struct {
	*Set
	now  atomic.Int64
	seed uint64
}

// newHarness returns a set; when the test ends its structure must be sound and
// nothing pinned, held, waiting or running.
func newHarness(t testing.TB, shards int) *harness {
	h := &harness{seed: *seedFlag}
	if h.seed == 0 {
		h.seed = rand.Uint64()
	}
	t.Logf("replay with -seed %d", h.seed)
	h.now.Store(1_000_000)
	var mu sync.Mutex
	random := h.rand(0)
	h.Set = New(Config{
		Shards: shards, Databases: 2, Hash: mvcc.Seed{h.seed, 1}.Hasher(), HeavyThreads: 2,
		Clock: h.now.Load,
		Rand: func() uint64 {
			mu.Lock()
			defer mu.Unlock()
			return random.Uint64()
		},
	})
	t.Cleanup(func() {
		h.Heavy.Close()
		hold := h.NewHold()
		hold.WantAll()
		require.Nil(t, hold.Take(true), "a long write is under way")
		hold.Give()
		require.NoError(t, h.Space.Check())
		require.Zero(t, h.Space.Pins())
		n, _ := h.Pins()
		require.Zero(t, n, "cuts are open")
		var used int64
		for _, sh := range h.shards {
			require.Empty(t, sh.locks)
			used += sh.store.Used()
		}
		require.Equal(t, used, h.Used(), "the account of used memory")
		h.Set.rest()
		u := h.Usage(nil)
		require.Equal(t, u.Live-u.Records+u.Segments, h.Taken())
	})
	return h
}

// rand returns the source of random numbers of one goroutine of the test.
func (h *harness) rand(n uint64) *rand.Rand { return rand.New(rand.NewPCG(h.seed, n)) }

// client runs small commands as a session does.
type client struct {
	s *harness
	h *Hold
}

func (h *harness) client() *client { return &client{h, h.NewHold()} }

// write runs f with the shards of the keys, waiting for long writes, and
// journals the effects that it returns.
func (c *client) write(f func(tx *mvcc.Tx) []Effect, keys ...string) {
	for {
		c.h.Reset()
		for _, k := range keys {
			c.h.Want([]byte(k))
		}
		l := c.h.Take(false)
		if l == nil {
			break
		}
		gone := make(chan struct{})
		l.Wait(func() { close(gone) })
		<-gone
	}
	defer c.h.Give()
	now := c.s.now.Load()
	c.h.Tx.Begin(c.s.Space, 0, now)
	effects := f(&c.h.Tx)
	for _, r := range c.h.Tx.Expired {
		effects = append([]Effect{Expired(r)}, effects...)
	}
	c.h.Commit(now, effects)
	c.h.CountExpired()
}

func (c *client) set(key, value string, expire int64) {
	c.write(func(tx *mvcc.Tx) []Effect { return []Effect{set(tx, key, value, expire)} }, key)
}

func (c *client) get(key string) (value string) {
	c.write(func(tx *mvcc.Tx) []Effect {
		if e, ok := tx.Lookup([]byte(key)); ok {
			value = string(e.Bytes(nil))
		}
		return nil
	}, key)
	return value
}

// set does a SET and returns its effect; del a DEL.
func set(tx *mvcc.Tx, key, value string, expire int64) Effect {
	tx.Lookup([]byte(key))
	tx.SetString([]byte(key), []byte(value), expire)
	return effect(tx.DB(), "SET", key, value, strconv.FormatInt(expire, 10))
}

func del(tx *mvcc.Tx, key string) []Effect {
	if tx.Delete([]byte(key)) {
		return []Effect{effect(tx.DB(), "DEL", key)}
	}
	return nil
}

func effect(db int, args ...string) Effect {
	e := Effect{DB: db}
	for _, a := range args {
		e.Args = append(e.Args, []byte(a))
	}
	return e
}

// replica is a journal that does what it is told in a keyspace of its own.
type replica struct {
	space   *mvcc.Space
	tx      mvcc.Tx
	batches [][]Effect
	keep    bool
}

func newReplica() *replica { return &replica{space: mvcc.NewSpace(1, 2, mvcc.Seed{3, 4}.Hasher())} }

func (r *replica) Append(now int64, effects []Effect) {
	if r.keep {
		r.batches = append(r.batches, effects)
	}
	for _, e := range effects {
		r.tx.Begin(r.space, e.DB, 0) // at 0 nothing expires by itself
		switch string(e.Args[0]) {
		case "SET":
			expire, _ := strconv.ParseInt(string(e.Args[3]), 10, 64)
			r.tx.SetString(e.Args[1], e.Args[2], expire)
		case "DEL":
			r.tx.Delete(e.Args[1])
		}
	}
}

// contents is what database 0 holds, with expiries.
func (h *harness) contents() map[string]string {
	cut := h.NewCut(0, h.now.Load())
	defer cut.Release()
	return frozen(cut.All())
}

func (r *replica) contents() map[string]string {
	v := r.space.Stores[0].Freeze(0)
	defer v.Release()
	return frozen([]*mvcc.Version{v})
}

func frozen(versions []*mvcc.Version) map[string]string {
	m := map[string]string{}
	for _, v := range versions {
		v.Ascend(0, func(_ uint64, e mvcc.Entry) bool {
			m[string(e.Key())] = fmt.Sprint(string(e.Bytes(nil)), " ", e.Expire())
			return true
		})
	}
	return m
}
