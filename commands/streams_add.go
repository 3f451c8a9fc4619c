package commands

import (
	"slices"

	"firn/mvcc"
	"firn/shard"
)

// maxStreamEntry is how long the fields and values of an entry may be in all, in
// bytes.
const maxStreamEntry = 1 << 30

// trimOptions are what XADD and XTRIM have in common.
type trimOptions struct {
	trim  mvcc.StreamTrim
	given bool
	at    int // the argument that is the length or the id
}

type addOptions struct {
	trimOptions
	id                mvcc.StreamID
	idGiven, seqGiven bool // else the id, or its sequence number, is found
	noMake            bool
	idAt              int // the argument that is the id
}

// parseAdd reads the options of XADD, or of XTRIM if trim is set.
func parseAdd(c *Call, v *mvcc.View, trim bool) (o addOptions, err error) {
	limit := int64(-1)
	i := 2
	for ; i < len(c.Args); i++ {
		more := len(c.Args) - 1 - i
		if !trim && string(c.Args[i]) == "*" {
			break
		}
		switch {
		case more > 0 && (c.Is(i, "maxlen") || c.Is(i, "minid")):
			i, err = o.parseStrategy(c, i)
		case more > 0 && c.Is(i, "limit"):
			i++
			limit, err = parseNotNegative(c.Args[i], ErrXTrimLimit)
		case !trim && c.Is(i, "nomkstream"):
			o.noMake = true
		case trim:
			err = ErrSyntax
		default:
			o.id, o.seqGiven, err = parseAutoID(c.Args[i], 0, true, true)
			o.idGiven = true
		}
		if err != nil {
			return o, err
		}
		if o.idGiven {
			break
		}
	}
	o.idAt = i
	return o, o.setLimit(c, v, limit, trim)
}

// parseStrategy reads MAXLEN or MINID and returns the argument it ends with.
func (o *trimOptions) parseStrategy(c *Call, i int) (int, error) {
	if o.given {
		return i, ErrXTrimTwice
	}
	o.given, o.trim.ByID = true, c.Is(i, "minid")
	i++
	if sign := string(c.Args[i]); len(c.Args)-1-i >= 1 && (sign == "~" || sign == "=") {
		o.trim.Approx = sign == "~"
		i++
	}
	o.at = i
	if o.trim.ByID {
		id, err := parseStreamID(c.Args[i], 0, true)
		o.trim.MinID = id
		return i, err
	}
	n, err := parseNotNegative(c.Args[i], ErrXTrimMaxLen)
	o.trim.MaxLen = int(n)
	return i, err
}

func parseNotNegative(arg []byte, negative Error) (int64, error) {
	n, ok := ParseInt(arg)
	switch {
	case !ok:
		return 0, ErrNotInteger
	case n < 0:
		return 0, negative
	}
	return n, nil
}

// The bounds of the limit that an approximate trim has if none is given.
const (
	trimNodes    = 100
	trimDefault  = 10000
	trimGreatest = 1000000
)

// setLimit completes the options with the LIMIT, which is -1 if there was none.
func (o *trimOptions) setLimit(c *Call, v *mvcc.View, limit int64, trim bool) error {
	switch {
	case limit > 0 && !o.given:
		return ErrXTrimLimitAlone
	case trim && !o.given:
		return ErrXTrimNothing
	case c.Obey: // the arguments are exact, and have kept their LIMIT
	case limit >= 0 && !o.trim.Approx:
		return ErrXTrimLimitExact
	case limit >= 0:
		o.trim.Limit = int(limit)
	case o.trim.Approx:
		if o.trim.Limit = trimNodes * min(v.Space().Limits().StreamCount, trimGreatest); o.trim.Limit <= 0 {
			o.trim.Limit = trimDefault
		}
		o.trim.Limit = min(o.trim.Limit, trimGreatest)
	}
	return nil
}

// exact writes into the effect what an approximate trim has come to.
func (o *trimOptions) exact(args [][]byte, s mvcc.StreamValue) {
	args[o.at-1] = []byte("=")
	if !o.trim.ByID {
		args[o.at] = AppendInt(nil, int64(s.Len()))
		return
	}
	oldest, ok := s.OldestID()
	if !ok {
		oldest = mvcc.MaxStreamID
	}
	args[o.at] = idBytes(oldest)
}

// cost estimates what the trim of a stream takes: nodes go whole.
func (o *trimOptions) cost(v *mvcc.View, key []byte) int {
	s, ok := peekStream(v, key)
	if !o.given || !ok {
		return 1
	}
	n := s.Len() - o.trim.MaxLen
	if o.trim.ByID {
		n = s.About(mvcc.StreamID{}, o.trim.MinID)
	}
	if o.trim.Limit > 0 {
		n = min(n, o.trim.Limit)
	}
	return 1 + max(n, 0)/trimmedAtOnce
}

const trimmedAtOnce = 200 // entries taken out in a microsecond

func xadd(c *Call, tx *mvcc.Tx) error {
	o, err := parseAdd(c, &tx.View, false)
	if err != nil {
		return err
	}
	if n := len(c.Args) - o.idAt - 1; n < 2 || n%2 == 1 {
		return ErrArity(c.Row.FullName())
	}
	if o.idGiven && o.seqGiven && o.id.IsZero() {
		return ErrXAddZero
	}
	e, ok := tx.Lookup(c.Args[1])
	s, ok, err := asStream(e, ok)
	if err != nil {
		return err
	}
	if !ok && o.noMake {
		c.Out.Null()
		return nil
	}
	last := mvcc.StreamID{}
	if ok {
		last = s.LastID()
	}
	id, err := o.next(last, c.Now)
	if err != nil {
		return err
	}
	return o.add(c, tx, id)
}

// next returns the id of the new entry, behind that of the last.
func (o *addOptions) next(last mvcc.StreamID, now int64) (id mvcc.StreamID, err error) {
	if last == mvcc.MaxStreamID {
		return id, ErrXAddFull
	}
	id = o.id
	switch ms := uint64(max(now, 0)); {
	case !o.idGiven && ms > last.Ms:
		id = mvcc.StreamID{Ms: ms}
	case !o.idGiven:
		id, _ = last.Next()
	case !o.seqGiven && id.Ms == last.Ms:
		if id, _ = last.Next(); id.Ms != last.Ms {
			return id, ErrXAddSize // what Redis says when it runs out of sequence numbers
		}
	}
	if !last.Less(id) {
		return id, ErrXAddSmall
	}
	return id, nil
}

func (o *addOptions) add(c *Call, tx *mvcc.Tx, id mvcc.StreamID) error {
	key, pairs := c.Args[1], c.Args[o.idAt+1:]
	size := 0
	for _, p := range pairs {
		size += len(p)
	}
	if size > maxStreamEntry {
		return ErrXAddSize
	}
	changes := tx.Changes
	w := tx.WriteStream(key)
	w.Add(id, pairs)
	trimmed := o.given && w.Trim(o.trim, c.Pause) > 0
	c.line.id = id.Append(c.line.id[:0])
	o.propagate(c, w.Value())
	w.Close()
	c.Notify('t', "xadd", key)
	if trimmed {
		c.Notify('t', "xtrim", key)
	}
	tx.Changes = changes + 1
	c.Out.Bulk(c.line.id)
	return nil
}

// propagate tells the id that was found, and how far the stream was trimmed.
func (o *addOptions) propagate(c *Call, s mvcc.StreamValue) {
	if o.seqGiven && !o.trim.Approx {
		return
	}
	args := c.line.copy(c.Args)
	if o.trim.Approx {
		o.exact(args, s)
	}
	if !o.seqGiven {
		args[o.idAt] = c.line.id
	}
	c.replaced = true
	c.effects = append(c.effects, shard.Effect{DB: c.DB, Args: args})
}

// addedLine is memory for the effect of XADD, which is its own line with the id
// that was found. It is the Call's, and lasts until its next command.
type addedLine struct {
	args [][]byte
	id   []byte
}

// lineKept is the number of arguments of a line from which its memory is not kept.
const lineKept = 64

func (l *addedLine) copy(args [][]byte) [][]byte {
	if len(args) > lineKept {
		return slices.Clone(args)
	}
	l.args = append(l.args[:0], args...)
	return l.args
}

func xaddCost(c *Call, v *mvcc.View) int {
	if string(c.Args[2]) == "*" {
		return 1
	}
	o, err := parseAdd(c, v, false)
	if err != nil {
		return 1
	}
	return o.cost(v, c.Args[1])
}

func xtrim(c *Call, tx *mvcc.Tx) error {
	o, err := parseAdd(c, &tx.View, true)
	if err != nil {
		return err
	}
	e, ok := tx.Lookup(c.Args[1])
	_, ok, err = asStream(e, ok)
	if err != nil {
		return err
	}
	if !ok {
		c.Out.Int(0)
		return nil
	}
	w := tx.WriteStream(c.Args[1])
	removed := w.Trim(o.trim, c.Pause)
	if removed > 0 {
		c.Notify('t', "xtrim", c.Args[1])
		if o.trim.Approx {
			args := slices.Clone(c.Args)
			o.exact(args, w.Value())
			c.Propagate(args...)
		}
	}
	w.Close()
	c.Out.Int(int64(removed))
	return nil
}

func xtrimCost(c *Call, v *mvcc.View) int {
	o, err := parseAdd(c, v, true)
	if err != nil {
		return 1
	}
	return o.cost(v, c.Args[1])
}
