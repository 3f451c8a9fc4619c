package commands

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

var updateReference = flag.Bool("update-reference", false, "write reference.json from the replies of redis-server; commands that it doesn't know stay")

// TestReference compares reference.json with what redis-server says of itself.
func TestReference(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	_, err := redis.Do("", words("HELLO 3"))
	require.NoError(t, err)
	pages := map[string]*page{}
	for name, p := range reference() {
		if slices.Contains(laterCommands, name) {
			pages[name] = p
		}
	}
	require.Len(t, pages, len(laterCommands))
	for _, info := range ask(t, redis, "COMMAND INFO").Elems {
		readInfo(t, pages, info)
	}
	readDocs(t, pages, ask(t, redis, "COMMAND DOCS"))
	text := formatReference(t, pages)
	if *updateReference {
		require.NoError(t, os.WriteFile("reference.json", text, 0o600))
		return
	}
	require.True(t, bytes.Equal(text, referenceJSON), "not what redis-server says; run this test with -update-reference")
}

// laterCommands are those of the reference that Redis 7.0 hasn't.
var laterCommands = []string{
	"client|no-touch", "client|setinfo", "waitaof", // 7.2
	"hexpire", "hpexpire", "hexpireat", "hpexpireat", "httl", "hpttl", "hexpiretime", "hpexpiretime", "hpersist", // 7.4
	"expiremember", "expirememberat", "pexpirememberat", "keydb.mexists", "keydb.hrename", "keydb.nhset", "keydb.nhget", "lfence", // KeyDB's
}

func words(line string) [][]byte { return bytes.Fields([]byte(line)) }

func ask(t *testing.T, p transcript.Player, line string) transcript.Reply {
	raw, err := p.Do("", words(line))
	require.NoError(t, err)
	v, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	require.NotEqual(t, byte('-'), v.Kind, v.Text)
	return v
}

func formatReference(t *testing.T, pages map[string]*page) []byte {
	var names []string
	for name := range pages {
		names = append(names, name)
	}
	slices.Sort(names)
	text := []byte("[\n")
	for i, name := range names {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(pages[name]))
		text = append(text, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
		if i < len(names)-1 {
			text = append(text, ',')
		}
		text = append(text, '\n')
	}
	return append(text, "]\n"...)
}

// readInfo reads an element of COMMAND INFO and those of its subcommands.
func readInfo(t *testing.T, pages map[string]*page, v transcript.Reply) {
	e := v.Elems
	require.Len(t, e, 10)
	p := &page{
		Name: e[0].Text, Arity: number(t, e[1]), Flags: texts(e[2]),
		Keys: [3]int{number(t, e[3]), number(t, e[4]), number(t, e[5])},
		Tips: texts(e[7]),
	}
	for _, c := range texts(e[6]) {
		p.Categories = append(p.Categories, strings.TrimPrefix(c, "@"))
	}
	for _, s := range e[8].Elems {
		p.KeySpecs = append(p.KeySpecs, readSpec(t, s))
	}
	pages[p.Name] = p
	for _, sub := range e[9].Elems {
		readInfo(t, pages, sub)
	}
}

func readSpec(t *testing.T, v transcript.Reply) (s keySpec) {
	each(t, v, func(name string, v transcript.Reply) {
		switch name {
		case "notes":
			s.Notes = v.Text
		case "flags":
			s.Flags = texts(v)
		case "begin_search":
			readBegin(t, &s, v)
		case "find_keys":
			readFind(t, &s, v)
		default:
			t.Fatalf("a field %q in a key specification", name)
		}
	})
	return s
}

func readBegin(t *testing.T, s *keySpec, v transcript.Reply) {
	kind, spec := v.Elems[1].Text, v.Elems[3]
	switch kind {
	case "index":
		s.Index = field(t, spec, 0, "index")
	case "keyword":
		s.Keyword = spec.Elems[1].Text
		s.StartFrom = field(t, spec, 1, "startfrom")
	default:
		require.Equal(t, "unknown", kind)
	}
}

func readFind(t *testing.T, s *keySpec, v transcript.Reply) {
	kind, spec := v.Elems[1].Text, v.Elems[3]
	switch kind {
	case "range":
		s.Range = &[3]int{field(t, spec, 0, "lastkey"), field(t, spec, 1, "keystep"), field(t, spec, 2, "limit")}
	case "keynum":
		s.Keynum = &[3]int{field(t, spec, 0, "keynumidx"), field(t, spec, 1, "firstkey"), field(t, spec, 2, "keystep")}
	default:
		require.Equal(t, "unknown", kind)
	}
}

func field(t *testing.T, spec transcript.Reply, i int, name string) int {
	require.Equal(t, name, spec.Elems[2*i].Text)
	return number(t, spec.Elems[2*i+1])
}

func number(t *testing.T, v transcript.Reply) int {
	n, err := strconv.Atoi(v.Text)
	require.NoError(t, err)
	return n
}

// texts is nil for an empty list.
func texts(v transcript.Reply) (all []string) {
	for _, e := range v.Elems {
		all = append(all, e.Text)
	}
	return all
}

// each calls f with the pairs of a map.
func each(t *testing.T, v transcript.Reply, f func(name string, v transcript.Reply)) {
	require.Equal(t, byte('%'), v.Kind)
	for i := 0; i < len(v.Elems); i += 2 {
		f(v.Elems[i].Text, v.Elems[i+1])
	}
}

// readDocs reads COMMAND DOCS, or the subcommands in it, into pages that are
// there from readInfo.
func readDocs(t *testing.T, pages map[string]*page, v transcript.Reply) {
	each(t, v, func(name string, v transcript.Reply) {
		p := pages[name]
		require.NotNil(t, p, name)
		text := map[string]*string{"summary": &p.Summary, "since": &p.Since, "group": &p.Group, "complexity": &p.Complexity,
			"deprecated_since": &p.DeprecatedSince, "replaced_by": &p.ReplacedBy}
		each(t, v, func(name string, v transcript.Reply) {
			switch name {
			case "doc_flags":
				p.DocFlags = texts(v)
			case "history":
				for _, h := range v.Elems {
					p.History = append(p.History, [2]string{h.Elems[0].Text, h.Elems[1].Text})
				}
			case "arguments":
				p.Arguments = readArguments(t, v)
			case "subcommands":
				readDocs(t, pages, v)
			default:
				require.Contains(t, text, name)
				*text[name] = v.Text
			}
		})
	})
}

func readArguments(t *testing.T, v transcript.Reply) (all []argument) {
	for _, v := range v.Elems {
		var a argument
		text := map[string]*string{"name": &a.Name, "type": &a.Type, "summary": &a.Summary, "since": &a.Since,
			"deprecated_since": &a.DeprecatedSince}
		each(t, v, func(name string, v transcript.Reply) {
			switch name {
			case "key_spec_index":
				n := number(t, v)
				a.KeySpec = &n
			case "token":
				a.Token = &v.Text
			case "flags":
				a.Flags = texts(v)
			case "arguments":
				a.Arguments = readArguments(t, v)
			default:
				require.Contains(t, text, name)
				*text[name] = v.Text
			}
		})
		all = append(all, a)
	}
	return all
}

// referenceTable has a row for every page, and COMMAND.
func referenceTable() *Table {
	rows := map[string]*Command{}
	var names []string
	for name, p := range reference() {
		rows[name] = &Command{Name: strings.ToUpper(name), Arity: p.Arity, Run: OnView(nil), Summary: p.Summary}
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if container, sub, ok := strings.Cut(name, "|"); ok {
			rows[name].Name = strings.ToUpper(sub)
			rows[container].Subs = append(rows[container].Subs, *rows[name])
		}
	}
	rows["command"] = &introspectCommands[0]
	var family []Command
	for _, name := range names {
		if !strings.Contains(name, "|") {
			family = append(family, *rows[name])
		}
	}
	return NewTable(family)
}

// TestIntrospectionIsRedis renders what the reference holds and compares the
// bytes with those of redis-server, for each command in both protocols.
func TestIntrospectionIsRedis(t *testing.T) {
	redis := startRedis(t, findRedis(t))
	ours := newHarness(1, 1)
	ours.table = referenceTable()
	for _, proto := range []string{"2", "3"} {
		_, err := redis.Do("", words("HELLO "+proto))
		require.NoError(t, err)
		ours.session("").out.SetProto(int(proto[0] - '0'))
		for name := range reference() {
			if slices.Contains(laterCommands, name) {
				continue
			}
			for _, line := range []string{"COMMAND INFO " + name, "COMMAND DOCS " + name} {
				sameAsRedis(t, redis, ours, line, len(ours.table.named([]byte(name)).subs) > 0)
			}
		}
	}
}

// sameAsRedis compares bytes; with unordered, which is for containers, it
// compares the replies sorted, because Redis shuffles subcommands.
func sameAsRedis(t *testing.T, redis, ours transcript.Player, line string, unordered bool) {
	want, err := redis.Do("", words(line))
	require.NoError(t, err)
	got, err := ours.Do("", words(line))
	require.NoError(t, err)
	if !unordered {
		require.Equal(t, string(want), string(got), line)
		return
	}
	require.Equal(t, sortedReply(t, want), sortedReply(t, got), line)
}

// sortedReply prints a reply with the elements of every array sorted. Later
// commands are left out.
func sortedReply(t *testing.T, raw []byte) string {
	v, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	var text func(v transcript.Reply) string
	text = func(v transcript.Reply) string {
		var all []string
		for i := 0; i < len(v.Elems); i++ {
			e := v.Elems[i]
			if slices.Contains(laterCommands, e.Text) || len(e.Elems) > 0 && slices.Contains(laterCommands, e.Elems[0].Text) {
				if e.Text != "" {
					i++
				}
				continue
			}
			all = append(all, text(e))
		}
		slices.Sort(all)
		return fmt.Sprintf("%c%q%v", v.Kind, v.Text, all)
	}
	return text(v)
}

// TestRowsAgreeWithReference: a row with an arity, a flag or a key position
// that isn't Redis' is a bug.
func TestRowsAgreeWithReference(t *testing.T) {
	table := NewTable(Families()...)
	require.Empty(t, table.Contradictions())
	for i := range table.Len() {
		require.NotNil(t, reference()[table.ByIndex(i).full], "%s is not a command of Redis", table.ByIndex(i).full)
	}
}

// TestContradictions shows each kind of bad row to the check.
func TestContradictions(t *testing.T) {
	good := Command{Name: "SETRANGE", Arity: 4, Keys: oneKey, Flags: DenyOOM, Run: OnOwner(nil), Summary: reference()["setrange"].Summary}
	require.Empty(t, NewTable([]Command{good}).Contradictions())
	for what, spoil := range map[string]func(*Command){
		"arity":    func(c *Command) { c.Arity = -4 },
		"keys":     func(c *Command) { c.Keys = twoKeys },
		"denyoom":  func(c *Command) { c.Flags = 0 },
		"loading":  func(c *Command) { c.Flags |= Loading },
		"no_auth":  func(c *Command) { c.Flags |= NoAuth },
		"no_multi": func(c *Command) { c.Flags |= NoMulti },
		"noscript": func(c *Command) { c.Flags |= NoScript },
		"admin":    func(c *Command) { c.Flags |= Admin },
		"kind":     func(c *Command) { c.Run = OnView(nil) },
		"summary":  func(c *Command) { c.Summary = "Sets a range" },
	} {
		bad := good
		spoil(&bad)
		faults := NewTable([]Command{bad}).Contradictions()
		require.Len(t, faults, 1, what)
		require.Contains(t, faults[0], what)
	}
}

// TestRowsFindTheKeysOfRedis runs the key finders of the rows and of COMMAND
// GETKEYS over every command line of the transcripts.
func TestRowsFindTheKeysOfRedis(t *testing.T) {
	table := NewTable(Families()...)
	lines := 0
	for _, path := range glob(t) {
		for _, s := range parseFile(t, path).Steps {
			row, err := table.Resolve(append([][]byte{nil}, s.Args...)[min(1, len(s.Args)):])
			if len(s.Args) == 0 || err != nil {
				continue
			}
			refs := keysOf(row, s.Args)
			if len(refs) == 0 || strings.HasPrefix(s.Want, "(error)") {
				continue // a wrong command line: the row may say what it likes
			}
			var want, got []int
			for _, r := range refs {
				want = append(want, r.at)
			}
			row.Keys.Each(s.Args, func(i int) { got = append(got, i) })
			slices.Sort(want)
			slices.Sort(got)
			require.Equal(t, want, got, "%s:%d: %s", path, s.Line, s.Command())
			lines++
		}
	}
	require.Positive(t, lines)
}
