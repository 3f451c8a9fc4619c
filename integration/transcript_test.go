package integration

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

// TestTranscripts runs the corpus over TCP on the built server, a new one for
// each file. Files whose clock must be moved are left to package commands.
func TestTranscripts(t *testing.T) {
	firn := buildFirn(t)
	paths, err := filepath.Glob("../commands/testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		if strings.HasSuffix(name, "_clock") {
			continue
		}
		t.Run(name, func(t *testing.T) { playOn(t, path, startFirn(t, firn)) })
	}
}

func playOn(t *testing.T, path string, addr string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := transcript.Parse(path, text)
	require.NoError(t, err)
	r := &transcript.Remote{Dial: func() (io.ReadWriteCloser, error) { return dial(addr) }}
	defer r.Close()
	err = f.Play(r, func(s *transcript.Step, _ []byte, v transcript.Reply) error {
		if err := s.Compare(v); err != nil {
			t.Errorf("%s:%d:\n%v", path, s.Line, err)
		}
		return nil
	})
	require.NoError(t, err)
}
