package config

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// dirCodec is dir. A relative one is taken from the one set before, as chdir would.
type dirCodec struct{}

func (dirCodec) init(_ *Option, c *Config) { c.Dir = "" }

func (dirCodec) set(_ *Option, c *Config, words []string, m mode) error {
	dir := words[0]
	if dir == "" {
		return errNoDir
	}
	if !filepath.IsAbs(dir) && c.Dir != "" {
		dir = filepath.Join(c.Dir, dir)
	}
	dir = filepath.Clean(dir)
	if m.dir != nil {
		full, err := m.dir(dir)
		if err != nil {
			return err
		}
		dir = full
	}
	c.Dir = dir
	return nil
}

func (dirCodec) get(_ *Option, c *Config) string { return c.Dir }

func (k dirCodec) rewrite(o *Option, c *Config, r *rewriter) {
	if c.Dir == "" {
		r.done(o.Name)
		return
	}
	r.line(o.Name, quote(c.Dir), true)
}

// saveCodec is save. CONFIG SET replaces all points; the first line of a file or command line replaces the default ones, the
// next ones add to it.
type saveCodec struct{}

func (saveCodec) init(_ *Option, c *Config) { c.Save = []SavePoint{{3600, 1}, {300, 100}, {60, 10000}} }

func (saveCodec) set(_ *Option, c *Config, words []string, m mode) error {
	none := len(words) == 1 && words[0] == ""
	if none {
		words = nil
	}
	if len(words)%2 != 0 {
		return errSave
	}
	var points []SavePoint
	if m.repeat && !none {
		points = slices.Clone(c.Save)
	}
	for i := 0; i < len(words); i += 2 {
		seconds, rest1, _ := scanInt(words[i], 10)
		changes, rest2, _ := scanInt(words[i+1], 10)
		if rest1 != "" || rest2 != "" || seconds < 1 || changes < 0 {
			return errSave
		}
		points = append(points, SavePoint{seconds, changes})
	}
	c.Save = points
	return nil
}

func (saveCodec) get(_ *Option, c *Config) string {
	out := make([]string, len(c.Save))
	for i, p := range c.Save {
		out[i] = fmt.Sprintf("%d %d", p.Seconds, p.Changes)
	}
	return strings.Join(out, " ")
}

func (saveCodec) rewrite(o *Option, c *Config, r *rewriter) {
	if len(c.Save) == 0 {
		r.line(o.Name, `""`, true)
		return
	}
	for _, p := range c.Save {
		r.line(o.Name, fmt.Sprintf("%d %d", p.Seconds, p.Changes), true)
	}
}

// limitCodec is client-output-buffer-limit: class, hard, soft, seconds, any number of times.
type limitCodec struct{}

func defaultLimits() [3]OutputLimit {
	return [3]OutputLimit{
		ClassReplica: {Hard: 256 << 20, Soft: 64 << 20, SoftSeconds: 60},
		ClassPubSub:  {Hard: 32 << 20, Soft: 8 << 20, SoftSeconds: 60},
	}
}

func (limitCodec) init(_ *Option, c *Config) { c.OutputLimits = defaultLimits() }

func (limitCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	if len(words)%4 != 0 {
		return errLimitArgs
	}
	limits := c.OutputLimits
	for four := range slices.Chunk(words, 4) {
		class := limitClass(four[0])
		if class < 0 {
			return errLimitClass
		}
		hard, ok1 := parseMemory(four[1])
		soft, ok2 := parseMemory(four[2])
		seconds, rest, _ := scanInt(four[3], 10)
		if !ok1 || !ok2 || rest != "" || seconds < 0 {
			return errLimitValue
		}
		limits[class] = OutputLimit{int64(min(hard, 1<<63-1)), int64(min(soft, 1<<63-1)), seconds}
	}
	c.OutputLimits = limits
	return nil
}

func limitClass(name string) int {
	switch strings.ToLower(name) {
	case "normal":
		return ClassNormal
	case "slave", "replica":
		return ClassReplica
	case "pubsub":
		return ClassPubSub
	}
	return -1
}

func (limitCodec) get(_ *Option, c *Config) string {
	var out []string
	for i, class := range []string{"normal", "slave", "pubsub"} {
		l := c.OutputLimits[i]
		out = append(out, fmt.Sprintf("%s %d %d %d", class, l.Hard, l.Soft, l.SoftSeconds))
	}
	return strings.Join(out, " ")
}

func (limitCodec) rewrite(o *Option, c *Config, r *rewriter) {
	def := defaultLimits()
	for i, class := range []string{"normal", "replica", "pubsub"} {
		l := c.OutputLimits[i]
		r.line(o.Name, fmt.Sprintf("%s %s %s %d", class, formatMemory(l.Hard), formatMemory(l.Soft), l.SoftSeconds), l != def[i])
	}
}

// oomCodec is oom-score-adj-values.
type oomCodec struct{}

func (oomCodec) init(_ *Option, c *Config) { c.oomScoreAdj = [3]int{0, 200, 800} }

func (oomCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	if len(words) != len(c.oomScoreAdj) {
		return errArgCount
	}
	var values [3]int
	for i, word := range words {
		v, rest, _ := scanInt(word, 10)
		if rest != "" || v < -2000 || v > 2000 {
			return errOOMScore
		}
		values[i] = int(v)
	}
	c.oomScoreAdj = values
	return nil
}

func (oomCodec) get(_ *Option, c *Config) string {
	return fmt.Sprintf("%d %d %d", c.oomScoreAdj[0], c.oomScoreAdj[1], c.oomScoreAdj[2])
}

func (k oomCodec) rewrite(o *Option, c *Config, r *rewriter) {
	r.line(o.Name, k.get(o, c), c.oomScoreAdj != [3]int{0, 200, 800})
}

// eventsCodec is notify-keyspace-events.
type eventsCodec struct{}

func (eventsCodec) init(_ *Option, c *Config) { c.NotifyKeyspaceEvents = 0 }

func (eventsCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	events, ok := ParseEvents(words[0])
	if !ok {
		return errEvents
	}
	c.NotifyKeyspaceEvents = events
	return nil
}

func (eventsCodec) get(_ *Option, c *Config) string { return c.NotifyKeyspaceEvents.String() }

func (eventsCodec) rewrite(o *Option, c *Config, r *rewriter) {
	r.line(o.Name, quote(c.NotifyKeyspaceEvents.String()), c.NotifyKeyspaceEvents != 0)
}

// bindCodec is bind.
type bindCodec struct{}

const maxBind = 16

func (bindCodec) init(_ *Option, c *Config) { c.Bind = []string{"*", "-::*"} }

func (bindCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	if len(words) > maxBind {
		return errBindCount
	}
	if len(words) == 1 && words[0] == "" {
		words = nil
	}
	c.Bind = slices.Clone(words)
	return nil
}

func (bindCodec) get(_ *Option, c *Config) string { return strings.Join(c.Bind, " ") }

func (k bindCodec) rewrite(o *Option, c *Config, r *rewriter) {
	switch {
	case slices.Equal(c.Bind, []string{"*", "-::*"}):
		r.done(o.Name)
	case len(c.Bind) == 0:
		r.line(o.Name, `""`, true)
	default:
		r.line(o.Name, k.get(o, c), true)
	}
}

// masterCodec is replicaof.
type masterCodec struct{}

func (masterCodec) init(_ *Option, c *Config) { c.ReplicaOfHost, c.ReplicaOfPort = "", 0 }

func (masterCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	if len(words) != 2 {
		return errArgCount
	}
	if strings.EqualFold(words[0], "no") && strings.EqualFold(words[1], "one") {
		c.ReplicaOfHost, c.ReplicaOfPort = "", 0
		return nil
	}
	port, rest, _ := scanInt(words[1], 10)
	if rest != "" || port < 0 || port > 65535 {
		return errMasterPort
	}
	c.ReplicaOfHost, c.ReplicaOfPort = words[0], int(port)
	return nil
}

func (masterCodec) get(_ *Option, c *Config) string {
	if c.ReplicaOfHost == "" {
		return ""
	}
	return fmt.Sprintf("%s %d", c.ReplicaOfHost, c.ReplicaOfPort)
}

func (k masterCodec) rewrite(o *Option, c *Config, r *rewriter) {
	if c.ReplicaOfHost == "" {
		r.done(o.Name)
		return
	}
	r.line(o.Name, k.get(o, c), true)
}

// percentilesCodec is latency-tracking-info-percentiles.
type percentilesCodec struct{}

func (percentilesCodec) init(_ *Option, c *Config) { c.LatencyPercentiles = []float64{50, 99, 99.9} }

func (percentilesCodec) set(_ *Option, c *Config, words []string, _ mode) error {
	if len(words) == 1 && words[0] == "" {
		words = nil
	}
	values := make([]float64, len(words))
	for i, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || v != v || strings.ContainsRune(word, '_') {
			return errPercentiles
		}
		if v < 0 || v > 100 {
			return errPercentile
		}
		values[i] = v
	}
	c.LatencyPercentiles = values
	return nil
}

func (percentilesCodec) get(_ *Option, c *Config) string {
	out := make([]string, len(c.LatencyPercentiles))
	for i, v := range c.LatencyPercentiles {
		out[i] = strings.TrimSuffix(strings.TrimRight(strconv.FormatFloat(v, 'f', 6, 64), "0"), ".")
	}
	return strings.Join(out, " ")
}

func (k percentilesCodec) rewrite(o *Option, c *Config, r *rewriter) {
	if len(c.LatencyPercentiles) == 0 {
		r.line(o.Name, `""`, true)
		return
	}
	r.line(o.Name, k.get(o, c), true)
}

// listCodec takes any words and keeps them in one text. It is for options that have no effect.
type listCodec struct{}

func (listCodec) init(_ *Option, _ *Config) {}

func (listCodec) set(o *Option, c *Config, words []string, _ mode) error {
	*o.str(c) = strings.Join(words, " ")
	return nil
}

func (listCodec) get(o *Option, c *Config) string { return *o.str(c) }

func (listCodec) rewrite(o *Option, c *Config, r *rewriter) {
	v := *o.str(c)
	if v == "" {
		r.done(o.Name)
		return
	}
	r.line(o.Name, quote(v), true)
}
