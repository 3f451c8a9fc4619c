package integration

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The layers from top to bottom. A package imports only packages of a lower
// layer; what is not named here (main, bench, integration) stands on top.
var layers = []string{"server", "commands", "scan", "shard", "persistence", "mvcc"}

// The layers that are told the time, a random source, a file, and where to
// run, by whoever calls them.
var pure = []string{"mvcc", "scan", "commands", "persistence/rdb"}

// The files that may start goroutines, with who stops and awaits them.
var spawners = map[string]string{
	"main.go":          "main, before it returns",
	"shard/pool.go":    "Pool.Close",
	"server/server.go": "loops: Server.end, by loop.shutdown",
	"server/listen.go": "accepters: Server.unlisten, awaited by Server.conns",
	"server/conn.go":   "the two of a connection: their netConn.close, awaited by Server.conns",
	"server/stop.go":   "nobody: they are the end, and end with the process",
}

// The files that may draw from the global random source, with what for.
var chance = map[string]string{
	"server/server.go": "what is handed to commands and shards, from any goroutine",
}

// The files that may import unsafe, with the measurement that pays for it.
var paidUnsafe = map[string]string{
	"server/raw_linux.go": "up to 1 µs of CPU less for a GET without pipelining (9 µs); three calls, none of which keeps a pointer",
}

// The programs: each ends its own process.
var programs = []string{"main.go", "bench/main.go"}

// live drops the test files.
func live(files []*source) []*source {
	return slices.DeleteFunc(slices.Clone(files), func(s *source) bool { return s.test })
}

// layer is the rank of a package directory: higher may import lower.
func layer(dir string) int {
	top, _, _ := strings.Cut(dir, "/")
	at := slices.Index(layers, top)
	if at < 0 {
		return len(layers)
	}
	return len(layers) - 1 - at
}

func importDirection(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		for _, imp := range s.ast.Imports {
			if to, ours := strings.CutPrefix(importPath(imp), "firn/"); ours && !mayImport(s.dir, to) {
				faults = append(faults, s.at(imp, "%s imports %s", s.dir, to))
			}
		}
	}
	return faults
}

// mayImport knows one thing beyond the layers: a part of the server
// (server/resp, …) stands apart from the rest and uses only other such parts.
func mayImport(from, to string) bool {
	if strings.HasPrefix(from, "server/") {
		return strings.HasPrefix(to, "server/")
	}
	if from == "server" && strings.HasPrefix(to, "server/") {
		return true
	}
	if strings.HasPrefix(to, "server/") && layer(from) < layer("server") {
		return false
	}
	return layer(from) > layer(to) || path.Dir(to) == from
}

func pureLayers(files []*source) []string {
	clock := []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}
	var faults []string
	for _, s := range live(files) {
		if !slices.Contains(pure, s.dir) {
			continue
		}
		for _, imp := range s.ast.Imports {
			if p := importPath(imp); p == "os" || p == "io/ioutil" || p == "os/exec" || p == "net" {
				faults = append(faults, s.at(imp, "import of %s", p))
			}
		}
		s.calls("time", func(sel *ast.SelectorExpr) {
			if slices.Contains(clock, sel.Sel.Name) {
				faults = append(faults, s.at(sel, "time.%s", sel.Sel.Name))
			}
		})
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				faults = append(faults, s.at(g, "go statement"))
			}
			return true
		})
	}
	return faults
}

func noGlobalRand(files []*source) []string {
	made := []string{"New", "NewSource", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}
	var faults []string
	for _, s := range live(files) {
		if _, listed := chance[s.path]; listed {
			continue
		}
		for _, p := range []string{"math/rand", "math/rand/v2"} {
			s.calls(p, func(sel *ast.SelectorExpr) {
				if !slices.Contains(made, sel.Sel.Name) {
					faults = append(faults, s.at(sel, "rand.%s", sel.Sel.Name))
				}
			})
		}
	}
	return faults
}

func exitInMainOnly(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		s.calls("os", func(sel *ast.SelectorExpr) {
			if sel.Sel.Name == "Exit" && !slices.Contains(programs, s.path) {
				faults = append(faults, s.at(sel, "os.Exit"))
			}
		})
	}
	return faults
}

func spawnersOnly(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		if _, listed := spawners[s.path]; listed || s.dir == "bench" {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if g, ok := n.(*ast.GoStmt); ok {
				faults = append(faults, s.at(g, "go statement"))
			}
			return true
		})
	}
	return faults
}

func shortFunctions(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := s.fset.Position(f.End()).Line - s.fset.Position(f.Pos()).Line + 1
			if lines > 70 {
				faults = append(faults, s.at(f, "%s has %d lines", f.Name.Name, lines))
			}
		}
	}
	return faults
}

func shortFiles(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		if n := s.fset.File(s.ast.FileStart).LineCount(); n > 500 {
			faults = append(faults, s.at(s.ast, "%d lines", n))
		}
	}
	return faults
}

func documented(files []*source) []string {
	// What these do is known from the standard library's interfaces.
	known := []string{"Error", "Unwrap", "String", "Len", "Less", "Swap"}
	var faults []string
	for _, s := range live(files) {
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				method := d.Recv != nil && slices.Contains(known, d.Name.Name)
				if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !method {
					faults = append(faults, s.at(d, "%s", d.Name.Name))
				}
			case *ast.GenDecl:
				for _, name := range undocumented(d) {
					faults = append(faults, s.at(name, "%s", name.Name))
				}
			}
		}
	}
	return faults
}

// undocumented takes a comment above the group, above the name, or behind it.
func undocumented(d *ast.GenDecl) []*ast.Ident {
	var names []*ast.Ident
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			if d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				names = append(names, spec.Name)
			}
		case *ast.ValueSpec:
			if d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
				names = append(names, spec.Names...)
			}
		}
	}
	return slices.DeleteFunc(names, func(id *ast.Ident) bool { return !id.IsExported() })
}

func exportedReceiver(f *ast.FuncDecl) bool {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return true
	}
	id := root(f.Recv.List[0].Type)
	return id == nil || id.IsExported()
}

func packageDocs(files []*source) []string {
	var faults []string
	doc := map[string]bool{}
	for _, s := range live(files) {
		doc[s.dir] = doc[s.dir] || s.ast.Doc != nil
	}
	for dir, has := range doc {
		if !has {
			faults = append(faults, dir)
		}
	}
	return faults
}

func noRawAtomics(files []*source) []string {
	typed := []string{"Bool", "Int32", "Int64", "Uint32", "Uint64", "Uintptr", "Pointer", "Value"}
	var faults []string
	for _, s := range files {
		s.calls("sync/atomic", func(sel *ast.SelectorExpr) {
			if !slices.Contains(typed, sel.Sel.Name) {
				faults = append(faults, s.at(sel, "atomic.%s", sel.Sel.Name))
			}
		})
	}
	return faults
}

func noInit(files []*source) []string {
	var faults []string
	for _, s := range files {
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				faults = append(faults, s.at(f, "init"))
			}
		}
	}
	return faults
}

// noMutableVars judges by the syntax alone: a variable without a value waits
// for somebody to set it, and one that is assigned to, stored into, or
// deleted from is not a constant.
func noMutableVars(files []*source) []string {
	var faults []string
	byDir := map[string][]*source{}
	for _, s := range live(files) {
		byDir[s.dir] = append(byDir[s.dir], s)
	}
	for _, pkg := range byDir {
		vars := map[string]bool{}
		for _, s := range pkg {
			faults = append(faults, s.packageVars(vars)...)
		}
		for _, s := range pkg {
			faults = append(faults, s.writesTo(vars)...)
		}
	}
	return faults
}

// packageVars adds the package variables of a file to vars and names those
// without a value. (A //go:embed line is a value, and so is an array of zeros.)
func (s *source) packageVars(vars map[string]bool) []string {
	var faults []string
	for _, d := range s.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			for _, name := range v.Names {
				vars[name.Name] = name.Name != "_"
			}
			array, ok := v.Type.(*ast.ArrayType)
			zeros := ok && array.Len != nil
			if len(v.Values) == 0 && !zeros && !embeds(g.Doc) && !embeds(v.Doc) {
				faults = append(faults, s.at(v, "var %s has no value", v.Names[0].Name))
			}
		}
	}
	return faults
}

func embeds(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
		return strings.HasPrefix(c.Text, "//go:embed ")
	})
}

// writesTo names what a file's functions change of vars.
func (s *source) writesTo(vars map[string]bool) []string {
	var faults []string
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		own := locals(f)
		for _, e := range written(f.Body) {
			if id := root(e); id != nil && vars[id.Name] && !own[id.Name] {
				faults = append(faults, s.at(e, "%s changes %s", f.Name.Name, id.Name))
			}
		}
	}
	return faults
}

// written collects the expressions that a body assigns to.
func written(body ast.Node) []ast.Expr {
	var all []ast.Expr
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				all = append(all, n.Lhs...)
			}
		case *ast.IncDecStmt:
			all = append(all, n.X)
		case *ast.CallExpr:
			id, ok := n.Fun.(*ast.Ident)
			if ok && (id.Name == "delete" || id.Name == "clear") && len(n.Args) > 0 {
				all = append(all, n.Args[0])
			}
		}
		return true
	})
	return all
}

// locals collects every name that a function declares anywhere in it.
func locals(f *ast.FuncDecl) map[string]bool {
	own := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				addNames(own, n.Lhs...)
			}
		case *ast.RangeStmt:
			addNames(own, n.Key, n.Value)
		case *ast.ValueSpec:
			for _, id := range n.Names {
				own[id.Name] = true
			}
		}
		return true
	})
	return own
}

func addNames(own map[string]bool, exprs ...ast.Expr) {
	for _, e := range exprs {
		if id, ok := e.(*ast.Ident); ok {
			own[id.Name] = true
		}
	}
}

// root is the name that an expression such as (*a.b)[i].c starts from.
func root(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return nil
		}
	}
}

func noUnsafe(files []*source) []string {
	var faults []string
	for _, s := range live(files) {
		for _, imp := range s.ast.Imports {
			if importPath(imp) == "unsafe" && paidUnsafe[s.path] == "" {
				faults = append(faults, s.at(imp, "import of unsafe"))
			}
		}
		s.calls("sync", func(sel *ast.SelectorExpr) {
			if sel.Sel.Name == "Pool" {
				faults = append(faults, s.at(sel, "sync.Pool"))
			}
		})
	}
	return faults
}

func noUtil(files []*source) []string {
	vague := []string{"util", "utils", "common", "helpers", "helper", "misc", "base", "shared"}
	var faults []string
	for _, s := range files {
		if slices.Contains(vague, path.Base(s.dir)) {
			faults = append(faults, s.at(s.ast, "package %s", s.dir))
		}
	}
	return faults
}

func requireOnly(files []*source) []string {
	var faults []string
	for _, s := range files {
		for _, imp := range s.ast.Imports {
			p := importPath(imp)
			if strings.HasPrefix(p, "github.com/stretchr/testify/") && path.Base(p) != "require" {
				faults = append(faults, s.at(imp, "import of %s", p))
			}
		}
	}
	return faults
}

func noSleeps(files []*source) []string {
	var faults []string
	for _, s := range files {
		if !s.test {
			continue
		}
		s.calls("time", func(sel *ast.SelectorExpr) {
			if sel.Sel.Name == "Sleep" {
				faults = append(faults, s.at(sel, "time.Sleep"))
			}
		})
	}
	return faults
}

// calls visits each use of an imported package's names, under whatever name
// the file imports it.
func (s *source) calls(pkg string, visit func(*ast.SelectorExpr)) {
	name := ""
	for _, imp := range s.ast.Imports {
		if importPath(imp) != pkg {
			continue
		}
		name = strings.TrimSuffix(pkg, "/v2")
		name = path.Base(name)
		if imp.Name != nil {
			name = imp.Name.Name
		}
	}
	if name == "" {
		return
	}
	ast.Inspect(s.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && id.Name == name {
				visit(sel)
			}
		}
		return true
	})
}

func importPath(imp *ast.ImportSpec) string {
	p, _ := strconv.Unquote(imp.Path.Value)
	return p
}
