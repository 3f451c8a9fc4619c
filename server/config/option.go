package config

import (
	"fmt"
	"slices"
	"strings"
)

// Flag says what is special about an option.
type Flag uint16

// The flags.
const (
	Immutable   Flag = 1 << iota // only at start
	Sticky                       // with Immutable: CONFIG SET to the present value is fine (for names Redis 7.0 doesn't have)
	Protected                    // CONFIG SET needs enable-protected-configs
	Hidden                       // CONFIG GET answers it by its exact name only
	Sensitive                    // a secret: not to be shown in MONITOR, SLOWLOG or a log
	DenyLoading                  // CONFIG SET is refused while loading
	multiArg                     // takes several words
	volatile                     // setting it to the same value counts as a change (a file that may have changed)
	emptyIsNone                  // a text whose "" means that it is not set
)

// An Option is one row of the table.
type Option struct {
	Name    string
	Aliases []string
	Flags   Flag
	// Note says why the option has no effect here. "" for one that has.
	Note string

	kind codec
	num  number
	str  text
}

// Lookup finds an option by name or alias, in any case. Nil if there is none.
func Lookup(name string) *Option { return table.byName[strings.ToLower(name)] }

// IsSensitive tells whether the value of the named option must not be shown.
func IsSensitive(name string) bool {
	o := Lookup(name)
	return o != nil && o.Flags&Sensitive != 0
}

// Names gives all names and aliases, hidden ones too, sorted.
func Names() []string { return slices.Clone(table.names) }

// A codec is a kind of option: how its words become a value and back.
type codec interface {
	init(o *Option, c *Config)
	// set puts the words into c, which is changed only if they are right.
	set(o *Option, c *Config, words []string, m mode) error
	get(o *Option, c *Config) string
	rewrite(o *Option, c *Config, r *rewriter)
}

// A mode is who sets an option.
type mode struct {
	loading bool // a file or the command line, not CONFIG SET
	repeat  bool // and an earlier line of it had this option
	// dir checks a new working directory and gives it in full. Nil: take it as it is.
	dir func(string) (string, error)
}

// number is where a number-like value lies: booleans are 0 and 1, enums have their item's value.
type number struct {
	load  func(*Config) int64
	store func(*Config, int64)
}

// text is where a string lies.
type text func(*Config) *string

type integer interface{ ~int | ~int64 | ~uint32 }

// at makes a number of a field. Nil: the row's spare place.
func at[T integer](field func(*Config) *T) number {
	if field == nil {
		return number{}
	}
	return number{
		load:  func(c *Config) int64 { return int64(*field(c)) },
		store: func(c *Config, v int64) { *field(c) = T(v) },
	}
}

func atBool(field func(*Config) *bool) number {
	if field == nil {
		return number{}
	}
	return number{
		load: func(c *Config) int64 {
			if *field(c) {
				return 1
			}
			return 0
		},
		store: func(c *Config, v int64) { *field(c) = v != 0 },
	}
}

// options is the built table.
type options struct {
	rows   []*Option
	byName map[string]*Option // aliases too
	names  []string           // aliases too, sorted
}

// table is read-only after start.
var table = build(networkRows, processRows, securityRows, memoryRows, observeRows, diskRows, replicationRows, clusterRows, laterRows,
	keydbRows)

func build(parts ...[]Option) *options {
	t := &options{byName: map[string]*Option{}}
	for _, row := range slices.Concat(parts...) {
		t.add(&row)
	}
	slices.SortFunc(t.rows, func(a, b *Option) int { return strings.Compare(a.Name, b.Name) })
	for i, o := range t.rows {
		o.useSpare(i)
	}
	slices.Sort(t.names)
	return t
}

func (t *options) add(o *Option) {
	t.rows = append(t.rows, o)
	for _, name := range append([]string{o.Name}, o.Aliases...) {
		if t.byName[name] != nil {
			panic(fmt.Sprintf("config: option %q is there twice", name))
		}
		t.byName[name] = o
		t.names = append(t.names, name)
	}
}

// useSpare gives a row without a field a place in Config.spare.
func (o *Option) useSpare(i int) {
	if o.num.load == nil {
		o.num = at(func(c *Config) *int64 { return &c.spare[i].n })
	}
	if o.str == nil {
		o.str = func(c *Config) *string { return &c.spare[i].s }
	}
}

func row(name, aliases string, flags Flag, kind codec) Option {
	return Option{Name: name, Aliases: strings.Fields(aliases), Flags: flags, kind: kind}
}

func boolean(name, aliases string, flags Flag, def bool, field func(*Config) *bool) Option {
	o := row(name, aliases, flags, boolCodec{def: def})
	o.num = atBool(field)
	return o
}

// limits are the bounds and the default of a number.
type limits struct{ min, max, def int64 }

func numeric[T integer](name, aliases string, flags Flag, l limits, format format, field func(*Config) *T) Option {
	o := row(name, aliases, flags, numCodec{limits: l, format: format})
	o.num = at(field)
	return o
}

func enum[T integer](name string, flags Flag, items []item, def T, field func(*Config) *T) Option {
	o := row(name, "", flags, enumCodec{items: items, def: int64(def)})
	o.num = at(field)
	return o
}

func textual(name, aliases string, flags Flag, def string, field text) Option {
	o := row(name, aliases, flags, stringCodec{def: def})
	o.str = field
	return o
}

// check adds a test of a text's value.
func (o Option) check(valid func(string) error) Option {
	kind := o.kind.(stringCodec)
	kind.valid = valid
	o.kind = kind
	return o
}

// clamp makes a number stay between low and high although more is accepted.
func (o Option) clamp(low, high int64) Option {
	kind := o.kind.(numCodec)
	kind.low, kind.high = low, high
	o.kind = kind
	return o
}

// none marks rows that have no effect here and says why.
func none(why string, rows ...Option) []Option {
	for i := range rows {
		rows[i].Note = why
	}
	return rows
}
