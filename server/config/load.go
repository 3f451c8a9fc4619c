package config

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// Sources is all that a configuration is read from. What it opens is opened through its functions. The checks may be nil, and so may
// what the arguments and the files do not ask for: Stdin without a "-", ReadFile without a file.
type Sources struct {
	Args   []string            // the command line without the program's name
	Dir    string              // the working directory, in full
	Stdin  io.Reader           // read when the command line has a "-"
	Getenv func(string) string // FIRN_DEFAULT_FLAGS, FIRN_EXTRA_FLAGS and FIRN_PASSWORD_FILE

	ReadFile func(path string) ([]byte, error)
	Glob     func(pattern string) ([]string, error) // for include

	// CheckDir checks a `dir` and gives it in full.
	CheckDir func(dir string) (string, error)
	// CheckRename checks a rename-command line. To is "" when the command is to go.
	CheckRename func(from, to string) error
	// CheckUser checks the words after "user".
	CheckUser func(words []string) error
}

// An Action is what the command line asks for.
type Action int

// The actions.
const (
	Serve Action = iota
	ShowVersion
	ShowHelp
	CheckConfig // say whether the configuration is good and leave
	PrintConfig // print it and leave
)

// Loaded is what Load found.
type Loaded struct {
	Config   *Config
	File     string   // the configuration file in full, "" if there is none
	Warnings []string // options that were set and have no effect, once each, with the reason
	Action   Action
}

// maxIncludes bounds how deeply files include each other, so that a file which includes itself is an error.
const maxIncludes = 16

// Load reads the configuration a server starts with: defaults, FIRN_DEFAULT_FLAGS (an image's own defaults), then the file,
// standard input, the rest of the environment and the command line, the later ones over the earlier. It reads on after an error; all of them are in the Errors it returns. Loaded is never nil.
func Load(src Sources) (*Loaded, error) {
	line := parseArgs(src.Args)
	l := &loader{src: src, c: Default(), seen: map[string]bool{}, warned: map[string]bool{}}
	l.c.Dir = src.Dir
	out := &Loaded{Config: l.c, Action: line.action}
	if line.action == ShowVersion || line.action == ShowHelp {
		return out, nil
	}
	if line.refused != nil {
		l.fail(place{source: commandLine}, line.refused)
		return out, l.errs
	}
	l.flags(defaultFlags)
	clear(l.seen) // lines that add to each other begin anew
	if line.file != "" {
		out.File = l.full(line.file)
		l.file(out.File, place{source: out.File})
	}
	if line.stdin {
		l.stdin()
	}
	l.environment()
	l.text(line.options, commandLine)
	if l.c.ReplicaOfHost != "" && l.c.Text("cluster-enabled") == "yes" {
		l.fail(place{}, errClusterMaster)
	}
	out.Warnings = l.warnings
	if len(l.errs) > 0 {
		return out, l.errs
	}
	return out, nil
}

type loader struct {
	src      Sources
	c        *Config
	seen     map[string]bool // options that a line had
	warned   map[string]bool
	warnings []string
	errs     Errors
	depth    int
}

// Where lines come from when not from a file.
const (
	commandLine  = "the command line"
	stdinName    = "standard input"
	defaultFlags = "FIRN_DEFAULT_FLAGS"
	extraFlags   = "FIRN_EXTRA_FLAGS"
	passwordEnv  = "FIRN_PASSWORD_FILE"
)

// place is where a line stands.
type place struct {
	source string
	line   int // from 1; 0 where lines don't count
	text   string
}

func (l *loader) fail(at place, reason error) {
	l.errs = append(l.errs, &LineError{Source: at.source, Line: at.line, Text: at.text, Reason: reason})
}

// full gives a path that is relative to the working directory, or to the `dir` that was set before, in full.
func (l *loader) full(path string) string {
	if filepath.IsAbs(path) || l.c.Dir == "" {
		return path
	}
	return filepath.Join(l.c.Dir, path)
}

// file reads one file, or, for a pattern, all that match, which may be none.
func (l *loader) file(path string, at place) {
	if !strings.ContainsAny(path, "*?[") || l.src.Glob == nil {
		l.oneFile(path, at)
		return
	}
	matches, err := l.src.Glob(path)
	if err != nil {
		l.fail(at, cantOpen(path, err))
		return
	}
	for _, match := range matches {
		l.oneFile(match, at)
	}
}

func (l *loader) oneFile(path string, at place) {
	if l.depth == maxIncludes {
		l.fail(at, errIncludeDepth)
		return
	}
	content, err := l.src.ReadFile(path)
	if err != nil {
		l.fail(at, cantOpen(path, err))
		return
	}
	l.depth++
	l.text(string(content), path)
	l.depth--
}

func (l *loader) stdin() {
	content, err := io.ReadAll(l.src.Stdin)
	if err != nil {
		l.fail(place{source: stdinName}, err)
		return
	}
	l.text(string(content), stdinName)
}

func (l *loader) environment() {
	if l.src.Getenv == nil {
		return
	}
	if path := l.src.Getenv(passwordEnv); path != "" {
		content, err := l.src.ReadFile(l.full(path))
		if err != nil {
			l.fail(place{source: passwordEnv}, cantOpen(path, err))
			return
		}
		l.c.RequirePass = strings.TrimRight(string(content), "\r\n")
	}
	l.flags(extraFlags)
}

// flags reads the options in a variable of the environment.
func (l *loader) flags(name string) {
	if l.src.Getenv == nil {
		return
	}
	words, ok := splitArgs(l.src.Getenv(name))
	if !ok {
		l.fail(place{source: name}, errQuotes)
		return
	}
	options, _ := optionLines(words, false)
	l.text(options, name)
}

// text reads lines.
func (l *loader) text(content, source string) {
	for i, line := range strings.Split(content, "\n") {
		at := place{source, i + 1, strings.Trim(line, " \t\r\n")}
		if slices.Contains([]string{commandLine, defaultFlags, extraFlags, passwordEnv}, source) {
			at.line = 0
		}
		if at.text == "" || at.text[0] == '#' {
			continue
		}
		if err := l.line(at); err != nil {
			l.fail(at, err)
		}
	}
}

func (l *loader) line(at place) error {
	words, ok := splitArgs(at.text)
	if !ok {
		return errQuotes
	}
	if len(words) == 0 {
		return nil
	}
	name := strings.ToLower(words[0])
	if o := Lookup(name); o != nil {
		return l.option(o, words[1:], at)
	}
	return l.directive(name, words[1:], at)
}

func (l *loader) option(o *Option, words []string, at place) error {
	switch {
	case o.Flags&multiArg == 0 && len(words) != 1:
		return errArgCount
	case o.Flags&multiArg != 0 && len(words) == 1 && words[0] != "":
		var ok bool
		if words, ok = splitArgs(words[0]); !ok {
			return errQuotes
		}
	}
	if err := o.kind.set(o, l.c, words, mode{loading: true, repeat: l.seen[o.Name], dir: l.src.CheckDir}); err != nil {
		return err
	}
	l.seen[o.Name] = true
	if o.Note != "" && o.kind.get(o, l.c) != Default().Text(o.Name) {
		l.warn(o.Name, at.text, o.Note)
	}
	return nil
}

// warn notes once for each name that a line has no effect.
func (l *loader) warn(name, line, why string) {
	if l.warned[name] {
		return
	}
	l.warned[name] = true
	l.warnings = append(l.warnings, fmt.Sprintf("'%s' has no effect: %s", line, why))
}

// directive handles the words that only a file or a command line may have.
func (l *loader) directive(name string, words []string, at place) error {
	switch {
	case name == "include" && len(words) == 1:
		l.file(l.full(words[0]), at)
	case name == "rename-command" && len(words) == 2:
		return l.rename(Rename{words[0], words[1]})
	case name == "user" && len(words) >= 1:
		return l.user(words)
	case name == "loadmodule" && len(words) >= 1:
		l.warn(name+" "+words[0], at.text, "modules written in C can't be loaded")
	case deprecated(name) && len(words) == 1:
		l.warn(name, at.text, "it has none in Redis 7 either")
	case name == "sentinel":
		return errSentinel
	default:
		return unknown(name)
	}
	return nil
}

// deprecated are options of old versions that Redis 7 reads and ignores.
func deprecated(name string) bool {
	return name == "list-max-ziplist-entries" || name == "list-max-ziplist-value" || name == "lua-replicate-commands"
}

func (l *loader) rename(r Rename) error {
	if l.src.CheckRename != nil {
		if err := l.src.CheckRename(r.From, r.To); err != nil {
			return err
		}
	}
	l.c.Renames = append(l.c.Renames, r)
	return nil
}

func (l *loader) user(words []string) error {
	if l.src.CheckUser != nil {
		if err := l.src.CheckUser(words); err != nil {
			return err
		}
	}
	l.c.Users = append(l.c.Users, words)
	return nil
}
