package commands

import "slices"

// categories are those of ACLs, in Redis' order.
var categories = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string",
	"bitmap", "hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow",
	"blocking", "dangerous", "connection", "transaction", "scripting",
}

// Categories returns the names of the categories that commands are in. The
// caller owns the slice.
func Categories() []string { return slices.Clone(categories) }

// InCategory returns the full names of the rows in a category, in whatever
// case, subcommands behind their containers; ok is false if there is no such
// category.
func (t *Table) InCategory(name []byte) (names []string, ok bool) {
	known := func(c string) bool { return foldEqual(name, c) }
	if !slices.ContainsFunc(categories, known) {
		return nil, false
	}
	t.each(func(r *Command) {
		if r.page().inCategory(name) {
			names = append(names, r.full)
		}
	})
	return names, true
}

// each calls yield with every row, by name, subcommands behind their containers.
func (t *Table) each(yield func(*Command)) {
	for _, top := range t.Rows() {
		yield(top)
		for _, sub := range subRows(top) {
			yield(sub)
		}
	}
}
