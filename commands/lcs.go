package commands

import (
	"math"
	"math/bits"

	"firn/mvcc"
)

// LCS finds a longest common subsequence (Redis' documentation calls it a
// substring). In the textbook's table cell (i, j) holds the length for the first
// i bytes of a and the first j of b. Here a cell is one bit, 1 if it exceeds the
// cell to its left: 64 of them are computed at once (H. Hyyrö, "Bit-parallel
// LCS-length computation revisited", AWOCA 2004), and they are all that the way
// back needs. Where the bytes differ a cell is the maximum of those above and to
// the left; if it exceeds the left one, then the one above does too, and Redis
// goes up; if not, it goes left.
//
// Redis takes four bytes a cell, and its memory limit still counts them here, so
// that the same calls fail.

const (
	lcsCellBytes = 4           // that Redis takes for a cell
	lcsMaxWords  = 4 << 30 / 8 // of the table
	lcsUnitWords = 250         // that take about a microsecond
	lcsUnitBytes = 500         // of the strings that do, beside that
	lcsPause     = pauseEvery * lcsUnitWords
)

// lcsOptions are what stands after the keys.
type lcsOptions struct {
	length, index, withLen bool
	minLen                 int64
}

func parseLCS(c *Call) (o lcsOptions, err error) {
	for i := 3; i < len(c.Args); i++ {
		switch {
		case c.Is(i, "IDX"):
			o.index = true
		case c.Is(i, "LEN"):
			o.length = true
		case c.Is(i, "WITHMATCHLEN"):
			o.withLen = true
		case c.Is(i, "MINMATCHLEN") && i+1 < len(c.Args):
			i++
			n, ok := ParseInt(c.Args[i])
			if !ok {
				return o, ErrNotInteger
			}
			o.minLen = n
		default:
			return o, ErrSyntax
		}
	}
	if o.length && o.index {
		return o, ErrLCSLenAndIdx
	}
	return o, nil
}

func lcsCost(c *Call, v *mvcc.View) int {
	a, b := peekLen(v, c.Args[1]), peekLen(v, c.Args[2])
	words := float64(a) * float64((b+63)/64)
	return int(min(words/lcsUnitWords+float64(a+b)/lcsUnitBytes, math.MaxInt32))
}

// peekLen is the length of the string at a key; 0 if there is none.
func peekLen(v *mvcc.View, key []byte) int64 {
	e, ok := v.Peek(key)
	if !ok || e.Type() != mvcc.String {
		return 0
	}
	return e.Len()
}

func lcs(c *Call, v *mvcc.View) error {
	a, okA := v.Get(c.Args[1])
	b, okB := v.Get(c.Args[2])
	if okA && a.Type() != mvcc.String || okB && b.Type() != mvcc.String {
		return ErrLCSNotString
	}
	o, err := parseLCS(c)
	if err != nil {
		return err
	}
	var t lcsTable
	if okA {
		t.a = a.AppendRange(nil, 0, a.Len()) // a copy: the view may move on in a pause
	}
	if okB {
		t.b = b.AppendRange(nil, 0, b.Len())
	}
	if err := t.check(c.MaxBulk); err != nil {
		return err
	}
	t.fill(c.Pause, !o.length)
	switch {
	case o.index:
		t.replyRanges(c.Out, &o)
	case o.length:
		c.Out.Int(int64(t.length()))
	default:
		c.Out.Bulk(t.subsequence())
	}
	return nil
}

// lcsTable is the table for two strings.
type lcsTable struct {
	a, b []byte
	flat []uint64      // the last row, inverted: 1 where a cell is equal to the one on its left
	rows []uint64      // all rows, not inverted; nil without the way back
	at   [256][]uint64 // by byte: the columns in which b has it
}

// words is how many words a row has.
func (t *lcsTable) words() int { return (len(t.b) + 63) / 64 }

// length is the last cell: each step along the last row adds one to it.
func (t *lcsTable) length() (n int) {
	for _, w := range t.flat {
		n += bits.OnesCount64(^w)
	}
	return n
}

func (t *lcsTable) check(maxBulk int64) error {
	if len(t.a) >= math.MaxUint32-1 || len(t.b) >= math.MaxUint32-1 {
		return ErrLCSTooLong
	}
	cells := uint64(len(t.a)+1) * uint64(len(t.b)+1)
	if cells > uint64(maxBulk)/lcsCellBytes {
		return ErrLCSMaxMemory
	}
	if uint64(len(t.a))*uint64(t.words()) > lcsMaxWords {
		return ErrLCSNoMemory
	}
	return nil
}

// fill computes the table; it keeps the rows if the way back will be asked for.
func (t *lcsTable) fill(pause func(), keep bool) {
	t.findColumns(pause)
	t.flat = make([]uint64, t.words())
	for i := range t.flat {
		t.flat[i] = ^uint64(0)
	}
	if keep {
		t.rows = make([]uint64, 0, len(t.a)*t.words())
	}
	done := 0
	for _, ch := range t.a {
		t.step(t.at[ch])
		if keep {
			t.keepRow()
		}
		if done += t.words(); done >= lcsPause && pause != nil {
			pause()
			done = 0
		}
	}
}

// findColumns fills t.at for the bytes of a alone, so that it takes no more
// memory than the table.
func (t *lcsTable) findColumns(pause func()) {
	for _, ch := range t.a {
		if t.at[ch] == nil {
			t.at[ch] = make([]uint64, t.words())
		}
	}
	for j, ch := range t.b {
		if at := t.at[ch]; at != nil {
			at[j/64] |= 1 << (j % 64)
		}
		if j%lcsPause == lcsPause-1 && pause != nil {
			pause()
		}
	}
}

// step computes a row from the one above. In a run of flat columns the first
// match takes over the step that ends the run: the carry of the addition goes
// from the one to the other, and the OR repairs what it passed.
func (t *lcsTable) step(match []uint64) {
	carry, row := uint64(0), t.flat[:len(match)]
	for w, m := range match {
		flat, sum := row[w], uint64(0)
		sum, carry = bits.Add64(flat, flat&m, carry)
		row[w] = sum | flat&^m
	}
}

func (t *lcsTable) keepRow() {
	for _, w := range t.flat {
		t.rows = append(t.rows, ^w)
	}
}

// walk goes the way back from the last cell, and yields the matches: of one
// byte each, in descending order.
func (t *lcsTable) walk(yield func(i, j int)) {
	words := t.words()
	for i, j := len(t.a)-1, len(t.b)-1; i >= 0 && j >= 0; {
		switch {
		case t.a[i] == t.b[j]:
			yield(i, j)
			i--
			j--
		case t.rows[i*words+j/64]>>(j%64)&1 != 0:
			i--
		default:
			j--
		}
	}
}

func (t *lcsTable) subsequence() []byte {
	s := make([]byte, t.length())
	n := len(s)
	t.walk(func(i, _ int) {
		n--
		s[n] = t.a[i]
	})
	return s
}

// lcsRange is bytes of a that are equal to as many bytes of b.
type lcsRange struct{ a, b, size int }

// ranges returns the matches of at least minLen bytes, in descending order.
func (t *lcsTable) ranges(minLen int64) []lcsRange {
	var all []lcsRange
	var r lcsRange
	flush := func() {
		if r.size > 0 && int64(r.size) >= minLen {
			all = append(all, r)
		}
	}
	t.walk(func(i, j int) {
		if r.size > 0 && i == r.a-1 && j == r.b-1 {
			r = lcsRange{i, j, r.size + 1}
			return
		}
		flush()
		r = lcsRange{i, j, 1}
	})
	flush()
	return all
}

func (t *lcsTable) replyRanges(out *Reply, o *lcsOptions) {
	all := t.ranges(o.minLen)
	out.Map(2)
	out.BulkString("matches")
	out.Array(len(all))
	for _, r := range all {
		fields := 2
		if o.withLen {
			fields = 3
		}
		out.Array(fields)
		replyRange(out, r.a, r.size)
		replyRange(out, r.b, r.size)
		if o.withLen {
			out.Int(int64(r.size))
		}
		out.Spill()
	}
	out.BulkString("len")
	out.Int(int64(t.length()))
}

func replyRange(out *Reply, from, size int) {
	out.Array(2)
	out.Int(int64(from))
	out.Int(int64(from + size - 1))
}
