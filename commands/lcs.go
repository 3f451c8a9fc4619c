package commands

import (
	"math"

	"firn/mvcc"
)

// LCS finds a longest common subsequence (Redis' documentation calls it a
// substring) by the textbook table of lengths: cell (i, j) holds the length for
// the first i bytes of a and the first j of b. Of the table only one row is
// kept, and of every cell one bit, which is all that the way back needs. Redis
// takes four bytes a cell, and its memory limit still counts them here, so that
// the same calls fail.

const (
	lcsCellsPerUnit = 500         // cells that take about a microsecond
	lcsCellBytes    = 4           // that Redis takes for a cell
	lcsMaxWords     = 4 << 30 / 8 // of bits
	lcsBlock        = 64          // cells whose bits make a word
	lcsPauseBlocks  = pauseEvery * lcsCellsPerUnit / lcsBlock
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
	cells := float64(peekLen(v, c.Args[1])) * float64(peekLen(v, c.Args[2]))
	return int(min(cells/lcsCellsPerUnit, math.MaxInt32))
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
	row  []uint32 // of the lengths, the last one; cell 0 is column 0
	up   []uint64 // bit j-1 of row i-1: the cell above (i, j) is longer than the one to the left
}

// words is how many words of bits a row has.
func (t *lcsTable) words() int { return (len(t.b) + lcsBlock - 1) / lcsBlock }

func (t *lcsTable) length() int { return int(t.row[len(t.b)]) }

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

// fill computes the table; the bits only if the way back will be asked for.
func (t *lcsTable) fill(pause func(), bits bool) {
	t.row = make([]uint32, len(t.b)+1)
	if bits {
		t.up = make([]uint64, len(t.a)*t.words())
	}
	blocks := 0
	for i := range t.a {
		left, diagonal := uint32(0), uint32(0)
		for w := range t.words() {
			if blocks++; blocks%lcsPauseBlocks == 0 && pause != nil {
				pause()
			}
			var word uint64
			left, diagonal, word = t.fillBlock(t.a[i], w*lcsBlock, left, diagonal)
			if bits {
				t.up[i*t.words()+w] = word
			}
		}
	}
}

// fillBlock computes up to 64 cells of a row from the row above, which they
// replace, given the cells to the left and above that.
func (t *lcsTable) fillBlock(ch byte, from int, left, diagonal uint32) (l, d uint32, word uint64) {
	b := t.b[from:min(from+lcsBlock, len(t.b))]
	row := t.row[from+1:][:len(b)]
	for j, other := range b {
		above, cell := row[j], left
		if above > left {
			cell = above
			word |= 1 << j
		}
		if ch == other {
			cell = diagonal + 1
		}
		row[j], left, diagonal = cell, cell, above
	}
	return left, diagonal, word
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
		case t.up[i*words+j/lcsBlock]>>(j%lcsBlock)&1 != 0:
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
