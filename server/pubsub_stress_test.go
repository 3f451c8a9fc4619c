package server

import (
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestOneOrderForAll: over several loops, all subscribers of a channel get what
// several publishers send in one and the same order, every message once, and
// those of one publisher in his order.
func TestOneOrderForAll(t *testing.T) {
	s := serve(t, "--event-loops", "6")
	const readers, writers, each = 12, 4, 5000
	var ended sync.WaitGroup
	got := make([][]string, readers)
	for i := range readers {
		c := s.dial()
		c.do([]string{"SUBSCRIBE news", "PSUBSCRIBE n?ws"}[i%2])
		ended.Go(func() {
			for range writers * each {
				words := bulks(c.reply())
				got[i] = append(got[i], words[len(words)-1])
			}
		})
	}
	for w := range writers {
		c := s.dial()
		ended.Go(func() {
			var lines []string
			for i := range each {
				lines = append(lines, fmt.Sprintf("PUBLISH news %d:%d", w, i))
			}
			c.send(lines...)
			for range each {
				require.Equal(t, fmt.Sprintf(":%d", readers), c.reply())
			}
		})
	}
	ended.Wait()
	next := map[string]int{}
	for _, m := range got[0] {
		w, i, _ := strings.Cut(m, ":")
		require.Equal(t, fmt.Sprint(next[w]), i, "of publisher %s", w)
		next[w]++
	}
	for i := range got {
		require.Equal(t, got[0], got[i], "reader %d", i)
	}
}

// TestAnsweredMeansSubscribed: between the answers to SUBSCRIBE and UNSUBSCRIBE a
// client gets every message, after it none, and each PUBLISH counts exactly those
// who get it.
func TestAnsweredMeansSubscribed(t *testing.T) {
	s := serve(t, "--event-loops", "3")
	var stop atomic.Bool
	var ended sync.WaitGroup
	sent := make([]atomic.Int64, 3) // what the publishers' answers add up to
	for w := range sent {
		p := s.dial()
		ended.Go(func() {
			for !stop.Load() {
				var n int64
				if _, err := fmt.Sscanf(p.do("PUBLISH news x"), ":%d", &n); err != nil {
					t.Error(err)
					return
				}
				sent[w].Add(n)
			}
		})
	}
	var heard atomic.Int64
	var readers sync.WaitGroup
	for r := range 3 {
		c := s.dial()
		readers.Go(func() {
			for range 300 {
				c.send("SUBSCRIBE news", "PING", "UNSUBSCRIBE news", "ECHO end")
				require.Equal(t, changed("subscribe", "news", 1), c.reply(), "reader %d", r)
				for {
					reply := c.reply()
					if reply == changed("unsubscribe", "news", 0) {
						break
					}
					if reply != message("pong", "") {
						require.Equal(t, message("message", "news", "x"), reply)
						heard.Add(1)
					}
				}
				require.Equal(t, "$3\r\nend", c.reply())
			}
		})
	}
	readers.Wait()
	stop.Store(true)
	ended.Wait()
	require.Equal(t, heard.Load(), sent[0].Load()+sent[1].Load()+sent[2].Load())
}

// TestSubscribersComeAndGo is G4 of the reports: clients that subscribe and drop
// while others publish, with RESET, QUIT, kills and slow readers among them.
func TestSubscribersComeAndGo(t *testing.T) {
	s := serve(t, "--event-loops", "2", "--client-output-buffer-limit", "pubsub 100kb 0 0", "--notify-keyspace-events", "KEA")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	var stop atomic.Bool
	var ended, publishers sync.WaitGroup
	for w := range 3 {
		p := s.dial()
		publishers.Go(func() {
			text := strings.Repeat("x", 1000)
			for i := 0; !stop.Load(); i++ {
				p.do(fmt.Sprintf("PUBLISH c%d %s", i%10, text))
				p.do(fmt.Sprintf("SET k%d:%d x", w, i%10))
			}
		})
	}
	m := s.dial()
	publishers.Go(func() {
		for !stop.Load() {
			m.do("CLIENT KILL TYPE pubsub")
			m.do("PUBSUB CHANNELS")
		}
	})
	for r := range 8 {
		rng := rand.New(rand.NewPCG(seed, uint64(r)))
		ended.Go(func() {
			for range 60 {
				nc, err := net.Dial("tcp", s.addr)
				require.NoError(t, err)
				_, _ = nc.Write([]byte(encode(fmt.Sprintf("SUBSCRIBE c%d c%d", rng.IntN(10), rng.IntN(10)), "PSUBSCRIBE c* __key*", "UNSUBSCRIBE c1",
					[]string{"PING", "RESET", "QUIT", "MONITOR"}[rng.IntN(4)])))
				if rng.IntN(2) == 0 {
					_, _ = nc.Read(make([]byte, 1000))
				}
				nc.Close()
			}
		})
	}
	ended.Wait()
	stop.Store(true)
	publishers.Wait()
	eventually(t, func() bool { return s.pubsub.quiet() && s.pubsub.memory.Load() == 0 && !s.monitors.any() }, "the end of all subscriptions")
	s.pubsub.patterns.mu.Lock()
	defer s.pubsub.patterns.mu.Unlock()
	require.Zero(t, s.pubsub.patterns.lengths, "the index is empty")
	require.Empty(t, s.pubsub.patterns.byPrefix)
}

// TestConnectionsOfTheirOwnPublish: two that have a home of their own send each
// other messages, more than their sockets take, and neither waits for the other.
func TestConnectionsOfTheirOwnPublish(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert, "--tls-auth-clients", "no", "--client-output-buffer-limit", "pubsub 1mb 0 0")
	dial := func() *testClient {
		nc, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: cert.pool})
		require.NoError(t, err)
		return client(t, nc)
	}
	a, b := dial(), dial()
	a.do("HELLO 3")
	b.do("HELLO 3")
	a.do("SUBSCRIBE a")
	b.do("SUBSCRIBE b")
	require.Equal(t, ":1", a.do("PUBLISH b x"))
	require.Equal(t, ">"+message("message", "b", "x")[1:], b.reply())
	text := strings.Repeat("x", 10<<10)
	began := time.Now()
	var both sync.WaitGroup
	for _, c := range []*testClient{a, b} {
		to := "PUBLISH a " + text
		if c == a {
			to = "PUBLISH b " + text
		}
		both.Go(func() {
			for range 100 {
				c.send(to)
			}
			for answers := 0; answers < 100; {
				raw, err := readReply(c.r)
				if err != nil {
					return // over its limit
				}
				if raw[0] == ':' {
					answers++
				}
			}
		})
	}
	both.Wait()
	require.Less(t, time.Since(began), writeLimit/2)
}

// TestPublisherWaitsForAHomeThatIsBehind: what is on its way to another loop is
// bounded, and nothing is lost.
func TestPublisherWaitsForAHomeThatIsBehind(t *testing.T) {
	s := serve(t, "--event-loops", "2")
	var readers []*testClient
	for range 4 {
		c := s.dial()
		c.do("SUBSCRIBE news")
		readers = append(readers, c)
	}
	text := strings.Repeat("x", 100<<10)
	var ended sync.WaitGroup
	const n = 200
	for _, c := range readers {
		ended.Go(func() {
			for range n {
				require.Equal(t, message("message", "news", text), c.reply())
			}
		})
	}
	for range 2 {
		p := s.dial()
		ended.Go(func() {
			for range n / 2 {
				p.send("PUBLISH news " + text)
			}
			for range n / 2 {
				require.Equal(t, ":4", p.reply())
			}
		})
	}
	ended.Wait()
}
