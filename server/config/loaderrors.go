package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
)

// A LineError is why one line of a configuration was refused.
type LineError struct {
	Source string // the file's path, or "the command line"; "" if it is about the whole
	Line   int    // from 1; 0 where there are no line numbers
	Text   string // the line
	Reason error
}

// Error gives the place, the line and the reason, a line each, as Redis prints them.
func (e *LineError) Error() string {
	var b strings.Builder
	switch {
	case e.Source == "":
	case e.Line > 0:
		fmt.Fprintf(&b, "Reading the configuration file, at line %d of %s\n", e.Line, e.Source)
	default:
		fmt.Fprintf(&b, "Reading the configuration, on %s\n", e.Source)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ">>> '%s'\n", e.Text)
	}
	b.WriteString(e.Reason.Error())
	return b.String()
}

// Unwrap gives the reason.
func (e *LineError) Unwrap() error { return e.Reason }

// Errors is everything that is wrong with a configuration.
type Errors []*LineError

// Error gives all of them, with a blank line between two.
func (e Errors) Error() string {
	texts := make([]string, len(e))
	for i, one := range e {
		texts[i] = one.Error()
	}
	return strings.Join(texts, "\n\n")
}

// Unwrap gives the single errors.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// Report gives what a server prints before it leaves. Who is its name and version.
func (e Errors) Report(who string) string {
	return fmt.Sprintf("\n*** FATAL CONFIG FILE ERROR (%s) ***\n%s\n", who, e.Error())
}

// cantOpen says why a file can't be read, in the system's words.
func cantOpen(path string, err error) error {
	var number syscall.Errno
	var pathErr *fs.PathError
	switch {
	case errors.As(err, &number):
		err = number
	case errors.As(err, &pathErr):
		err = pathErr.Err
	}
	return fmt.Errorf("Fatal error, can't open config file '%s': %w", path, err)
}

// unknown says that there is no such keyword, and which one may be meant.
func unknown(name string) error {
	word, _, _ := strings.Cut(name, "=")
	near := nearest(word)
	if near == "" || near == name {
		return errDirective
	}
	return fmt.Errorf("%w (did you mean '%s'?)", errDirective, near)
}

// nearest gives the keyword that is the fewest edits away, "" if none is near.
func nearest(name string) string {
	best, distance := "", max(2, len(name)/4)+1
	for _, known := range slices.Concat(table.names, []string{"include", "rename-command", "user", "loadmodule"}) {
		if d := edits(name, known, distance); d < distance {
			best, distance = known, d
		}
	}
	return best
}

// edits counts the letters to insert, delete or replace between two words (Levenshtein), or gives limit if there are that many.
func edits(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return min(row[len(b)], limit)
}
