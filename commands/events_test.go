package commands

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// TestDuelOfEvents runs every transcript on a real redis-server that announces
// what happens to keys: the rows must announce the same. Expiry, eviction,
// misses and new keys are the server's to announce, and not compared here.
func TestDuelOfEvents(t *testing.T) {
	program := findRedis(t)
	for _, path := range glob(t) {
		if strings.HasSuffix(path, clockSuffix) || strings.HasSuffix(path, serverSuffix) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			duelEvents(t, path, startRedis(t, program, "--notify-keyspace-events", "Eg$lshztd"))
		})
	}
}

func duelEvents(t *testing.T, path string, redis *transcript.Remote) {
	f := parseFile(t, path)
	l := startListener(t, redis)
	ours := bareHarness(4, 1)
	ours.listening = true
	m := mismatches{t: t, path: path}
	d := dueller{Player: redis, ours: ours}
	err := f.Play(&d, func(s *transcript.Step, _ []byte, _ transcript.Reply) error {
		want, err := l.next()
		if err != nil {
			return err
		}
		got := strings.Join(ours.heard, "\n")
		ours.heard = nil
		if got != want {
			m.add(s, fmt.Errorf("> %s\nredis announces: %.300q\nfirn: %.300q", s.Command(), want, got))
		}
		return nil
	})
	require.NoError(t, err)
	m.report()
}

// heardEvent is an event as a subscriber to it gets it.
func heardEvent(e Event) string {
	return fmt.Sprintf("__keyevent@%d__:%s %s", e.DB, e.Name, transcript.Quote(string(e.Key)))
}

// A listener is subscribed to everything.
type listener struct {
	in    *bufio.Reader
	redis *transcript.Remote
}

func startListener(t *testing.T, redis *transcript.Remote) *listener {
	conn, err := redis.Dial()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("PSUBSCRIBE *\r\n"))
	require.NoError(t, err)
	l := &listener{bufio.NewReader(conn), redis}
	_, _, err = transcript.Read(l.in)
	require.NoError(t, err)
	return l
}

// next returns what was announced since the last call.
func (l *listener) next() (string, error) {
	if _, err := l.redis.Do("marker", [][]byte{[]byte("PUBLISH"), []byte("marker"), []byte("1")}); err != nil {
		return "", err
	}
	var got []string
	for {
		v, _, err := transcript.Read(l.in)
		if err != nil {
			return "", err
		}
		channel, message := v.Elems[2].Text, v.Elems[3].Text
		if channel == "marker" {
			return strings.Join(got, "\n"), nil
		}
		got = append(got, channel+" "+transcript.Quote(message))
	}
}
