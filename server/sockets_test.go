package server

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// socketPath is short enough for a unix socket.
func socketPath(t *testing.T) string {
	dir, err := os.MkdirTemp("", "s")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s")
}

func fileMode(t *testing.T, path string) string {
	fi, err := os.Stat(path)
	require.NoError(t, err)
	return "s" + fi.Mode().Perm().String()[1:]
}

// socketOption reads an option of a socket that is open in this process.
func socketOption(t *testing.T, fd int, name string) int {
	level, opt := unix.SOL_SOCKET, unix.SO_KEEPALIVE
	switch name {
	case "idle":
		level, opt = unix.IPPROTO_TCP, unix.TCP_KEEPIDLE
	case "nodelay":
		level, opt = unix.IPPROTO_TCP, unix.TCP_NODELAY
	}
	v, err := unix.GetsockoptInt(fd, level, opt)
	require.NoError(t, err)
	return v
}
