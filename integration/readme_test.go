package integration

import (
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"firn/commands/transcript"

	"github.com/stretchr/testify/require"
)

var updateReadme = flag.Bool("update", false, "write the README's list of commands")

// TestReadmeCommands: the README lists the commands that the server says it has.
func TestReadmeCommands(t *testing.T) {
	const begin, end = "-update -->\n", "<!-- /commands -->"
	path := filepath.Join(moduleRoot(t), "README.md")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	before, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok, "the list's beginning is gone")
	list, after, ok := strings.Cut(rest, end)
	require.True(t, ok, "the list's end is gone")
	want := commandList(t)
	if *updateReadme {
		require.NoError(t, os.WriteFile(path, []byte(before+begin+want+end+after), 0o600))
		return
	}
	require.Equal(t, want, list, "run this test with -update")
}

// commandList asks a server for its commands and writes them a line a group.
func commandList(t *testing.T) string {
	addr := startFirn(t, buildFirn(t))
	r := &transcript.Remote{Dial: func() (io.ReadWriteCloser, error) { return dial(addr) }}
	defer r.Close()
	raw, err := r.Do("", [][]byte{[]byte("COMMAND"), []byte("DOCS")})
	require.NoError(t, err)
	docs, err := transcript.ReadAll(raw)
	require.NoError(t, err)
	groups := map[string][]string{}
	for pair := range slices.Chunk(docs.Elems, 2) {
		group := field(pair[1], "group").Text
		groups[group] = append(groups[group], listed(pair[0].Text, field(pair[1], "subcommands")))
	}
	require.Greater(t, len(groups), 4)
	var b strings.Builder
	b.WriteString("| group | commands |\n|---|---|\n")
	for _, group := range []string{
		"string", "bitmap", "hash", "list", "set", "sorted-set", "stream", "geo", "hyperloglog",
		"generic", "transactions", "pubsub", "connection", "server", "scripting", "cluster",
	} {
		slices.SortFunc(groups[group], func(a, b string) int { return strings.Compare(bare(a), bare(b)) })
		fmt.Fprintf(&b, "| %s | %s |\n", strings.ReplaceAll(group, "-", " "), strings.Join(groups[group], ", "))
		delete(groups, group)
	}
	require.Empty(t, groups, "groups that the README doesn't list")
	return b.String()
}

// bare is a listed command without the signs that would sort behind letters.
func bare(listed string) string { return strings.ReplaceAll(listed, "`", "") }

// field is the value of a name in a map as RESP2 has it.
func field(m transcript.Reply, name string) transcript.Reply {
	for pair := range slices.Chunk(m.Elems, 2) {
		if pair[0].Text == name {
			return pair[1]
		}
	}
	return transcript.Reply{}
}

// listed is a command's name with those of its subcommands.
func listed(name string, subs transcript.Reply) string {
	text := "`" + strings.ToUpper(name) + "`"
	var names []string
	for pair := range slices.Chunk(subs.Elems, 2) {
		_, sub, _ := strings.Cut(pair[0].Text, "|")
		names = append(names, strings.ToUpper(sub))
	}
	if len(names) == 0 {
		return text
	}
	slices.Sort(names)
	return text + " (" + strings.Join(names, ", ") + ")"
}

// TestReadmeNamesTests: the tests that the README calls to witness exist, and
// the files that it points at.
func TestReadmeNamesTests(t *testing.T) {
	root := moduleRoot(t)
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	sources := goSources(t, root)
	names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllSubmatch(readme, -1)
	require.Greater(t, len(names), 30, "the README names no tests")
	for _, m := range names {
		require.Contains(t, sources, "func "+string(m[1])+"(", "there is no such test")
	}
	for _, m := range regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllSubmatch(readme, -1) {
		require.FileExists(t, filepath.Join(root, string(m[1])))
	}
}

// goSources is the text of all test files.
func goSources(t *testing.T, root string) string {
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == "node_modules" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		b.Write(text)
		return err
	})
	require.NoError(t, err)
	return b.String()
}
