package logging

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type stopped struct{ now time.Time }

func (s stopped) Now() time.Time                       { return s.now }
func (s stopped) NewTicker(time.Duration) *time.Ticker { return nil }

var clock = stopped{time.Date(2026, 11, 3, 9, 10, 11, 123456789, time.Local)}

func TestLines(t *testing.T) {
	var out bytes.Buffer
	role := byte('C')
	log, level, err := New(Options{Out: &out, PID: 4711, Clock: clock, Role: func() byte { return role }})
	require.NoError(t, err)
	f := func(want string, write func()) {
		out.Reset()
		write()
		require.Equal(t, want, out.String())
	}
	f("4711:C 03 Nov 2026 09:10:11.123 * Ready to accept connections\n", func() { log.Info("Ready to accept connections") })
	role = 'M'
	f("", func() { log.Debug("hidden") })
	f("4711:M 03 Nov 2026 09:10:11.123 # No space left error=\"disk full\"\n", func() {
		log.Error("No space left", zap.Error(errors.New("disk full")))
	})
	level.SetLevel(LevelVerbose)
	f("", func() { log.Log(LevelDebug, "hidden") })
	f("4711:M 03 Nov 2026 09:10:11.123 - Accepted addr=127.0.0.1:5\n", func() { log.Debug("Accepted", zap.String("addr", "127.0.0.1:5")) })
	level.SetLevel(LevelDebug)
	f("4711:M 03 Nov 2026 09:10:11.123 . x\n", func() { log.Log(LevelDebug, "x") })
	level.SetLevel(LevelWarning)
	f("", func() { log.Info("hidden") })
	f("4711:M 03 Nov 2026 09:10:11.123 # w\n", func() { log.Warn("w") })
}

func TestFields(t *testing.T) {
	var out bytes.Buffer
	log, _, err := New(Options{Out: &out, PID: 1, Clock: clock})
	require.NoError(t, err)
	log = log.With(zap.Int("db", 3))
	log.Info("a\nb", zap.String("key", "x y"), zap.String("empty", ""), zap.Duration("took", 1500*time.Millisecond), zap.Bool("ok", true),
		zap.Binary("raw", []byte("\x00\xff")), zap.Namespace("peer"), zap.Strings("names", []string{"p", "q"}),
		zap.String("forged", "x\n1:M 03 Nov 2026 * fine"))
	_, got, _ := strings.Cut(out.String(), " * ")
	require.Equal(t, `a\nb db=3 key="x y" empty="" took=1.5s ok=true raw="\x00\xff" peer.names="[p q]" `+
		`peer.forged="x\n1:M 03 Nov 2026 * fine"`+"\n", got)
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	log, level, err := New(Options{Out: &out, PID: 7, JSON: true, Clock: stopped{clock.now.UTC()}, Level: LevelDebug})
	require.NoError(t, err)
	log.Log(LevelDebug, "x", zap.Int("n", 1))
	log.Error("y")
	level.SetLevel(LevelWarning)
	log.Info("hidden")
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 2)
	stamp := clock.now.UTC().Format(time.RFC3339Nano)
	require.JSONEq(t, `{"level":"debug","time":"`+stamp+`","msg":"x","pid":7,"n":1}`, lines[0])
	require.JSONEq(t, `{"level":"error","time":"`+stamp+`","msg":"y","pid":7}`, lines[1])
}

// TestFile renames the log file under the logger, as logrotate does.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "firn.log")
	log, _, err := New(Options{File: path, PID: 1, Clock: clock})
	require.NoError(t, err)
	log.Info("one")
	require.NoError(t, os.Rename(path, path+".1"))
	log.Info("two")
	f := func(path, want string) {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "1:M 03 Nov 2026 09:10:11.123 * "+want+"\n", string(content))
	}
	f(path+".1", "one")
	f(path, "two")
	_, _, err = New(Options{File: filepath.Join(path, "x")})
	require.ErrorContains(t, err, "Can't open the log file: ")
}

func TestParseLevel(t *testing.T) {
	f := func(name string, want zapcore.Level) {
		level, ok := ParseLevel(name)
		require.True(t, ok)
		require.Equal(t, want, level)
	}
	f("debug", LevelDebug)
	f("Verbose", LevelVerbose)
	f("notice", LevelNotice)
	f("warning", LevelWarning)
	_, ok := ParseLevel("loud")
	require.False(t, ok)
	require.Less(t, LevelDebug, LevelVerbose)
	require.Less(t, LevelVerbose, LevelNotice)
	require.Less(t, LevelNotice, LevelWarning)
}
