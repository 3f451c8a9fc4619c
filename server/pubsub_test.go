package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// message is a message as it comes in RESP2.
func message(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "\r\n$%d\r\n%s", len(w), w)
	}
	return b.String()
}

// changed is the answer to a change of subscriptions.
func changed(verb, name string, n int) string {
	return fmt.Sprintf("*3\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n:%d", len(verb), verb, len(name), name, n)
}

func TestSubscribeAndPublish(t *testing.T) {
	s := serve(t)
	a, b, p := s.dial(), s.dial(), s.dial()
	require.Equal(t, changed("subscribe", "one", 1), a.do("SUBSCRIBE one two one"))
	require.Equal(t, changed("subscribe", "two", 2), a.reply())
	require.Equal(t, changed("subscribe", "one", 2), a.reply())
	require.Equal(t, changed("psubscribe", "o*", 1), b.do("PSUBSCRIBE o*"))
	require.Equal(t, changed("subscribe", "one", 2), b.do("SUBSCRIBE one"))
	require.Equal(t, ":3", p.do("PUBLISH one hello"))
	require.Equal(t, message("message", "one", "hello"), a.reply())
	require.Equal(t, message("message", "one", "hello"), b.reply())
	require.Equal(t, message("pmessage", "o*", "one", "hello"), b.reply())
	require.Equal(t, ":0", p.do("PUBLISH three hello"))
	require.Equal(t, "*2\r\n$3\r\none\r\n:2", p.do("PUBSUB NUMSUB one"))
	require.Equal(t, "*1\r\n$3\r\ntwo", p.do("PUBSUB CHANNELS t*"))
	require.Equal(t, ":1", p.do("PUBSUB NUMPAT"))
	require.Equal(t, changed("unsubscribe", "one", 1), a.do("UNSUBSCRIBE one"))
	require.Equal(t, ":2", p.do("PUBLISH one again"))
	a.Close()
	eventually(t, func() bool { return p.do("PUBSUB CHANNELS") == "*1\r\n$3\r\none" }, "the end of a client")
	b.Close()
	eventually(t, func() bool { return s.pubsub.quiet() && s.pubsub.memory.Load() == 0 }, "the end of the last")
}

func TestShardChannelsAreApart(t *testing.T) {
	s := serve(t)
	a, p := s.dial(), s.dial()
	require.Equal(t, changed("ssubscribe", "c", 1), a.do("SSUBSCRIBE c"))
	require.Equal(t, changed("subscribe", "c", 1), a.do("SUBSCRIBE c"))
	require.Equal(t, changed("psubscribe", "*", 2), a.do("PSUBSCRIBE *"))
	require.Equal(t, ":1", p.do("SPUBLISH c x"))
	require.Equal(t, message("smessage", "c", "x"), a.reply())
	require.Equal(t, "*1\r\n$1\r\nc", p.do("PUBSUB SHARDCHANNELS"))
	require.Equal(t, "*4\r\n$1\r\nc\r\n:1\r\n$1\r\nd\r\n:0", p.do("PUBSUB SHARDNUMSUB c d"))
	require.Equal(t, changed("sunsubscribe", "c", 0), a.do("SUNSUBSCRIBE"))
	require.Equal(t, "*3\r\n$12\r\nsunsubscribe\r\n$-1\r\n:0", a.do("SUNSUBSCRIBE"))
	require.Equal(t, ":0", p.do("SPUBLISH c x"))
	line := s.text("CLIENT LIST TYPE pubsub")
	require.Equal(t, []string{"1", "1", "0", "P"}, []string{field(t, line, "sub"), field(t, line, "psub"), field(t, line, "ssub"), field(t, line, "flags")})
	require.Contains(t, s.text("INFO stats"), "pubsub_channels:1\r\npubsub_patterns:1\r\npubsubshard_channels:0\r\n")
}

// text is the answer of a client of its own.
func (s *testServer) text(line string) string { return s.dial().text(line) }

// TestSubscribedMode is G1 and G2 of the reports.
func TestSubscribedMode(t *testing.T) {
	c := serve(t).dial()
	c.do("SUBSCRIBE c")
	require.Equal(t, message("pong", ""), c.do("PING"))
	require.Equal(t, message("pong", "hello"), c.do("PING hello"))
	require.Equal(t, "-ERR wrong number of arguments for 'ping' command", c.do("PING a b"))
	const only = " only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context"
	require.Equal(t, "-ERR Can't execute 'get':"+only, c.do("GET x"))
	require.Equal(t, "-ERR Can't execute 'client|id':"+only, c.do("CLIENT ID"))
	require.Equal(t, "-ERR Can't execute 'publish':"+only, c.do("PUBLISH c x"))
	require.Equal(t, changed("unsubscribe", "c", 0), c.do("UNSUBSCRIBE"))
	require.Equal(t, "*3\r\n$11\r\nunsubscribe\r\n$-1\r\n:0", c.do("UNSUBSCRIBE"))
	require.Equal(t, "*3\r\n$12\r\npunsubscribe\r\n$-1\r\n:0", c.do("PUNSUBSCRIBE"))
	require.Equal(t, "+PONG", c.do("PING"))
	c.do("SSUBSCRIBE c")
	require.Equal(t, "+RESET", c.do("RESET"))
	require.Equal(t, "$-1", c.do("GET x"))
	require.Equal(t, changed("subscribe", "c", 1), c.do("SUBSCRIBE c"))
}

func TestSubscribedModeOfRESP3(t *testing.T) {
	c := serve(t).dial()
	c.do("HELLO 3")
	require.Equal(t, ">"+changed("subscribe", "c", 1)[1:], c.do("SUBSCRIBE c"))
	require.Equal(t, "+PONG", c.do("PING"))
	require.Equal(t, "$5\r\nhello", c.do("PING hello"))
	require.Equal(t, "_", c.do("GET x"))
	c.send("PUBLISH c x")
	require.Equal(t, ">"+message("message", "c", "x")[1:], c.reply(), "one's own message comes before the answer")
	require.Equal(t, ":1", c.reply())
	c.do("UNSUBSCRIBE c")
	require.Equal(t, ">3\r\n$11\r\nunsubscribe\r\n_\r\n:0", c.do("UNSUBSCRIBE"))
}

// TestSubscribeInAPipeline is G5 of the reports.
func TestSubscribeInAPipeline(t *testing.T) {
	c := serve(t).dial()
	c.send("SUBSCRIBE a", "PING", "UNSUBSCRIBE a", "GET x")
	require.Equal(t, []string{changed("subscribe", "a", 1), message("pong", ""), changed("unsubscribe", "a", 0), "$-1"},
		[]string{c.reply(), c.reply(), c.reply(), c.reply()})
}

func TestMessagesComeWithRepliesOff(t *testing.T) {
	s := serve(t)
	c, p := s.dial(), s.dial()
	c.do("HELLO 3")
	c.send("CLIENT REPLY OFF", "GET x")
	require.Equal(t, ">"+changed("subscribe", "a", 1)[1:], c.do("SUBSCRIBE a"))
	require.Equal(t, ":1", p.do("PUBLISH a x"))
	require.Equal(t, ">"+message("message", "a", "x")[1:], c.reply())
	c.send("PUBLISH a y")
	require.Equal(t, ">"+message("message", "a", "y")[1:], c.reply())
	require.Equal(t, ">"+changed("unsubscribe", "a", 0)[1:], c.do("UNSUBSCRIBE a"))
	require.Equal(t, "+OK", c.do("CLIENT REPLY ON"))
}

func TestManySubscriptionsAtOnce(t *testing.T) {
	s := serve(t)
	c, p := s.dial(), s.dial()
	var all strings.Builder
	const n = 3 * manyTopics
	for i := range n {
		fmt.Fprintf(&all, " c%d", i)
	}
	c.send("SUBSCRIBE" + all.String())
	for i := range n {
		require.Equal(t, changed("subscribe", fmt.Sprintf("c%d", i), i+1), c.reply())
	}
	require.Equal(t, ":1", p.do("PUBLISH c7 x"))
	require.Equal(t, message("message", "c7", "x"), c.reply())
	require.Contains(t, p.do("PUBSUB CHANNELS"), fmt.Sprintf("*%d\r\n", n))
}

func TestKilledSubscriberIsGoneAtOnce(t *testing.T) {
	s := serve(t)
	c, p := s.dial(), s.dial()
	c.do("SUBSCRIBE a")
	require.Equal(t, ":1", p.do("CLIENT KILL TYPE pubsub"))
	require.Equal(t, ":0", p.do("PUBLISH a x"))
	require.Empty(t, c.closed())
}

func TestIdleSubscriberStays(t *testing.T) {
	s := serve(t, "--timeout", "1")
	c, idle, p := s.dial(), s.dial(), s.dial()
	c.do("SUBSCRIBE a")
	require.Empty(t, idle.closed(), "closed for doing nothing")
	require.Equal(t, ":1", s.dial().do("PUBLISH a x"))
	require.Equal(t, message("message", "a", "x"), c.reply())
	p.Close()
}

// TestSlowSubscriberHasToGo: it holds up neither the publisher nor another
// subscriber, and what it does not read stays within the limit.
func TestSlowSubscriberHasToGo(t *testing.T) {
	s := serve(t, "--client-output-buffer-limit", "pubsub 1mb 0 0")
	slow, quick, p := s.dial(), s.dial(), s.dial()
	slow.do("SUBSCRIBE a")
	quick.do("SUBSCRIBE a")
	text := strings.Repeat("x", 100<<10)
	for n := 0; p.do("PUBLISH a "+text) == ":2"; n++ {
		require.Equal(t, message("message", "a", text), quick.reply())
		require.Less(t, n, 1000, "the limit must be reached")
	}
	require.Equal(t, message("message", "a", text), quick.reply())
	require.EqualValues(t, 1, s.stats.outputClosed.Load())
	require.Equal(t, ":1", p.do("PUBLISH a x"))
}

// bulks are the strings of an array reply.
func bulks(raw string) (words []string) {
	lines := strings.Split(raw, "\r\n")
	for i := 1; i+1 < len(lines); i++ {
		if strings.HasPrefix(lines[i], "$") {
			words = append(words, lines[i+1])
			i++
		}
	}
	return words
}

func TestPublishWaitsForThePause(t *testing.T) {
	s := serve(t)
	c, p := s.dial(), s.dial()
	c.do("SUBSCRIBE a")
	require.Equal(t, "+OK", s.dial().do("CLIENT PAUSE 100000 WRITE"))
	p.send("PUBLISH a x")
	eventually(t, func() bool { return s.blockedClients() == 1 }, "the publisher waits")
	require.Equal(t, "+OK", s.dial().do("CLIENT UNPAUSE"))
	require.Equal(t, ":1", p.reply())
	require.Equal(t, message("message", "a", "x"), c.reply())
}

// TestMessagesDuringALongReply: what is published while a reply flows out in
// parts does not come in its middle.
func TestMessagesDuringALongReply(t *testing.T) {
	s := serve(t, "--event-loops", "2", "--enable-debug-command", "yes")
	c, p := s.dial(), s.dial()
	require.Equal(t, "+OK", c.do("DEBUG POPULATE 20000 key 100"))
	c.do("HELLO 3")
	c.do("SUBSCRIBE a")
	stop := make(chan struct{})
	sent := make(chan int)
	go func() {
		n := 0
		for ; ; n++ {
			select {
			case <-stop:
				sent <- n
				return
			default:
			}
			if got := p.do("PUBLISH a x"); got != ":1" {
				n = -1 << 30
			}
		}
	}()
	heard := 0
	for range 20 {
		c.send("KEYS *")
		for {
			next, err := c.r.Peek(1)
			require.NoError(t, err)
			if next[0] == '*' {
				break
			}
			require.Equal(t, ">"+message("message", "a", "x")[1:], c.reply())
			heard++
		}
		header, err := c.r.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "*20000\r\n", header)
		for range 20000 {
			require.Equal(t, "$", c.reply()[:1])
		}
	}
	close(stop)
	n := <-sent
	for ; heard < n; heard++ {
		require.Equal(t, ">"+message("message", "a", "x")[1:], c.reply())
	}
	require.Equal(t, heard, n)
}

// TestSlowSubscribersShareTheText: what several have not read is there once.
func TestSlowSubscribersShareTheText(t *testing.T) {
	body := []byte(strings.Repeat("x", sharedFrom))
	for range 2 {
		h := aloneOn(t, 0)
		h.feed(t, "PING\r\n")
		require.True(t, h.s.pending())
		h.s.tell(&letter{parts: 3, head: []byte("head"), body: body})
		parts := h.s.out.Take()
		require.Same(t, &body[0], &parts[len(parts)-1][0])
	}
}
