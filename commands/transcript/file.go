package transcript

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Modifier says how a reply is compared.
type Modifier uint8

// The modifiers of a command line.
const (
	Unordered Modifier = 1 << iota // the order within arrays is free
	Approx                         // numbers may differ a little
	Ignore                         // anything well-formed
)

// A Step is a command line with its reply, or some time that passes.
type Step struct {
	Line     int           // of the file, from 1
	Advance  time.Duration // if positive, the step is nothing but this
	Session  string
	Args     [][]byte
	Modifier Modifier
	Want     string // the expected reply, without its last line end; may be set
}

// A File is a parsed transcript.
type File struct {
	Name  string
	Steps []*Step
	items []item
}

// An item is a line of the file to be kept as it is, and the step whose reply
// follows it, if it is a command line.
type item struct {
	line string
	step *Step
}

var advanceLine = regexp.MustCompile(`^advance (\d+)(ms|s|m|h|d)$`)

// Parse reads a transcript. The name is for errors.
func Parse(name string, text []byte) (*File, error) {
	p := parser{f: &File{Name: name}, session: "main"}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		if err := p.line(i+1, line); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, i+1, err)
		}
	}
	if p.mods != 0 {
		return nil, fmt.Errorf("%s: a modifier without a command", name)
	}
	return p.f, nil
}

type parser struct {
	f       *File
	session string
	mods    Modifier
	step    *Step // whose reply the next line may be
}

func (p *parser) line(n int, line string) error {
	if p.step != nil && replyLine(line) {
		if p.step.Want != "" {
			p.step.Want += "\n"
		}
		p.step.Want += line
		return nil
	}
	p.step = nil
	it := item{line: line}
	if command, ok := strings.CutPrefix(line, "> "); ok {
		step, err := p.command(n, command)
		if err != nil {
			return err
		}
		it.step, p.step = step, step
	} else if err := p.word(n, line); err != nil {
		return err
	}
	p.f.items = append(p.f.items, it)
	return nil
}

// replyLine says whether a line behind a command line belongs to its reply.
func replyLine(line string) bool {
	return line != "" && !strings.HasPrefix(line, "> ") && !strings.HasPrefix(line, "#") &&
		!strings.HasPrefix(line, "client ") && modifier(line) == 0 && !advanceLine.MatchString(line)
}

func modifier(line string) Modifier {
	return map[string]Modifier{"unordered": Unordered, "approx": Approx, "ignore": Ignore}[line]
}

func (p *parser) command(n int, line string) (*Step, error) {
	args, err := Split(line)
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return nil, fmt.Errorf("no command")
	}
	step := &Step{Line: n, Session: p.session, Args: args, Modifier: p.mods}
	p.f.Steps, p.mods = append(p.f.Steps, step), 0
	return step, nil
}

// word takes a line that is neither a command nor a reply.
func (p *parser) word(n int, line string) error {
	if m := modifier(line); m != 0 {
		p.mods |= m
		return nil
	}
	if line == "" || line[0] == '#' {
		return nil
	}
	if p.mods != 0 {
		return fmt.Errorf("a modifier must stand right before its command")
	}
	if name, ok := strings.CutPrefix(line, "client "); ok {
		p.session = strings.TrimSpace(name)
		return nil
	}
	m := advanceLine.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("what is %q?", line)
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	count, err := strconv.Atoi(m[1])
	if err != nil || count == 0 {
		return fmt.Errorf("no such time: %q", line)
	}
	p.f.Steps = append(p.f.Steps, &Step{Line: n, Advance: time.Duration(count) * units[m[2]]})
	return nil
}

// Bytes writes the file with the replies as its steps have them now.
func (f *File) Bytes() []byte {
	var b strings.Builder
	for _, it := range f.items {
		b.WriteString(it.line + "\n")
		if it.step != nil && it.step.Want != "" {
			b.WriteString(it.step.Want + "\n")
		}
	}
	return []byte(b.String())
}

// Passing is the time that passes in the file by its own words.
func (f *File) Passing() (d time.Duration) {
	for _, s := range f.Steps {
		d += s.Advance
	}
	return d
}

// Command is the step's command line, as it could stand in a file.
func (s *Step) Command() string {
	words := make([]string, len(s.Args))
	for i, a := range s.Args {
		words[i] = string(a)
		if q := Quote(words[i]); len(a) == 0 || len(q) > len(a)+2 || strings.ContainsAny(words[i], " '") {
			words[i] = q
		}
	}
	return strings.Join(words, " ")
}
