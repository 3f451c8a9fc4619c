package server

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// unhurt is how long others may have to wait while somebody misbehaves; tests
// share few cores with each other.
const unhurt = time.Second

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// H14: who sends without reading is not read on, and gets all replies later.
func TestPipelineOfAClientThatReadsLate(t *testing.T) {
	s := serve(t)
	c := s.dial()
	value := strings.Repeat("x", 1024)
	require.Equal(t, "+OK", c.do("SET k "+value))
	const gets = 100_000
	before, p := heap(), s.ping()
	var sent sync.WaitGroup
	var err error
	sent.Go(func() { _, err = io.WriteString(c.Conn, strings.Repeat(encode("GET k"), gets)) })
	eventually(t, func() bool { return s.clients.memory.Load() > outPause/2 }, "nothing piles up")
	require.Less(t, s.clients.memory.Load(), int64(outMost+4*outPause))
	require.Less(t, heap()-before, int64(2*outMost))
	require.Equal(t, "+PONG", s.dial().do("PING"))
	want := fmt.Sprintf("$1024\r\n%s", value)
	for range gets {
		require.Equal(t, want, c.reply())
	}
	sent.Wait()
	require.NoError(t, err)
	require.Less(t, p.end(t), unhurt)
	eventually(t, func() bool { return s.clients.memory.Load() < 1<<20 }, "memory is still counted")
}

// A client that sends a long pipeline in one go, and only then begins to read, is
// not waited for.
func TestPipelineThatIsSentBeforeItIsRead(t *testing.T) {
	s := serve(t)
	c := s.dial()
	const lines = 200_000 // 22 MB of replies: more than outPause and the sockets' buffers
	text := strings.Repeat("x", 100)
	_, err := io.WriteString(c.Conn, strings.Repeat("ECHO "+text+"\r\n", lines))
	require.NoError(t, err)
	for range lines {
		require.Equal(t, "$100\r\n"+text, c.reply())
	}
}

// The replies to clients that don't read a big value are not copies of it.
func TestBigRepliesToClientsThatDoNotRead(t *testing.T) {
	s := serve(t)
	c := s.dial()
	const size, clients = 16 << 20, 50
	require.Equal(t, "+OK", c.do("SET k "+strings.Repeat("x", size)))
	require.Equal(t, "+PONG", c.do("PING")) // its buffer is small again
	before, p := heap(), s.ping()
	slow := make([]*testClient, clients)
	for i := range slow {
		slow[i] = s.dial()
		slow[i].send("GET k")
	}
	eventually(t, func() bool {
		var pending int64
		for _, other := range s.clients.sessions() {
			pending += other.info.out.Load()
		}
		return pending > clients*(size-8<<20)
	}, "the replies are not on their way")
	require.Less(t, heap()-before, int64(size))
	require.Less(t, s.clients.memory.Load(), int64(8<<20), "what is the keyspace's own is no client's memory")
	require.Equal(t, "+OK", c.do("SET k new"), "and what they read is still the old value")
	for _, other := range slow[:2] {
		require.Equal(t, fmt.Sprintf("$%d\r\n%s", size, strings.Repeat("x", size)), other.reply())
	}
	for _, other := range slow {
		require.NoError(t, other.Close())
	}
	require.Less(t, p.end(t), unhurt)
	eventually(t, func() bool { return s.clients.count.Load() <= 2 && heap()-before < 8<<20 }, "memory is kept for those who left")
}

// Connections that stop in the middle of a request cost what they have sent, and
// are gone when they are closed, however they are closed.
func TestHalfOpenConnections(t *testing.T) {
	s := serve(t)
	before, p := heap(), s.ping()
	var open []*testClient
	for i := range 300 {
		c := s.dial()
		c.write([]string{"", "*", "*3\r\n$3\r\nSET\r\n", "*2\r\n$3\r\nGET\r\n$500000000\r\nab", "PIN"}[i%5])
		open = append(open, c)
	}
	eventually(t, func() bool { return s.clients.count.Load() == 301 }, "not all are in")
	require.Less(t, heap()-before, int64(64<<20))
	require.Equal(t, "+PONG", s.dial().do("PING"))
	for i, c := range open {
		tcp := c.Conn.(*net.TCPConn)
		switch i % 3 {
		case 0:
			require.NoError(t, tcp.SetLinger(0)) // a reset
			require.NoError(t, tcp.Close())
		case 1:
			require.NoError(t, tcp.CloseWrite())
		default:
			require.NoError(t, tcp.Close())
		}
	}
	require.Less(t, p.end(t), unhurt)
	eventually(t, func() bool { return s.clients.count.Load() <= 2 }, "still counted")
}

// noise makes bytes that are now and then nearly requests.
type noise struct{ *rand.Rand }

func (r noise) bytes(n int) []byte {
	pieces := []string{
		"*", "$", "\r\n", "*3\r\n", "$3\r\nSET\r\n", "$3\r\nGET\r\n", "$1\r\nk\r\n", "$-1\r\n", "*-1\r\n", "*1000000\r\n", "$500000000\r\n",
		"PING\r\n", "GET k\r\n", "SET k ", "\"", "'", "\x00", "APPEND k xxxx\r\n", "BITFIELD k SET u8 ", "CLIENT ", "HELLO 3\r\n", "OBJECT ", "SCAN 0\r\n",
		"*2\r\n$4\r\nKEYS\r\n$1\r\n*\r\n", "99999999999999999999", "MSET a b c d\r\n", "SETRANGE k 1 x\r\n",
	}
	var b bytes.Buffer
	for b.Len() < n {
		if r.IntN(4) > 0 {
			b.WriteString(pieces[r.IntN(len(pieces))])
			continue
		}
		for range r.IntN(40) {
			b.WriteByte(byte(r.IntN(256)))
		}
	}
	return b.Bytes()[:n]
}

// Random bytes from 100 connections, half of which never read. FIRN_NOISE sets
// how many bytes the server reads of it in all (most of what is sent is in the
// socket's buffer when it closes the connection for what came before); FIRN_SEED
// repeats a run.
func TestRandomBytes(t *testing.T) {
	seed, total := envInt(t, "FIRN_SEED", time.Now().UnixNano()), envInt(t, "FIRN_NOISE", 4<<20)
	t.Logf("FIRN_SEED=%d FIRN_NOISE=%d", seed, total)
	s := serve(t)
	// Made before, or the making would keep the server from its processors.
	store := noise{rand.New(rand.NewPCG(uint64(seed), 0))}.bytes(8 << 20)
	before, p := heap(), s.ping()
	const conns = 100
	var all sync.WaitGroup
	for i := range conns {
		all.Go(func() { s.shout(rand.New(rand.NewPCG(uint64(seed), uint64(i+1))), store, total, i%2 == 0) })
	}
	all.Wait()
	worst := p.end(t)
	t.Logf("%d bytes read on %d connections; longest wait of another client: %v", s.stats.netIn.Load(), s.stats.connections.Load(), worst)
	require.GreaterOrEqual(t, s.stats.netIn.Load(), total)
	require.Less(t, worst, unhurt)
	require.Zero(t, s.stats.unexpectedErrors.Load(), "a command panicked")
	eventually(t, func() bool { return s.clients.count.Load() <= 1 }, "connections are left over")
	require.Less(t, heap()-before, int64(64<<20))
	require.Equal(t, "+PONG", s.dial().do("PING"))
}

func envInt(t *testing.T, name string, otherwise int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err)
	return n
}

// shout sends bytes out of a store until the server has read so many in all, over as
// many connections as it closes.
func (s *testServer) shout(r *rand.Rand, store []byte, total int64, read bool) {
	for s.stats.netIn.Load() < total {
		nc, err := net.Dial("tcp", s.addr)
		if err != nil {
			s.t.Error(err)
			return
		}
		if read {
			go func() { _, _ = io.Copy(io.Discard, nc) }()
		}
		for s.stats.netIn.Load() < total {
			nc.SetWriteDeadline(time.Now().Add(200 * time.Millisecond)) // one that is not read on stops here
			at, size := r.IntN(len(store)-4000), 1+r.IntN(4000)
			if _, err := nc.Write(store[at : at+size]); err != nil {
				break
			}
		}
		nc.Close()
	}
}

// The buffer of a large argument grows aside: while the heavy threads have other
// work the client waits, and nobody else.
func TestLargeArgumentGrowsAside(t *testing.T) {
	s := serve(t, "--heavy-threads", "1", "--event-loops", "1")
	others, c := s.dial(), s.dial()
	block := make(chan struct{})
	require.True(t, s.shards.Heavy.Go(func() { <-block }))
	value := strings.Repeat("x", 40<<20)
	sent := make(chan error, 1)
	go func() {
		_, err := io.WriteString(c.Conn, encode("SET k "+value))
		sent <- err
	}()
	eventually(t, func() bool { return s.stats.netIn.Load() >= growFrom }, "nothing is read")
	for range 100 {
		require.Equal(t, "+PONG", others.do("PING"))
	}
	require.Less(t, s.stats.netIn.Load(), int64(4*growFrom))
	close(block)
	require.NoError(t, <-sent)
	require.Equal(t, "+OK", c.reply())
	require.Equal(t, ":"+strconv.Itoa(len(value)), others.do("STRLEN k"))
}
