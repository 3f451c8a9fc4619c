package commands

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A page is what the reference says of a command or a subcommand beyond what a
// row needs for running it: the contents of COMMAND INFO and COMMAND DOCS.
type page struct {
	Name            string      `json:"name"` // as FullName
	Arity           int         `json:"arity"`
	Flags           []string    `json:"flags,omitempty"`
	Keys            [3]int      `json:"keys,omitzero"` // first, last, step
	Categories      []string    `json:"acl_categories,omitempty"`
	Tips            []string    `json:"tips,omitempty"`
	KeySpecs        keySpecs    `json:"key_specs,omitempty"`
	Summary         string      `json:"summary,omitempty"`
	Since           string      `json:"since,omitempty"`
	Group           string      `json:"group"`
	Complexity      string      `json:"complexity,omitempty"`
	DocFlags        []string    `json:"doc_flags,omitempty"`
	DeprecatedSince string      `json:"deprecated_since,omitempty"`
	ReplacedBy      string      `json:"replaced_by,omitempty"`
	History         [][2]string `json:"history,omitempty"` // version and change
	Arguments       []argument  `json:"arguments,omitempty"`
}

// An argument is a node of the tree that says how a command is called.
type argument struct {
	Name            string     `json:"name"`
	Type            string     `json:"type"`
	KeySpec         *int       `json:"key_spec_index,omitempty"`
	Token           *string    `json:"token,omitempty"` // may be the empty string
	Summary         string     `json:"summary,omitempty"`
	Since           string     `json:"since,omitempty"`
	DeprecatedSince string     `json:"deprecated_since,omitempty"`
	Flags           []string   `json:"flags,omitempty"`
	Arguments       []argument `json:"arguments,omitempty"`
}

func (p *page) has(flag string) bool { return slices.Contains(p.Flags, flag) }

// referenceJSON are the replies of Redis 7.0.15 to COMMAND INFO and COMMAND
// DOCS, one line a command (TestReference writes it anew), and the few later
// commands that are known here, from the documentation of 7.2.
//
//go:embed reference.json
var referenceJSON []byte

// reference reads the pages when they are first asked for.
var reference = sync.OnceValue(func() map[string]*page {
	pages, err := parseReference(referenceJSON)
	if err != nil {
		panic(err)
	}
	return pages
})

func parseReference(text []byte) (map[string]*page, error) {
	var all []*page
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&all); err != nil {
		return nil, fmt.Errorf("commands: reference.json: %w", err)
	}
	pages := make(map[string]*page, len(all))
	for _, p := range all {
		pages[p.Name] = p
	}
	return pages, nil
}

// page returns the reference's page of the row, or one that says what the row
// itself knows.
func (r *Command) page() *page {
	if p := reference()[r.full]; p != nil {
		return p
	}
	p := &page{Name: r.full, Arity: r.Arity, Summary: r.Summary, Group: "generic", Categories: []string{"slow"}}
	p.Flags = r.flagNames()
	if k := r.Keys; k.First > 0 {
		p.Keys = [3]int{k.First, k.Last, k.Step}
		p.KeySpecs = keySpecs{k.spec()}
	}
	return p
}

// flagNames are the row's flags as COMMAND INFO spells and orders them.
func (r *Command) flagNames() []string {
	var names []string
	if mode := r.mode(); mode != "" {
		names = append(names, mode)
	}
	for _, f := range flagNames {
		if r.Flags&f.flag != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// mode says whether the row's handler writes or reads keys; empty if it isn't
// for the handler to say.
func (r *Command) mode() string {
	if r.Run == nil {
		return ""
	}
	switch r.Run.Kind() {
	case KindOwner, KindStore:
		return "write"
	case KindView, KindCut:
		return "readonly"
	}
	return ""
}

var flagNames = []struct {
	flag Flag
	name string
}{
	{DenyOOM, "denyoom"},
	{Admin, "admin"},
	{PubSub, "pubsub"},
	{NoScript, "noscript"},
	{Blocking, "blocking"},
	{Loading, "loading"},
	{SkipMon, "skip_monitor"},
	{SkipSlow, "skip_slowlog"},
	{NoAuth, "no_auth"},
	{NoMulti, "no_multi"},
}

// readersThatWrite are reading commands of the reference whose handlers must
// own their keys nevertheless.
var readersThatWrite = []string{"pfcount"}

// widened are commands that take more arguments than the reference says: since
// Redis 7.2, or a member behind the key as in KeyDB.
var widened = []string{"zrank", "zrevrank", "ttl", "pttl", "persist"}

// Contradictions compares the rows with the reference and names what differs:
// it is for tests of the packages that have rows. A row that the reference
// doesn't have is no contradiction.
func (t *Table) Contradictions() []string {
	var all []string
	for _, r := range t.all {
		if p := reference()[r.full]; p != nil {
			all = append(all, r.contradictions(p)...)
		}
	}
	return all
}

func (r *Command) contradictions(p *page) (all []string) {
	differ := func(what string, row, want any) {
		if row != want {
			all = append(all, fmt.Sprintf("%s: %s is %v, must be %v", r.full, what, row, want))
		}
	}
	if !slices.Contains(widened, r.full) {
		differ("arity", r.Arity, p.Arity)
	}
	differ("summary", r.Summary, p.Summary)
	switch keys := [3]int{r.Keys.First, r.Keys.Last, r.Keys.Step}; {
	case r.Keys.Find != nil: // says more than three numbers can
	case p.KeySpecs.realKeys():
		differ("keys", keys, p.Keys)
	default: // the page's numbers, if any, are about channels
		differ("keys", keys, [3]int{})
	}
	for _, f := range flagNames {
		differ("flag "+f.name, r.Flags&f.flag != 0, p.has(f.name))
	}
	if mode := r.mode(); mode != "" && !slices.Contains(readersThatWrite, r.full) {
		differ("the handler's kind", mode, p.mode())
	}
	return all
}

// mode is "write", "readonly", or neither.
func (p *page) mode() string {
	for _, f := range p.Flags {
		if f == "write" || f == "readonly" {
			return f
		}
	}
	return "neither write nor readonly"
}

// inCategory says whether an ACL category, in whatever case, has the command.
func (p *page) inCategory(name []byte) bool {
	return slices.ContainsFunc(p.Categories, func(c string) bool { return foldEqual(name, c) })
}

// byName orders rows for replies whose order Redis leaves to chance.
func byName(a, b *Command) int { return strings.Compare(a.full, b.full) }
