package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// RewriteFile puts content into the file at path so that after a crash there is either the old file or the new one: written
// aside, synced, renamed, and the directory synced. The file keeps its mode, and a symbolic link stays one. A new file can be
// read by its owner only, since it may hold passwords.
func RewriteFile(path string, content []byte) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case err == nil:
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("config rewrite: %w", err)
	}
	if err := replace(path, content, mode); err != nil {
		return fmt.Errorf("config rewrite: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func replace(path string, content []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("config rewrite: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("config rewrite: %w", err)
	}
	return nil
}
