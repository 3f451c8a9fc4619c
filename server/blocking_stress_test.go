package server

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Producers push numbers, consumers take them with every kind of blocking pop
// over several loops, some with timeouts and some that leave: every number comes
// out once, and of one key and one consumer in order.
func TestProducersAndConsumers(t *testing.T) {
	const keys, producers, consumers, each = 5, 4, 24, 1500
	s := serve(t, "--event-loops", "3")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &work{seen: map[string]int{}, left: producers * each, done: make(chan struct{})}
	var wg sync.WaitGroup
	for i := range consumers {
		c := &consumer{w: w, addr: s.addr, r: rand.New(rand.NewPCG(seed, uint64(i))), last: map[string]int{}}
		wg.Go(c.run)
	}
	for i := range producers {
		r, c := rand.New(rand.NewPCG(seed, uint64(1000+i))), s.dial()
		wg.Go(func() {
			for n := 0; n < each; {
				lines := []string{}
				for range 1 + r.IntN(4) {
					k := min(1+r.IntN(3), each-n)
					var b strings.Builder
					fmt.Fprintf(&b, "RPUSH k%d", r.IntN(keys))
					for range k {
						fmt.Fprintf(&b, " %d:%d", i, n)
						n++
					}
					if k > 0 {
						lines = append(lines, b.String())
					}
				}
				if r.IntN(3) == 0 {
					lines = append(append([]string{"MULTI"}, lines...), "EXEC")
				}
				c.send(lines...)
				for range lines {
					c.reply()
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.err)
	require.Len(t, w.seen, producers*each)
	for e, n := range w.seen {
		require.Equal(t, 1, n, e)
	}
	a := s.dial()
	for k := range keys {
		require.Equal(t, ":0", a.do(fmt.Sprintf("EXISTS k%d d%d", k, k)))
	}
	require.Zero(t, s.clients.blocked.timed.Load())
}

// work is what the consumers have taken.
type work struct {
	mu   sync.Mutex
	seen map[string]int
	left int
	err  error
	done chan struct{}
}

func (w *work) took(e string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen[e]++
	if w.left--; w.left == 0 {
		close(w.done)
	}
}

func (w *work) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.err = err
	}
}

type consumer struct {
	w    *work
	addr string
	r    *rand.Rand
	last map[string]int // by key and producer
	n    net.Conn
	in   *bufio.Reader
}

func (c *consumer) run() {
	for {
		select {
		case <-c.w.done:
			return
		default:
		}
		if err := c.turn(); err != nil {
			c.w.fail(err)
			return
		}
	}
}

// turn takes a few elements over a new connection.
func (c *consumer) turn() (err error) {
	if c.n, err = net.Dial("tcp", c.addr); err != nil {
		return err
	}
	defer c.n.Close()
	c.in = bufio.NewReader(c.n)
	for range 1 + c.r.IntN(40) {
		if err := c.pop(); err != nil {
			return err
		}
	}
	return nil
}

func (c *consumer) pop() error {
	k, j := c.r.IntN(5), c.r.IntN(5)
	lines := []string{
		fmt.Sprintf("BLPOP k%d k%d 0.05", k, j),
		fmt.Sprintf("BLMPOP 0.02 2 k%d k%d LEFT COUNT 3", k, j),
		fmt.Sprintf("BLPOP k%d 0.001", k),
		"BLPOP k0 k1 k2 k3 k4 0.2",
		fmt.Sprintf("BLMOVE k%d k%d LEFT LEFT 0.01", k, k), // changes nothing
	}
	line := lines[c.r.IntN(len(lines))]
	if _, err := io.WriteString(c.n, encode(line)); err != nil {
		return err
	}
	raw, err := readReply(c.in)
	if err != nil {
		return err
	}
	if strings.HasPrefix(line, "BLMOVE") {
		return nil
	}
	return c.check(line, bulks(raw))
}

func (c *consumer) check(line string, got []string) error {
	if len(got) == 0 {
		return nil
	}
	key := got[0]
	for _, e := range got[1:] {
		c.w.took(e)
		from, num, _ := strings.Cut(e, ":")
		n, err := strconv.Atoi(num)
		if err != nil {
			return err
		}
		at := key + from
		if last, ok := c.last[at]; ok && n <= last {
			return fmt.Errorf("%s: %s of %s comes after %d", line, e, key, last)
		}
		c.last[at] = n
	}
	return nil
}

// Tokens that clients move in circles by blocking moves over many keys are as
// many at the end as there were.
func TestTokensMovedInCircles(t *testing.T) {
	s := serve(t, "--event-loops", "3")
	a := s.dial()
	const keys, movers, moves, tokens = 7, 12, 150, 3
	var wg sync.WaitGroup
	for i := range movers {
		r, c := rand.New(rand.NewPCG(7, uint64(i))), s.dial()
		wg.Go(func() {
			for range moves {
				c.do(fmt.Sprintf("BLMOVE c%d c%d %s %s 0.02", r.IntN(keys), r.IntN(keys), side(r), side(r)))
			}
		})
	}
	for i := range tokens {
		a.all(fmt.Sprintf("RPUSH c%d token%d", i, i))
	}
	wg.Wait()
	n := 0
	for i := range keys {
		n += len(bulks(a.do(fmt.Sprintf("LRANGE c%d 0 -1", i))))
	}
	require.Equal(t, tokens, n)
	s.noLines()
}

func side(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return "LEFT"
	}
	return "RIGHT"
}
