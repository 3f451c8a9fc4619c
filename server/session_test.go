package server

import (
	"strings"
	"testing"

	"firn/mvcc"
	"firn/shard"

	"github.com/stretchr/testify/require"
)

// stillHome is a home at which nothing happens by itself, and the socket of its
// session as well.
type stillHome struct {
	s      *session
	h      *shard.Hold
	places []mvcc.Place
	put    []func() // what is to run later
	out    strings.Builder
	room   int // how many bytes the peer takes
	closed bool
}

func (h *stillHome) post(f func())     { h.put = append(h.put, f) }
func (h *stillHome) answer(f func())   { h.post(f) }
func (h *stillHome) clock() int64      { return 1_796_000_000_000_000 }
func (h *stillHome) hold() *shard.Hold { return h.h }
func (h *stillHome) resume()           {}

func (h *stillHome) scratch() *[]mvcc.Place { return &h.places }

func (h *stillHome) mail(l letter) bool {
	deliver([]letter{l}, true, func(*session) {})
	return false
}

func (h *stillHome) readMail() {}

func (h *stillHome) later(f func()) bool {
	h.post(f)
	return true
}

func (h *stillHome) flush() {
	h.s.collect()
	for h.s.queued > 0 && h.room > 0 {
		n := min(h.room, len(h.s.queue[0]))
		h.out.Write(h.s.queue[0][:n])
		h.room -= n
		h.s.wrote(n)
	}
}

func (h *stillHome) close() {
	h.closed = true
	h.s.ended()
}

// feed gives the session bytes and lets it run.
func (h *stillHome) feed(t *testing.T, raw string) {
	_, err := h.s.in.Write([]byte(raw))
	require.NoError(t, err)
	h.s.process()
	h.flush()
}

// next runs what was put off.
func (h *stillHome) next() {
	put := h.put
	h.put = nil
	for _, f := range put {
		f()
	}
}

func aloneOn(t *testing.T, room int, options ...string) *stillHome {
	srv := serve(t, options...).Server
	h := &stillHome{h: srv.shards.NewHold(), room: room}
	h.s = srv.newSession(h, h, peerInfo{addr: "test:1", laddr: "test:2", local: true})
	t.Cleanup(func() {
		if !h.closed {
			h.close()
		}
	})
	return h
}

// A session gives way after a millisecond of commands, and goes on in its order.
func TestSessionsTakeTurns(t *testing.T) {
	h := aloneOn(t, 1<<30)
	const n = 2500
	h.feed(t, strings.Repeat("NOSUCH\r\n", n)+"PING\r\n")
	per := turn/refusal + 1
	require.Equal(t, per, strings.Count(h.out.String(), "NOSUCH"), "in the first turn")
	require.True(t, h.s.paused())
	h.next()
	require.Equal(t, 2*per, strings.Count(h.out.String(), "NOSUCH"))
	h.next()
	require.Equal(t, n, strings.Count(h.out.String(), "NOSUCH"))
	require.True(t, strings.HasSuffix(h.out.String(), "+PONG\r\n"))
	require.False(t, h.s.paused())
	require.Empty(t, h.put)
}

// So it does after a megabyte of replies, though the client takes them.
func TestLongRepliesTakeTurns(t *testing.T) {
	h := aloneOn(t, 1<<30)
	h.feed(t, "SET k "+strings.Repeat("x", 60_000)+"\r\n"+strings.Repeat("GET k\r\n", 40))
	turns := 1
	for ; len(h.put) > 0; turns++ {
		h.next()
	}
	require.GreaterOrEqual(t, turns, 3)
	require.Equal(t, 40, strings.Count(h.out.String(), "$60000\r\n"))
}

// A client that takes nothing is run no further than to outMost, or to a megabyte
// when the replies to all clients take too much.
func TestNoCommandsForAClientThatTakesNothing(t *testing.T) {
	h := aloneOn(t, 0)
	const gets = 2000
	h.feed(t, "SET k "+strings.Repeat("x", 60_000)+"\r\n"+strings.Repeat("GET k\r\n", gets))
	for len(h.put) > 0 {
		h.next()
	}
	require.True(t, h.s.paused())
	require.InDelta(t, outMost, h.s.queued, outPause+70_000)
	h.room = 1 << 30
	h.flush()
	h.s.goOn()
	for len(h.put) > 0 {
		h.next()
	}
	require.Equal(t, gets, strings.Count(h.out.String(), "$60000\r\n"))

	h = aloneOn(t, 0)
	h.s.srv.clients.memory.Add(outBudget)
	h.feed(t, "SET k "+strings.Repeat("x", 60_000)+"\r\n"+strings.Repeat("GET k\r\n", gets))
	for len(h.put) > 0 {
		h.next()
	}
	require.True(t, h.s.paused())
	require.Less(t, h.s.queued, 2*outPause+70_000)
}

// What others see of a session is right after each batch.
func TestAccountOfASession(t *testing.T) {
	h := aloneOn(t, 1000)
	before := h.s.srv.clients.memory.Load()
	h.feed(t, "SET k "+strings.Repeat("x", 10_000)+"\r\nGET k\r\nPI")
	for len(h.put) > 0 { // where a command takes a turn
		h.next()
	}
	h.s.info.update(h.s)
	require.Equal(t, int64(len("+OK\r\n$10000\r\n")+10_000+2-1000), h.s.info.out.Load())
	require.Equal(t, int64(2), h.s.info.qbuf.Load())
	require.InDelta(t, float64(h.s.info.qcap.Load()+h.s.info.out.Load()), float64(h.s.srv.clients.memory.Load()-before), memoryStep)
	h.close()
	require.Equal(t, before, h.s.srv.clients.memory.Load())
}
