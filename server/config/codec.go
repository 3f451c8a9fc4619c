package config

import (
	"fmt"
	"strconv"
	"strings"
)

type boolCodec struct {
	def bool
}

func (k boolCodec) init(o *Option, c *Config) { o.num.store(c, k.number()) }

func (k boolCodec) number() int64 {
	if k.def {
		return 1
	}
	return 0
}

func (k boolCodec) set(o *Option, c *Config, words []string, m mode) error {
	switch {
	case strings.EqualFold(words[0], "no"):
		o.num.store(c, 0)
		return nil
	case !strings.EqualFold(words[0], "yes"):
		return errYesNo
	case o.Name == "activedefrag" && !m.loading:
		return errDefrag
	}
	o.num.store(c, 1)
	return nil
}

func (k boolCodec) get(o *Option, c *Config) string {
	if o.num.load(c) != 0 {
		return "yes"
	}
	return "no"
}

func (k boolCodec) rewrite(o *Option, c *Config, r *rewriter) {
	r.line(o.Name, k.get(o, c), o.num.load(c) != k.number())
}

// format is how a number is written.
type format uint8

const (
	decimal format = iota
	memory         // with a unit
	percent        // memory, or per cent, which is kept as a number below zero
	octal
	memory64 // memory up to 2^64-1
)

type numCodec struct {
	limits
	format format
	// Values outside of low to high are moved to the nearer end, silently, where high isn't 0.
	low, high int64
}

func (k numCodec) init(o *Option, c *Config) { o.num.store(c, k.def) }

func (k numCodec) set(o *Option, c *Config, words []string, _ mode) error {
	v, err := k.parse(words[0])
	if err != nil {
		return err
	}
	if err := k.inBounds(v); err != nil {
		return err
	}
	if k.high != 0 {
		v = min(max(v, k.low), k.high)
	}
	o.num.store(c, v)
	return nil
}

func (k numCodec) parse(s string) (int64, error) {
	switch k.format {
	case memory, percent:
		return k.parseMemory(s)
	case memory64:
		v, ok := parseMemory(s)
		if !ok {
			return 0, errMemory
		}
		return int64(min(v, 1<<63-1)), nil
	case octal:
		v, rest, overflow := scanInt(s, 8)
		if rest != "" || overflow {
			return 0, errOctal
		}
		return v, nil
	}
	v, ok := parseInt(s)
	if !ok {
		return 0, errInteger
	}
	return v, nil
}

// parseMemory gives a percentage as a number below zero. A size of 2^63 or more is below zero too, so that it is out of bounds.
func (k numCodec) parseMemory(s string) (int64, error) {
	if v, ok := parseMemory(s); ok {
		return int64(v), nil
	}
	if k.format == memory {
		return 0, errMemory
	}
	digits, ok := strings.CutSuffix(s, "%")
	if !ok {
		return 0, errMemoryPercent
	}
	v, ok := parseInt(digits)
	if !ok || v < 0 {
		return 0, errMemoryPercent
	}
	return -v, nil
}

func (k numCodec) inBounds(v int64) error {
	if k.format == percent && v < 0 {
		if v < k.min {
			return fmt.Errorf("percentage argument must be less or equal to %d", -k.min)
		}
		return nil
	}
	if v >= k.min && v <= k.max {
		return nil
	}
	if k.format == octal {
		return fmt.Errorf("argument must be between %o and %o inclusive", k.min, k.max)
	}
	return fmt.Errorf("argument must be between %d and %d inclusive", k.min, k.max)
}

func (k numCodec) get(o *Option, c *Config) string { return k.print(o.num.load(c)) }

func (k numCodec) print(v int64) string {
	switch {
	case k.format == percent && v < 0:
		return strconv.FormatInt(-v, 10) + "%"
	case k.format == octal:
		return strconv.FormatInt(v, 8)
	}
	return strconv.FormatInt(v, 10)
}

func (k numCodec) rewrite(o *Option, c *Config, r *rewriter) {
	v := o.num.load(c)
	shown := k.print(v)
	if v >= 0 && k.format != decimal && k.format != octal {
		shown = formatMemory(v)
	}
	r.line(o.Name, shown, v != k.def)
}

// enumCodec takes one word, or, with multiArg, several that are or-ed.
type enumCodec struct {
	items []item
	def   int64
}

func (k enumCodec) init(o *Option, c *Config) { o.num.store(c, k.def) }

func (k enumCodec) set(o *Option, c *Config, words []string, _ mode) error {
	var set int64
	for _, word := range words {
		v, ok := k.value(word)
		if !ok {
			return k.refuse()
		}
		set |= v
	}
	if len(words) == 0 {
		return k.refuse()
	}
	if o.Flags&multiArg != 0 && set&int64(ShutdownSave) != 0 && set&int64(ShutdownNoSave) != 0 {
		return errShutdownFlags
	}
	o.num.store(c, set)
	return nil
}

func (k enumCodec) value(word string) (int64, bool) {
	for _, it := range k.items {
		if strings.EqualFold(it.name, word) {
			return it.value, true
		}
	}
	return 0, false
}

func (k enumCodec) refuse() error {
	names := make([]string, len(k.items))
	for i, it := range k.items {
		names[i] = it.name
	}
	return fmt.Errorf("argument(s) must be one of the following: %s", strings.Join(names, ", "))
}

func (k enumCodec) get(o *Option, c *Config) string {
	v := o.num.load(c)
	var names []string
	for _, it := range k.items {
		if it.value == v {
			return it.name
		}
		if o.Flags&multiArg != 0 && it.value != 0 && v&it.value == it.value {
			names = append(names, it.name)
		}
	}
	return strings.Join(names, " ")
}

func (k enumCodec) rewrite(o *Option, c *Config, r *rewriter) {
	r.line(o.Name, k.get(o, c), o.num.load(c) != k.def)
}

type stringCodec struct {
	def   string
	valid func(string) error
}

func (k stringCodec) init(o *Option, c *Config) { *o.str(c) = k.def }

func (k stringCodec) set(o *Option, c *Config, words []string, _ mode) error {
	if k.valid != nil {
		if err := k.valid(words[0]); err != nil {
			return err
		}
	}
	*o.str(c) = words[0]
	return nil
}

func (k stringCodec) get(o *Option, c *Config) string { return *o.str(c) }

func (k stringCodec) rewrite(o *Option, c *Config, r *rewriter) {
	v := *o.str(c)
	if v == "" && o.Flags&emptyIsNone != 0 {
		r.done(o.Name)
		return
	}
	r.line(o.Name, quote(v), v != k.def)
}
