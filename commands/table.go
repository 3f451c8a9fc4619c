package commands

import (
	"fmt"
	"slices"
	"strings"
)

// Families are the rows of this package; package server adds its own.
func Families() [][]Command {
	return [][]Command{listCommands, scanCommands, keyCommands, expireCommands, objectCommands, memoryCommands, flushCommands, stringCommands, bitCommands, bitopCommands, bitfieldCommands, connectionCommands, introspectCommands, lolwutCommands, hashCommands, setCommands, setopCommands, memberCommands, keydbCommands, zsetCommands, zsetopCommands, hllCommands, geoCommands, sortCommands, dumpCommands, streamCommands, blockingCommands}
}

// A Table finds rows by name. It is read-only after NewTable.
type Table struct {
	rows map[string]*Command
	all  []*Command // by index, subcommands included
}

const (
	maxName    = 32   // length of the longest name of a row
	maxRenamed = 1024 // length of the longest name that is looked up
)

// NewTable builds the table of all rows. It panics on a bad row, so that a
// program with one does not start.
func NewTable(families ...[]Command) *Table {
	t := &Table{rows: map[string]*Command{}}
	for _, row := range merge(families) {
		t.add(t.rows, row, nil)
	}
	return t
}

// merge copies the rows. Containers of one name become one, so that families
// may share it (MEMORY USAGE is a matter of keys, MEMORY DOCTOR of the server).
func merge(families [][]Command) (rows []*Command) {
	containers := map[string]*Command{}
	for _, family := range families {
		for _, row := range family {
			row.Subs = slices.Clone(row.Subs)
			first := containers[row.Name]
			switch {
			case row.Run != nil:
			case first != nil:
				first.Subs = append(first.Subs, row.Subs...)
				continue
			default:
				containers[row.Name] = &row
			}
			rows = append(rows, &row)
		}
	}
	return rows
}

// add checks a row, completes it and puts it into the map.
func (t *Table) add(rows map[string]*Command, row, parent *Command) {
	name := strings.ToLower(row.Name)
	row.full, row.parent = name, parent
	if parent != nil {
		row.full = parent.full + "|" + name
	}
	row.check()
	if rows[name] != nil {
		panic("commands: " + row.full + " has two rows")
	}
	rows[name] = row
	row.index = len(t.all)
	t.all = append(t.all, row)
	if row.Subs == nil {
		return
	}
	row.subs = map[string]*Command{}
	for i := range row.Subs {
		t.add(row.subs, &row.Subs[i], row)
	}
}

func (r *Command) check() {
	bad := func(why string) { panic(fmt.Sprintf("commands: row %s: %s", r.full, why)) }
	switch {
	case r.Name != strings.ToUpper(r.Name) || r.Name == "" || len(r.Name) > maxName:
		bad("the name must be upper case and short")
	case r.Run == nil && r.Subs == nil:
		bad("no handler")
	case r.Arity == 0:
		bad("no arity")
	case r.Keys.First > 0 && r.Keys.Step == 0:
		bad("keys without a step")
	case r.Keys.First >= max(r.Arity, -r.Arity) && r.Keys.Find == nil && r.Keys.First > 0:
		bad("the arity is too small for its keys")
	case r.Run != nil && r.Run.Kind() == KindConn && (r.Keys.First > 0 || r.Keys.All):
		bad("keys on a row that can't reach them")
	case r.Summary == "":
		bad("no summary")
	case r.Run != nil && (r.Run.Kind() == KindStore) != (r.Dest.First > 0 || r.Dest.Find != nil):
		bad("Dest is for an OnStore, which must have it")
	case r.Dest.First > 0 && r.Dest.Step == 0 || r.Dest.All || r.Dest.Last < 0:
		bad("Dest must name a few keys")
	}
}

// Lookup returns the row of the name, in whatever case, or nil.
func (t *Table) Lookup(name []byte) *Command { return lookup(t.rows, name) }

// Sub returns the subcommand of the name, in whatever case, or nil.
func (r *Command) Sub(name []byte) *Command { return lookup(r.subs, name) }

func lookup(rows map[string]*Command, name []byte) *Command {
	if len(name) > maxName { // at most one that it was given by Rename
		if len(name) > maxRenamed {
			return nil
		}
		return rows[strings.ToLower(string(name))]
	}
	var lower [maxName]byte
	for i, b := range name {
		lower[i] = lowerByte(b)
	}
	return rows[string(lower[:len(name)])]
}

// Resolve finds the row that a command line runs: its subcommand's, for a
// container that is given one. The error is the reply for a command line that
// names no row or has the wrong number of arguments.
func (t *Table) Resolve(args [][]byte) (*Command, error) {
	row := t.Lookup(args[0])
	if row == nil {
		return nil, ErrUnknownCommand(args[0], args[1:])
	}
	if row.subs != nil && len(args) > 1 {
		sub := row.Sub(args[1])
		if sub == nil {
			return row, ErrUnknownSubcommand([]byte(row.full), args[1])
		}
		row = sub
	}
	if row.Run == nil || !row.counts(args) {
		return row, ErrArity(row.full)
	}
	return row, nil
}

// counts says whether the number of arguments is right.
func (r *Command) counts(args [][]byte) bool {
	return len(args) == r.Arity || r.Arity < 0 && len(args) >= -r.Arity
}

// Fits says whether a command line that names the row, which is no subcommand
// and no container, is right so far.
func (r *Command) Fits(args [][]byte) bool {
	return r.subs == nil && r.parent == nil && r.counts(args)
}

// Len returns the number of rows, subcommands included; every Index is below.
func (t *Table) Len() int { return len(t.all) }

// ByIndex returns the row with the index.
func (t *Table) ByIndex(i int) *Command { return t.all[i] }

// Rows returns the top-level rows by name.
func (t *Table) Rows() []*Command {
	all := make([]*Command, 0, len(t.rows))
	for _, r := range t.rows {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b *Command) int { return strings.Compare(a.full, b.full) })
	return all
}
