package shard

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"firn/mvcc"
)

// A popper waits for a list and pops its first element, or moves it.
type popper struct {
	w     Waiter
	gone  atomic.Bool
	key   string // it was served with
	got   string
	ended chan struct{} // closed when it was served
}

func (p *popper) Ready(*mvcc.Entry, int) bool { return true }
func (p *popper) Claim() bool                 { return p.gone.CompareAndSwap(false, true) }
func (p *popper) Served()                     { close(p.ended) }

func (p *popper) Serve(tx *mvcc.Tx, i int) []Effect {
	p.key = string(p.w.Keys[i])
	w := tx.WriteList(p.w.Keys[i])
	p.got = string(w.PopLeft())
	w.Close()
	if p.w.Dest == nil {
		return []Effect{effect(p.w.DB, "LPOP", p.key)}
	}
	w = tx.WriteList(p.w.Dest)
	w.PushRight([]byte(p.got))
	w.Close()
	return []Effect{effect(p.w.DB, "LMOVE", p.key, string(p.w.Dest))}
}

// wait has a popper wait for the keys; dest may be empty.
func (c *client) wait(dest string, keys ...string) *popper {
	p := &popper{ended: make(chan struct{})}
	p.w = Waiter{Client: p, Type: mvcc.List}
	if dest != "" {
		p.w.Dest = []byte(dest)
	}
	c.h.Reset()
	for _, k := range keys {
		p.w.Keys = append(p.w.Keys, []byte(k))
		c.h.Want([]byte(k))
	}
	if c.h.Take(false) != nil {
		panic("locked")
	}
	c.h.Await(&p.w)
	c.h.Give()
	return p
}

func (c *client) push(key string, elements ...string) {
	c.write(func(tx *mvcc.Tx) []Effect { return push(tx, key, elements...) }, key)
}

func push(tx *mvcc.Tx, key string, elements ...string) []Effect {
	w := tx.WriteList([]byte(key))
	for _, e := range elements {
		w.PushRight([]byte(e))
	}
	w.Close()
	return []Effect{effect(0, append([]string{"RPUSH", key}, elements...)...)}
}

// elements are those of a list, for which the client waits in line.
func (c *client) elements(key string) (all []string) {
	c.write(func(tx *mvcc.Tx) []Effect {
		if e, ok := tx.Peek([]byte(key)); ok {
			l := e.List()
			for i := range l.Len() {
				all = append(all, string(l.At(i)))
			}
		}
		return nil
	}, key)
	return all
}

func (p *popper) waits() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

func (s *harness) noMarks(t *testing.T) {
	t.Helper()
	for _, sh := range s.shards {
		require.Zero(t, sh.store.Marks())
		require.Empty(t, sh.lines)
		require.Empty(t, sh.late)
	}
}

// lines are the batches of a journal.
func (r *replica) lines() (all []string) {
	for _, b := range r.batches {
		line := ""
		for _, e := range b {
			line += fmt.Sprintf("%s ", e.Args)
		}
		all = append(all, line)
	}
	return all
}

func TestServedBeforeTheShardIsGiven(t *testing.T) {
	s := newHarness(t, 4)
	j := newReplica()
	j.keep = true
	s.Subscribe(j)
	c := s.client()
	p := []*popper{c.wait("", "k", "j"), c.wait("", "j", "k"), c.wait("", "k")}
	c.push("k", "1", "2")
	require.Equal(t, "1", p[0].got)
	require.Equal(t, "2", p[1].got)
	require.True(t, p[2].waits())
	require.Equal(t, []string{"[RPUSH k 1 2] ", "[LPOP k] ", "[LPOP k] "}, j.lines())
	for _, served := range p[:2] {
		s.Leave(&served.w)
	}
	require.True(t, p[2].Claim())
	s.Leave(&p[2].w)
	s.noMarks(t)
	c.push("k", "3")
	require.Equal(t, []string{"3"}, c.elements("k"))
}

// Where the shard that a move needs is not free, the heavy pool does it, and
// nobody sees the element in between.
func TestMovePastAHeldShard(t *testing.T) {
	s := newHarness(t, 2)
	c := s.client()
	from, to := keyOf(s, 0), keyOf(s, 1)
	p, last := c.wait(to, from), c.wait("", to)
	busy := make(chan struct{}) // the pool is, so that it does not hold a shard and wait for the other
	for range 2 {
		s.Heavy.Go(func() { <-busy })
	}
	other := s.NewHold()
	other.takeOne(1)
	c.push(from, "x", "y")
	h := s.NewHold()
	h.Want([]byte(from))
	l := h.Take(false)
	require.NotNil(t, l, "the key is locked until its client is served")
	require.True(t, p.waits())
	other.Give()
	close(busy)
	<-p.ended
	<-last.ended
	require.Equal(t, "x", p.got)
	require.Equal(t, "x", last.got)
	require.Equal(t, []string{"y"}, c.elements(from))
	require.Empty(t, c.elements(to))
	s.noMarks(t)
}

// keyOf returns a key of the shard.
func keyOf(s *harness, shard int) string {
	for i := 0; ; i++ {
		if k := fmt.Sprint("key", i); s.Space.StoreOf(s.Space.Hash([]byte(k))) == shard {
			return k
		}
	}
}

// More than are served at once come in order.
func TestManyWaitersAreServedInOrder(t *testing.T) {
	s := newHarness(t, 2)
	c := s.client()
	const n = 5*serveMost + 3
	var all []*popper
	var elements []string
	for i := range n {
		all = append(all, c.wait("", "k"))
		elements = append(elements, fmt.Sprint(i))
	}
	c.push("k", append(elements, "more")...)
	require.Equal(t, []string{"more"}, c.elements("k"))
	for i, p := range all {
		<-p.ended
		require.Equal(t, fmt.Sprint(i), p.got)
	}
	s.noMarks(t)
}

// startLongPush begins a long write of the lists a and b and stops it between
// them. finish lets it end and waits for that.
func startLongPush(t *testing.T, s *harness) (finish func()) {
	half, goOn, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	require.True(t, s.Heavy.Go(func() {
		defer close(done)
		s.long([]string{"a", "b"}, func(tx *mvcc.Tx, pause func()) []Effect {
			first := push(tx, "a", "x", "y")
			close(half)
			for waiting := true; waiting; {
				select {
				case <-goOn:
					waiting = false
				default:
					pause()
				}
			}
			return append(first, push(tx, "b", "z")...)
		})
	}))
	<-half
	return func() { close(goOn); <-done }
}

// A move to a key that a long write has waits for that, and others who name the
// source wait for the move.
func TestMoveToALongWrite(t *testing.T) {
	s := newHarness(t, 2)
	c := s.client()
	p := c.wait("b", "src")
	finish := startLongPush(t, s)
	c.push("src", "x")
	require.True(t, p.waits())
	var seen []string
	var wg sync.WaitGroup
	wg.Go(func() { seen = s.client().elements("src") })
	c.push("elsewhere", "1")
	require.True(t, p.waits())
	finish()
	wg.Wait()
	require.Empty(t, seen)
	require.Equal(t, "x", p.got)
	require.Equal(t, []string{"z", "x"}, c.elements("b"))
	s.noMarks(t)
}

// Who waits for a key that a long write makes is served when it is done, not when
// somebody else writes to the shard meanwhile.
func TestLongWriteWakes(t *testing.T) {
	s := newHarness(t, 1)
	c := s.client()
	p := c.wait("", "a")
	finish := startLongPush(t, s)
	for range 10 {
		c.push("other", "1")
	}
	require.True(t, p.waits())
	finish()
	<-p.ended
	require.Equal(t, "x", p.got)
	require.Equal(t, []string{"y"}, c.elements("a"))
	s.noMarks(t)
}

// Keys that share a position have lines of their own.
func TestTwinsWait(t *testing.T) {
	s := &harness{Set: New(Config{
		Shards: 1, Databases: 2, Hash: func([]byte) uint64 { return 42 }, HeavyThreads: 1,
		Clock: func() int64 { return 1 }, Rand: func() uint64 { return 4 },
	})}
	defer s.Heavy.Close()
	c := s.client()
	a, b, a2 := c.wait("", "a"), c.wait("", "b"), c.wait("", "a")
	c.push("b", "x", "y")
	require.Equal(t, "x", b.got)
	require.True(t, a.waits())
	c.push("a", "1", "2", "3")
	require.Equal(t, "1", a.got)
	require.Equal(t, "2", a2.got)
	require.Equal(t, []string{"3"}, c.elements("a"))
	require.Equal(t, []string{"y"}, c.elements("b"))
	s.noMarks(t)
	require.NoError(t, s.Space.Check())
}

// Whoever leaves, at any place in line, is missed by nobody.
func TestLeaveTheLine(t *testing.T) {
	s := newHarness(t, 4)
	r := s.rand(1)
	c := s.client()
	var waiting []*popper
	for range 200 {
		waiting = append(waiting, c.wait("", fmt.Sprint(r.IntN(3)), fmt.Sprint(r.IntN(3))))
	}
	r.Shuffle(len(waiting), func(i, j int) { waiting[i], waiting[j] = waiting[j], waiting[i] })
	for i, p := range waiting {
		if i%2 == 0 && p.Claim() {
			s.Leave(&p.w)
		} else {
			c.push(fmt.Sprint(r.IntN(3)), "x")
		}
	}
	for _, p := range waiting {
		if p.Claim() {
			s.Leave(&p.w)
			continue
		}
		s.Leave(&p.w)
	}
	s.noMarks(t)
}
