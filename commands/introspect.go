package commands

import (
	"bytes"
	"slices"

	"firn/scan"
)

// introspectCommands tell clients which commands there are.
var introspectCommands = []Command{
	{Name: "COMMAND", Arity: -1, Flags: Loading, Run: OnConn(commandAll), Summary: "Get array of Redis command details", Subs: []Command{
		{Name: "COUNT", Arity: 2, Flags: Loading, Run: OnConn(commandCount), Summary: "Get total number of Redis commands"},
		{Name: "DOCS", Arity: -2, Flags: Loading, Run: OnConn(commandDocs), Summary: "Get array of specific Redis command documentation"},
		{Name: "GETKEYS", Arity: -4, Flags: Loading, Run: OnConn(commandGetKeys), Summary: "Extract keys given a full Redis command"},
		{Name: "GETKEYSANDFLAGS", Arity: -4, Flags: Loading, Run: OnConn(commandGetKeysAndFlags), Summary: "Extract keys and access flags given a full Redis command"},
		{Name: "HELP", Arity: 2, Flags: Loading, Run: OnConn(commandHelp), Summary: "Show helpful text about the different subcommands"},
		{Name: "INFO", Arity: -2, Flags: Loading, Run: OnConn(commandInfo), Summary: "Get array of specific Redis command details, or all when no argument is given."},
		{Name: "LIST", Arity: -2, Flags: Loading, Run: OnConn(commandList), Summary: "Get an array of Redis command names"},
	}},
}

func commandAll(c *Call) error {
	rows := c.Table.Rows()
	c.Out.Array(len(rows))
	for _, row := range rows {
		replyInfo(c.Out, row)
		c.Out.Spill()
	}
	return nil
}

func commandCount(c *Call) error {
	c.Out.Int(int64(len(c.Table.rows)))
	return nil
}

// commandInfo answers null for a name that isn't a command's.
func commandInfo(c *Call) error {
	names := c.Args[2:]
	if len(names) == 0 {
		return commandAll(c)
	}
	c.Out.Array(len(names))
	for _, name := range names {
		if row := c.Table.named(name); row != nil {
			replyInfo(c.Out, row)
		} else {
			c.Out.Null()
		}
		c.Out.Spill()
	}
	return nil
}

// commandDocs leaves a name out that isn't a command's.
func commandDocs(c *Call) error {
	rows := c.Table.Rows()
	if names := c.Args[2:]; len(names) > 0 {
		rows = rows[:0]
		for _, name := range names {
			if row := c.Table.named(name); row != nil {
				rows = append(rows, row)
			}
		}
	}
	c.Out.Map(len(rows))
	for _, row := range rows {
		c.Out.BulkString(row.full)
		replyDocs(c.Out, row)
		c.Out.Spill()
	}
	return nil
}

// named finds a row by its name as FullName gives it, in whatever case.
func (t *Table) named(name []byte) *Command {
	container, sub, isSub := bytes.Cut(name, []byte("|"))
	row := t.Lookup(container)
	if isSub && row != nil {
		return row.Sub(sub)
	}
	return row
}

func commandList(c *Call) error {
	keep, err := listFilter(c)
	if err != nil {
		return err
	}
	var names []string
	c.Table.each(func(row *Command) {
		if keep(row) {
			names = append(names, row.full)
		}
	})
	c.Out.Array(len(names))
	for _, name := range names {
		c.Out.BulkString(name)
	}
	return nil
}

// listFilter reads FILTERBY. No module is ever loaded, so none has a command.
func listFilter(c *Call) (keep func(*Command) bool, err error) {
	if len(c.Args) == 2 {
		return func(*Command) bool { return true }, nil
	}
	if len(c.Args) != 5 || !c.Is(2, "filterby") {
		return nil, ErrSyntax
	}
	value := c.Args[4]
	switch {
	case c.Is(3, "module"):
		return func(*Command) bool { return false }, nil
	case c.Is(3, "aclcat"):
		return func(r *Command) bool { return r.page().inCategory(value) }, nil
	case c.Is(3, "pattern"):
		glob := scan.CompileFold(value)
		return func(r *Command) bool { return glob.MatchString(r.full) }, nil
	}
	return nil, ErrSyntax
}

// subRows returns the subcommands by name.
func subRows(r *Command) []*Command {
	rows := make([]*Command, 0, len(r.Subs))
	for _, sub := range r.subs {
		rows = append(rows, sub)
	}
	slices.SortFunc(rows, byName)
	return rows
}

func commandGetKeys(c *Call) error {
	refs, err := getKeys(c)
	if err != nil {
		return err
	}
	c.Out.Array(len(refs))
	for _, ref := range refs {
		c.Out.Bulk(c.Args[2+ref.at])
	}
	return nil
}

func commandGetKeysAndFlags(c *Call) error {
	refs, err := getKeys(c)
	if err != nil {
		return err
	}
	c.Out.Array(len(refs))
	for _, ref := range refs {
		c.Out.Array(2)
		c.Out.Bulk(c.Args[2+ref.at])
		replyFlags(c.Out, ref.flags)
	}
	return nil
}

// getKeys finds the keys of the command line that follows GETKEYS. Finding none
// is an error unless the command can do without.
func getKeys(c *Call) ([]keyRef, error) {
	line := c.Args[2:]
	row := c.Table.Lookup(line[0])
	if row != nil && row.subs != nil && len(line) > 1 {
		row = row.Sub(line[1])
	}
	switch {
	case row == nil:
		return nil, ErrGetKeysCommand
	case !mayHaveKeys(row):
		return nil, ErrGetKeysNone
	case !row.takes(len(line)):
		return nil, ErrGetKeysArity
	}
	refs := keysOf(row, line)
	if len(refs) == 0 && !row.page().has("no_mandatory_keys") {
		return nil, ErrGetKeysArgs
	}
	return refs, nil
}

// takes says whether a command line may have n arguments, the name included.
func (r *Command) takes(n int) bool {
	if r.Arity < 0 {
		return n >= -r.Arity
	}
	return n == r.Arity
}

func commandHelp(c *Call) error {
	c.Out.Help("COMMAND",
		"(no subcommand)",
		"    Return details about all Redis commands.",
		"COUNT",
		"    Return the total number of commands in this Redis server.",
		"LIST",
		"    Return a list of all commands in this Redis server.",
		"INFO [<command-name> ...]",
		"    Return details about multiple Redis commands.",
		"    If no command names are given, documentation details for all",
		"    commands are returned.",
		"DOCS [<command-name> ...]",
		"    Return documentation details about multiple Redis commands.",
		"    If no command names are given, documentation details for all",
		"    commands are returned.",
		"GETKEYS <full-command>",
		"    Return the keys from a full Redis command.",
		"GETKEYSANDFLAGS <full-command>",
		"    Return the keys and the access flags from a full Redis command.",
	)
	return nil
}
