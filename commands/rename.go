package commands

import (
	"errors"
	"strings"
)

// Why a rename-command line is refused, in Redis' words.
var (
	ErrRenameUnknown = errors.New("No such command in rename-command")
	ErrRenameTaken   = errors.New("Target command name already exists")
)

// Rename gives a command another name, or, with an empty one, takes it away. It
// must be done before the table is used. The row keeps its own name in errors
// and statistics, as in Redis.
func (t *Table) Rename(from, to string) error {
	from, to = strings.ToLower(from), strings.ToLower(to)
	row := t.rows[from]
	if row == nil {
		return ErrRenameUnknown
	}
	delete(t.rows, from)
	if to == "" {
		return nil
	}
	if t.rows[to] != nil {
		t.rows[from] = row
		return ErrRenameTaken
	}
	t.rows[to] = row
	return nil
}
