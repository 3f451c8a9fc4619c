package integration

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The house rules that a machine can check. Each says what to do instead, and
// each is shown a planted fault first: a rule that lets its plant through
// would let everything through.
var rules = []rule{
	{"import direction",
		"a package imports only what stands below it in `layers` (lint_rules_test.go); hand the thing in as a value or an interface, or move the code down",
		importDirection,
		plant{"scan/x.go": `package scan; import "firn/commands"; var _ = commands.Table`}},
	{"clock, chance, disk and goroutines are handed in",
		"in mvcc, scan and commands take the time, the random source, the file or the runner as a parameter: then a test decides them",
		pureLayers,
		plant{"mvcc/x.go": `package mvcc; import "time"; func now() int64 { return time.Now().Unix() }`}},
	{"the global random source",
		"make a *rand.Rand with rand.New from a seed that is handed in; a test prints that seed",
		noGlobalRand,
		plant{"shard/x.go": `package shard; import "math/rand/v2"; func roll() int { return rand.IntN(6) }`}},
	{"os.Exit",
		"return an error up to main.go, the only place that ends the process",
		exitInMainOnly,
		plant{"server/x.go": `package server; import "os"; func bail() { os.Exit(1) }`}},
	{"go statements",
		"a goroutine is started, stopped and awaited by one owner: start it there, or add the file to `spawners` (lint_rules_test.go) with who awaits it",
		spawnersOnly,
		plant{"server/x.go": `package server; func run() { go run() }`}},
	{"long functions",
		"a function has at most 70 lines: give its steps names",
		shortFunctions,
		plant{"mvcc/x.go": "package mvcc; func f() {" + strings.Repeat("\n", 71) + "}"}},
	{"long files",
		"a file has at most 500 lines: find the seam and split it there",
		shortFiles,
		plant{"mvcc/x.go": "package mvcc" + strings.Repeat("\n", 501)}},
	{"undocumented exported names",
		"say what it is for, in which units, who owns it, which errors it returns",
		documented,
		plant{"mvcc/x.go": `package mvcc; func Set() {}`}},
	{"package comment",
		"add doc.go: what the package is for, who owns what in it, and the roads not taken",
		packageDocs,
		plant{"scan/x.go": `package scan`}},
	{"raw atomics",
		"use the typed atomics (atomic.Int64, …): they cannot be read plainly by mistake",
		noRawAtomics,
		plant{"shard/x.go": `package shard; import "sync/atomic"; func inc(n *int64) { atomic.AddInt64(n, 1) }`}},
	{"init functions",
		"initialise where it is declared, or in a constructor that the owner calls",
		noInit,
		plant{"mvcc/x.go": `package mvcc; func init() {}`}},
	{"mutable package variables",
		"put it in a struct that someone owns; a package variable is a table or an error that its declaration builds and nobody changes",
		noMutableVars,
		plant{"server/x.go": `package server; var seen = map[string]bool{}; func see(s string) { seen[s] = true }`}},
	{"unsafe and sync.Pool",
		"leave it out until a measurement in the commit message pays for it; then name the file in `paidUnsafe` (lint_rules_test.go)",
		noUnsafe,
		plant{"mvcc/x.go": `package mvcc; import "unsafe"; var _ unsafe.Pointer = nil`}},
	{"package names",
		"name a package after what it holds, not after how it is felt to be",
		noUtil,
		plant{"server/util/x.go": `package util`}},
	{"one assertion library",
		"tests use testify's require and nothing else of testify",
		requireOnly,
		plant{"mvcc/x_test.go": `package mvcc; import _ "github.com/stretchr/testify/assert"`}},
	{"sleeps in tests",
		"wait for the thing itself: a channel, synctest, or require.Eventually",
		noSleeps,
		plant{"shard/x_test.go": `package shard; import "time"; func TestX() { time.Sleep(time.Second) }`}},
}

// A rule looks at all sources and names what breaks it.
type rule struct {
	name   string
	remedy string
	check  func([]*source) []string
	plant  plant
}

// A plant is a small tree of sources with one fault in it.
type plant map[string]string

// A source is one parsed Go file.
type source struct {
	path string // relative to the module's root, with slashes
	dir  string // "." at the root
	test bool
	ast  *ast.File
	fset *token.FileSet
}

// at gives the place of a node as an editor understands it.
func (s *source) at(n ast.Node, format string, args ...any) string {
	return fmt.Sprintf("%s:%d: %s", s.path, s.fset.Position(n.Pos()).Line, fmt.Sprintf(format, args...))
}

func TestHouseRules(t *testing.T) {
	sources := parseTree(t, moduleRoot(t))
	for _, r := range rules {
		t.Run(strings.ReplaceAll(r.name, " ", "-"), func(t *testing.T) {
			require.NotEmpty(t, r.check(r.plant.parse(t)), "the rule lets its planted fault through")
			faults := r.check(sources)
			slices.Sort(faults)
			for _, fault := range faults {
				t.Errorf("%s\n\tremedy: %s", fault, r.remedy)
			}
		})
	}
}

// What is committed must work on another machine: no path of this one, and
// no address of a package registry, which is for each machine to know.
func TestNothingOfThisMachineIsInTheTree(t *testing.T) {
	// In pieces, so that this file does not break its own rule.
	banned := []string{"/wo" + "rk/", "proxy.golang" + ".org", "registry.npmjs" + ".org", "deb.debian" + ".org"}
	require.NotEmpty(t, machineTraces("x", "cd /wo"+"rk/main", banned))
	require.Empty(t, machineTraces("x", "see net/wo"+"rk/doc.go", banned))
	root := moduleRoot(t)
	walk(t, root, func(name string) {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		for _, fault := range machineTraces(name, string(text), banned) {
			t.Errorf("%s\n\tremedy: take it from a parameter, the environment, or the machine's own settings", fault)
		}
	})
}

func machineTraces(name, text string, banned []string) []string {
	var faults []string
	for i, line := range strings.Split(text, "\n") {
		for _, word := range banned {
			at := strings.Index(line, word)
			inName := at > 0 && word[0] == '/' && !strings.ContainsRune(" \t\"'`(=:,", rune(line[at-1]))
			if at >= 0 && !inName {
				faults = append(faults, fmt.Sprintf("%s:%d: %s", name, i+1, word))
			}
		}
	}
	return faults
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	require.FileExists(t, filepath.Join(dir, "go.mod"))
	return dir
}

// walk visits the files that could be committed: not what Git, npm, or a
// build keeps beside them.
func walk(t *testing.T, root string, visit func(name string)) {
	t.Helper()
	skip := []string{".git", "node_modules", "bin", "out"}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains(skip, d.Name()) {
			return filepath.SkipDir
		}
		if info, err := d.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return nil // gone meanwhile, a link, or a built binary
		}
		name, err := filepath.Rel(root, p)
		visit(filepath.ToSlash(name))
		return err
	})
	require.NoError(t, err)
}

func parseTree(t *testing.T, root string) []*source {
	t.Helper()
	var all []*source
	walk(t, root, func(name string) {
		if strings.HasSuffix(name, ".go") && !strings.Contains(name, "testdata/") {
			text, err := os.ReadFile(filepath.Join(root, name))
			require.NoError(t, err)
			all = append(all, parse(t, name, string(text)))
		}
	})
	require.NotEmpty(t, all)
	return all
}

func (p plant) parse(t *testing.T) []*source {
	t.Helper()
	var all []*source
	for name, text := range p {
		all = append(all, parse(t, name, text))
	}
	return all
}

func parse(t *testing.T, name, text string) *source {
	t.Helper()
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	return &source{name, path.Dir(name), strings.HasSuffix(name, "_test.go"), tree, fset}
}

func TestWhoMayImportWhom(t *testing.T) {
	check := func(want bool, from, to string) {
		t.Helper()
		require.Equal(t, want, mayImport(from, to), "%s imports %s", from, to)
	}
	check(true, ".", "server")
	check(true, "server", "mvcc")
	check(true, "commands", "scan")
	check(true, "scan", "mvcc")
	check(true, "server", "server/resp")
	check(true, "server/config", "server/logging")
	check(true, ".", "server/config")
	check(false, "mvcc", "shard")
	check(false, "shard", "scan")
	check(false, "scan", "commands")
	check(false, "commands", "server/resp")
	check(false, "server/resp", "commands")
	check(false, "server/resp", "server")
	check(false, "server", "bench")
}
