package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"firn/commands/transcript"
	"firn/server/config"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// A testServer is a server in this process, reachable at addr.
type testServer struct {
	*Server
	t    *testing.T
	addr string
	logs *observer.ObservedLogs
}

// serve starts a server with the options, on a free port of the loopback
// interface, until the end of the test.
func serve(t *testing.T, options ...string) *testServer {
	port := freePort(t)
	options = append([]string{"--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", ""}, options...)
	s := serveWith(t, options...)
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return s
}

// serveWith starts a server with nothing but these options.
func serveWith(t *testing.T, options ...string) *testServer {
	loaded, err := config.Load(config.Sources{
		Args: options, Dir: t.TempDir(), Getenv: func(string) string { return "" },
		ReadFile: os.ReadFile, Glob: filepath.Glob, CheckDir: CheckDir,
	})
	require.NoError(t, err)
	core, logs := observer.New(zapcore.DebugLevel)
	srv := New(Options{Config: loaded.Config, ConfigFile: loaded.File, Log: zap.New(core), Level: zap.NewAtomicLevel()})
	require.NoError(t, srv.Start())
	t.Cleanup(func() {
		srv.Shutdown()
		select {
		case <-srv.Stopped():
		case <-time.After(patience):
			t.Error("the server does not end")
		}
	})
	return &testServer{Server: srv, t: t, logs: logs}
}

func freePort(t *testing.T) int {
	addr, err := transcript.FreeAddr()
	require.NoError(t, err)
	_, text, err := net.SplitHostPort(addr)
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	return port
}

// logged says whether a log line contains the text.
func (s *testServer) logged(text string) bool {
	for _, e := range s.logs.All() {
		if strings.Contains(e.Message, text) {
			return true
		}
	}
	return false
}

// A testClient is a connection to a server; it keeps a test from waiting for
// ever.
type testClient struct {
	net.Conn
	t *testing.T
	r *bufio.Reader
}

func (s *testServer) dial() *testClient {
	nc, err := net.Dial("tcp", s.addr)
	require.NoError(s.t, err)
	return client(s.t, nc)
}

func client(t *testing.T, nc net.Conn) *testClient {
	c := &testClient{Conn: nc, t: t, r: bufio.NewReaderSize(nc, 64<<10)}
	require.NoError(t, nc.SetDeadline(time.Now().Add(2*patience)))
	t.Cleanup(func() { nc.Close() })
	return c
}

// write sends bytes as they are.
func (c *testClient) write(raw string) {
	_, err := io.WriteString(c.Conn, raw)
	require.NoError(c.t, err)
}

// send sends commands, each with its words between spaces.
func (c *testClient) send(lines ...string) {
	c.write(encode(lines...))
}

func encode(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		args, err := transcript.Split(line)
		if err != nil {
			panic(err)
		}
		b.Write(transcript.Encode(args))
	}
	return b.String()
}

// do sends one command and returns its reply as it came, without the last CRLF.
func (c *testClient) do(line string) string {
	c.send(line)
	return c.reply()
}

// reply reads one reply.
func (c *testClient) reply() string {
	raw, err := readReply(c.r)
	require.NoError(c.t, err)
	return strings.TrimSuffix(raw, "\r\n")
}

// text reads the string reply of a command, verbatim or not.
func (c *testClient) text(line string) string {
	raw := c.do(line)
	require.Contains(c.t, "$=", raw[:1], "%s: %s", line, raw)
	_, body, _ := strings.Cut(raw, "\r\n")
	if raw[0] == '=' {
		return body[len("txt:"):]
	}
	return body
}

// closed waits for the end of the connection and returns what came before.
func (c *testClient) closed() string {
	rest, err := io.ReadAll(c.r)
	require.False(c.t, os.IsTimeout(err), "still open; got %.200q", rest)
	return string(rest)
}

// readReply reads one reply as it is encoded.
func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return line, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line[1:]))
	switch line[0] {
	case '$', '=':
		if n < 0 {
			return line, nil
		}
		body := make([]byte, n+2)
		_, err := io.ReadFull(r, body)
		return line + string(body), err
	case '*', '~', '>', '%':
		if line[0] == '%' {
			n *= 2
		}
		for range n {
			item, err := readReply(r)
			if err != nil {
				return line, err
			}
			line += item
		}
	}
	return line, nil
}

// field is the value of one field of a CLIENT LIST line.
func field(t *testing.T, line, name string) string {
	t.Helper()
	for _, f := range strings.Fields(line) {
		if k, v, _ := strings.Cut(f, "="); k == name {
			return v
		}
	}
	require.Fail(t, "no field "+name, line)
	return ""
}

// eventually polls until ok.
func eventually(t *testing.T, ok func() bool, what string) {
	t.Helper()
	require.Eventually(t, ok, patience, 2*time.Millisecond, what)
}

// A pinger measures how long a client that does little has to wait.
type pinger struct {
	stop  chan struct{}
	done  sync.WaitGroup
	worst time.Duration
	err   error
}

// ping sends PINGs until end is called.
func (s *testServer) ping() *pinger {
	c := s.dial()
	p := &pinger{stop: make(chan struct{})}
	p.done.Go(func() {
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
			}
			start := time.Now()
			if _, p.err = fmt.Fprint(c, "PING\r\n"); p.err != nil {
				return
			}
			if _, p.err = readReply(c.r); p.err != nil {
				return
			}
			p.worst = max(p.worst, time.Since(start))
		}
	})
	return p
}

// end returns the longest wait.
func (p *pinger) end(t *testing.T) time.Duration {
	close(p.stop)
	p.done.Wait()
	require.NoError(t, p.err, "the pinger was hurt")
	return p.worst
}
