package config

import (
	"slices"
	"strings"
)

// A Pair is an option's name and its value as text.
type Pair struct {
	Name, Value string
}

// SetOptions is what Set must know of the client and the server.
type SetOptions struct {
	AllowProtected bool // the client may change protected options
	Loading        bool // the data set is being loaded
	// Dir checks a new `dir` and gives it in full. Its error is what the client reads. Nil: any directory is taken.
	Dir func(string) (string, error)
}

// Get answers CONFIG GET: all options that a pattern names, each once, sorted. match is the glob, which must not mind case; it is
// only asked for patterns with one of `[*?`. Other patterns are names, which are answered as they were typed.
func (c *Config) Get(patterns []string, match func(pattern, name string) bool) []Pair {
	var pairs []Pair
	seen := map[string]bool{}
	add := func(shown string, o *Option) {
		if name := strings.ToLower(shown); !seen[name] {
			seen[name] = true
			pairs = append(pairs, Pair{shown, o.kind.get(o, c)})
		}
	}
	for _, pattern := range patterns {
		if !strings.ContainsAny(pattern, "[*?") {
			if o := Lookup(pattern); o != nil {
				add(pattern, o)
			}
			continue
		}
		for _, name := range table.names {
			if o := table.byName[name]; o.Flags&Hidden == 0 && match(pattern, name) {
				add(name, o)
			}
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return strings.Compare(a.Name, b.Name) })
	return pairs
}

// Set answers CONFIG SET: all pairs or none. It gives a new configuration and the names (never aliases) of the options that
// changed, which the caller puts into effect before it publishes the new one. c stays as it is.
// The error is a *SetError, or ErrLoading.
func (c *Config) Set(pairs []Pair, opt SetOptions) (*Config, []string, error) {
	for i, p := range pairs {
		if err := c.maySet(pairs[:i], p, opt); err != nil {
			return nil, nil, err
		}
	}
	next := c.Clone()
	var changed []string
	for _, p := range pairs {
		o := Lookup(p.Name)
		if err := o.kind.set(o, next, o.split(p.Value), mode{dir: opt.Dir}); err != nil {
			return nil, nil, &SetError{strings.ToLower(p.Name), err}
		}
		if (o.Flags&volatile != 0 || o.kind.get(o, next) != o.kind.get(o, c)) && !slices.Contains(changed, o.Name) {
			changed = append(changed, o.Name)
		}
	}
	return next, changed, nil
}

// maySet checks what can be said of a pair without reading its value.
func (c *Config) maySet(before []Pair, p Pair, opt SetOptions) error {
	o := Lookup(p.Name)
	switch {
	case o == nil:
		return &SetError{Name: p.Name}
	case o.Flags&Immutable != 0 && !(o.Flags&Sticky != 0 && p.Value == o.kind.get(o, c)):
		return &SetError{p.Name, errImmutable}
	case o.Flags&Protected != 0 && !opt.AllowProtected:
		return &SetError{p.Name, errProtected}
	case o.Flags&DenyLoading != 0 && opt.Loading:
		return ErrLoading
	case slices.ContainsFunc(before, func(b Pair) bool { return strings.EqualFold(b.Name, p.Name) }):
		return &SetError{p.Name, errDuplicate}
	}
	return nil
}

// split cuts CONFIG SET's one word into those of an option that takes several.
func (o *Option) split(value string) []string {
	if o.Flags&multiArg == 0 {
		return []string{value}
	}
	if value == "" {
		return nil
	}
	return strings.Split(value, " ")
}
