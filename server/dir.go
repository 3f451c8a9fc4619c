package server

import (
	"fmt"
	"os"
	"path/filepath"
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
		return "", fmt.Errorf("%s is not a directory", full)
	}
	return full, nil
}
