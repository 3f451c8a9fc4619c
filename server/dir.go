package server

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// CheckDir says whether files can be made in the directory, and gives it in
// full. A server that could not save is refused at its start, not hours later.
func CheckDir(dir string) (string, error) {
	full, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(full)
	if err != nil {
		return "", err
	}
	if !st.IsDir() {
		return "", fmt.Errorf("%s: %w", full, unix.ENOTDIR)
	}
	if err := unix.Access(full, unix.W_OK|unix.X_OK); err != nil {
		return "", fmt.Errorf("can't write to directory %s as uid %d: %w", full, os.Getuid(), err)
	}
	return full, nil
}
