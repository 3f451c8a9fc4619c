package commands

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"
	"firn/shard"

	"github.com/stretchr/testify/require"
)

// TestDuelOfEffects runs every transcript on a real redis-server and reads what
// it sends to a replica: the effects of the rows must be the same commands. Of
// instants only their length is compared.
func TestDuelOfEffects(t *testing.T) {
	program := findRedis(t)
	for _, path := range glob(t) {
		if strings.HasSuffix(path, clockSuffix) || strings.HasSuffix(path, serverSuffix) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			redis := startRedis(t, program, "--repl-diskless-sync", "no")
			duelEffects(t, path, redis)
		})
	}
}

func duelEffects(t *testing.T, path string, redis *transcript.Remote) {
	f := parseFile(t, path)
	stream := startStream(t, redis)
	ours := bareHarness(4, 1)
	ours.recording = true
	m := mismatches{t: t, path: path}
	d := dueller{Player: redis, ours: ours}
	owed := map[string]bool{}
	err := f.Play(&d, func(s *transcript.Step, _ []byte, _ transcript.Reply) error {
		want, err := stream.next()
		if err != nil {
			return err
		}
		if got := streamLines(ours.effects); !sameEffects(s, want, got, owed) {
			m.add(s, fmt.Errorf("> %s\nredis propagates: %.300q\nfirn: %.300q", s.Command(), want, got))
		}
		ours.effects = nil
		ours.now = time.Now().UnixMilli()
		return nil
	})
	require.NoError(t, err)
	m.report()
}

// sameEffects knows where Firn differs on purpose.
func sameEffects(s *transcript.Step, redis, firn []string, owed map[string]bool) bool {
	name := strings.ToLower(string(s.Args[0]))
	switch name {
	case "function", "script":
		return len(firn) == 0 // Firn has none
	case "scan", "keys", "randomkey":
		// They read frozen versions, so an expired key that they meet goes
		// only when it is looked up.
		for _, line := range redis {
			owed[line] = true
		}
		return len(firn) == 0
	case "bitfield":
		// Redis grows the string for a write that then overflows, and
		// doesn't tell its replicas.
		if len(redis) == 0 && strings.Contains(strings.ToUpper(s.Command()), "OVERFLOW FAIL") {
			return true
		}
	}
	firn = slices.DeleteFunc(firn, func(line string) bool {
		was := owed[line]
		delete(owed, line)
		return was
	})
	return slices.Equal(redis, firn)
}

// A propagation is what redis-server sends to a replica.
type propagation struct {
	in      *bufio.Reader
	redis   *transcript.Remote
	db      string
	markers int
}

// startStream becomes a replica, in the oldest and simplest way.
func startStream(t *testing.T, redis *transcript.Remote) *propagation {
	_, err := redis.Do("main", [][]byte{[]byte("DEBUG"), []byte("SET-ACTIVE-EXPIRE"), []byte("0")})
	require.NoError(t, err)
	conn, err := redis.Dial()
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte("SYNC\r\n"))
	require.NoError(t, err)
	p := &propagation{in: bufio.NewReader(conn), redis: redis, db: "0"}
	line := "\n"
	for line == "\n" { // sent to keep the connection alive
		line, err = p.in.ReadString('\n')
		require.NoError(t, err)
	}
	size, err := strconv.ParseInt(strings.Trim(line, "$\r\n"), 10, 64)
	require.NoError(t, err)
	_, err = io.CopyN(io.Discard, p.in, size)
	require.NoError(t, err)
	return p
}

// next returns what was propagated since the last call. A message to nobody
// marks the end.
func (p *propagation) next() (got []string, err error) {
	p.markers++
	mark := strconv.Itoa(p.markers)
	if _, err := p.redis.Do("marker", [][]byte{[]byte("PUBLISH"), []byte("marker"), []byte(mark)}); err != nil {
		return nil, err
	}
	for {
		v, _, err := transcript.Read(p.in)
		if err != nil {
			return nil, err
		}
		words := make([]string, len(v.Elems))
		for i, e := range v.Elems {
			words[i] = e.Text
		}
		switch strings.ToUpper(words[0]) {
		case "SELECT":
			p.db = words[1]
		case "MULTI", "EXEC", "PING", "REPLCONF":
		case "PUBLISH":
			return got, nil
		default:
			got = append(got, streamLine(p.db, words))
		}
	}
}

func streamLines(effects []shard.Effect) (lines []string) {
	for _, e := range effects {
		words := make([]string, len(e.Args))
		for i, a := range e.Args {
			words[i] = string(a)
		}
		lines = append(lines, streamLine(strconv.Itoa(e.DB), words))
	}
	return lines
}

// An instant may be a stream's id: two of one millisecond are told apart.
var instant = regexp.MustCompile(`"1[78]\d{11}(-\d)?"`)

// streamLine prints an effect; its name in lower case, as nothing hangs on it.
func streamLine(db string, words []string) string {
	line := db + ": " + strings.ToLower(words[0])
	for _, w := range words[1:] {
		line += " " + transcript.Quote(w)
	}
	return instant.ReplaceAllString(line, "<instant>")
}
