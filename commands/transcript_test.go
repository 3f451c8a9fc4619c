package commands

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

var (
	update          = flag.Bool("update", false, "write the replies that the rows give into the transcripts")
	updateFromRedis = flag.Bool("update-from-redis", false, "write the replies that redis-server gives into the transcripts")
)

const (
	transcripts  = "testdata/*.txt"
	clockSuffix  = "_clock.txt"  // much time passes: not for a real server
	serverSuffix = "_server.txt" // needs more than the keyspace: not for the harness
	maxShown     = 8             // mismatches of one file
)

// TestTranscripts runs every transcript on one store and on several, where in
// addition versions are frozen and records are moved in every Pause.
func TestTranscripts(t *testing.T) {
	for _, path := range glob(t) {
		if strings.HasSuffix(path, serverSuffix) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			for _, stores := range []int{1, 4} {
				h := newHarness(stores, 1)
				h.rough = stores > 1
				playFile(t, path, h, *update && stores == 1)
				require.NoError(t, h.verify())
			}
		})
	}
}

func glob(t testing.TB) []string {
	paths, err := filepath.Glob(transcripts)
	require.NoError(t, err)
	return paths
}

func parseFile(t testing.TB, path string) *transcript.File {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := transcript.Parse(path, text)
	require.NoError(t, err)
	return f
}

func playFile(t *testing.T, path string, p transcript.Player, write bool) {
	f := parseFile(t, path)
	m := mismatches{t: t, path: path}
	err := f.Play(p, func(s *transcript.Step, _ []byte, v transcript.Reply) error {
		if write {
			s.Update(v)
			return nil
		}
		m.add(s, s.Compare(v))
		return nil
	})
	require.NoError(t, err)
	m.report()
	if write {
		require.NoError(t, os.WriteFile(path, f.Bytes(), 0o600))
	}
}

// mismatches are told together, so that one run shows them all.
type mismatches struct {
	t    *testing.T
	path string
	all  []string
}

func (m *mismatches) add(s *transcript.Step, err error) {
	if err != nil {
		m.all = append(m.all, fmt.Sprintf("%s:%d:\n%v\n", m.path, s.Line, err))
	}
}

func (m *mismatches) report() {
	m.t.Helper()
	if len(m.all) > 0 {
		m.t.Fatalf("%d replies differ\n%s", len(m.all), strings.Join(m.all[:min(len(m.all), maxShown)], "\n"))
	}
}

// TestEveryRowHasATranscript wants each row, and each subcommand, to be run by
// some transcript.
func TestEveryRowHasATranscript(t *testing.T) {
	table := NewTable(Families()...)
	run := map[string]bool{}
	for _, path := range glob(t) {
		for _, s := range parseFile(t, path).Steps {
			if len(s.Args) == 0 {
				continue
			}
			if row, _ := table.Resolve(s.Args); row != nil {
				run[row.FullName()] = true
			}
		}
	}
	var missing []string
	for _, row := range table.Rows() {
		missing = append(missing, without(run, row)...)
	}
	require.Empty(t, missing, "rows without a line in commands/testdata")
}

func without(run map[string]bool, row *Command) (missing []string) {
	if row.Run != nil && !run[row.FullName()] {
		missing = append(missing, row.FullName())
	}
	for i := range row.Subs {
		missing = append(missing, without(run, &row.Subs[i])...)
	}
	return missing
}

// TestDuel runs every transcript on a real redis-server. Replies must be those
// of the file, and on the wire the same bytes as the rows give.
func TestDuel(t *testing.T) {
	program := findRedis(t)
	for _, path := range glob(t) {
		if strings.HasSuffix(path, clockSuffix) {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			duel(t, path, startRedis(t, program))
		})
	}
}

// maxPassing is how long a duel may wait in all for a file.
const maxPassing = 1100 * time.Millisecond

func duel(t *testing.T, path string, redis transcript.Player) {
	f := parseFile(t, path)
	require.LessOrEqual(t, f.Passing(), maxPassing, "too long to wait for; name the file *%s", clockSuffix)
	d := dueller{Player: redis, ours: newHarness(4, 1), whole: strings.HasSuffix(path, serverSuffix)}
	m := mismatches{t: t, path: path}
	err := f.Play(&d, func(s *transcript.Step, raw []byte, v transcript.Reply) error {
		if *updateFromRedis {
			s.Update(v)
		}
		m.add(s, s.Compare(v))
		if d.last != nil && s.Modifier == 0 && !bytes.Equal(raw, d.last) {
			m.add(s, fmt.Errorf("> %s\nredis: %.300q\nfirn:  %.300q", s.Command(), raw, d.last))
		}
		return nil
	})
	require.NoError(t, err)
	if *updateFromRedis {
		require.NoError(t, os.WriteFile(path, f.Bytes(), 0o600))
	}
	m.report()
}

// A dueller plays on a server and on the harness at once.
type dueller struct {
	transcript.Player
	ours  *harness
	whole bool   // the harness can't follow
	last  []byte // what the harness answered; nil if it wasn't asked
}

func (d *dueller) Do(session string, args [][]byte) (raw []byte, err error) {
	if !d.whole {
		if d.last, err = d.ours.Do(session, args); err != nil {
			return nil, err
		}
	}
	return d.Player.Do(session, args)
}

func (d *dueller) Advance(by time.Duration) error {
	if err := d.ours.Advance(by); err != nil {
		return err
	}
	return d.Player.Advance(by)
}

// TestCorpus guards against a corpus that is silently not found.
func TestCorpus(t *testing.T) {
	paths := glob(t)
	require.NotEmpty(t, paths)
	require.True(t, slices.IsSorted(paths))
	for _, path := range paths {
		f := parseFile(t, path)
		require.NotEmpty(t, f.Steps, path)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(text), string(f.Bytes()), "%s is not as a rewrite would leave it", path)
	}
}
