package commands

import (
	"encoding/binary"
	"math/bits"

	"firn/mvcc"
)

var bitCommands = []Command{
	{Name: "SETBIT", Arity: 4, Keys: oneKey, Run: OnOwner(setbit), Flags: DenyOOM,
		Summary: "Sets or clears the bit at offset in the string value stored at key"},
	{Name: "GETBIT", Arity: 3, Keys: oneKey, Run: OnView(getbit),
		Summary: "Returns the bit value at offset in the string value stored at key"},
	{Name: "BITCOUNT", Arity: -2, Keys: oneKey, Run: OnView(bitcount), Cost: bitcountCost,
		Summary: "Count set bits in a string"},
	{Name: "BITPOS", Arity: -3, Keys: oneKey, Run: OnView(bitpos), Cost: bitposCost,
		Summary: "Find first bit set or clear in a string"},
}

const (
	bitBytesPerUnit = 8 << 10 // bytes of memory that a pass over bits takes a microsecond for, at least
	bitPauseEvery   = 1 << 20 // bytes between two pauses
)

func setbit(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	at, ok := c.bitOffset(c.Args[2])
	if !ok {
		return ErrBitOffset
	}
	on, ok := ParseInt(c.Args[3])
	if !ok || on&^1 != 0 {
		return ErrBit
	}
	e, ok := tx.Lookup(key)
	if ok && e.Type() != mvcc.String {
		return ErrWrongType
	}
	var old byte
	grows := !ok || at>>3 >= e.Len()
	if !grows {
		old = byteAt(&e, at>>3)
	}
	shift := 7 - at&7
	b := old&^(1<<shift) | byte(on<<shift)
	switch {
	case grows || b != old:
		tx.WriteAt(key, at>>3, []byte{b})
		c.Notify('$', "setbit", key)
	default:
		keepEdited(tx, key, &e)
	}
	c.Out.Int(int64(old >> shift & 1))
	return nil
}

// keepEdited leaves a string that could have been edited, but was not, as Redis
// leaves it: in the encoding of an edited one. It is no change to tell of.
func keepEdited(tx *mvcc.Tx, key []byte, e *mvcc.Entry) {
	if e.Encoding() == mvcc.Raw {
		return
	}
	tx.WriteAt(key, 0, []byte{byteAt(e, 0)})
	tx.Changes--
}

func getbit(c *Call, v *mvcc.View) error {
	at, ok := c.bitOffset(c.Args[2])
	if !ok {
		return ErrBitOffset
	}
	e, ok := v.Get(c.Args[1])
	if ok && e.Type() != mvcc.String {
		return ErrWrongType
	}
	if !ok || at>>3 >= e.Len() {
		c.Out.Int(0)
		return nil
	}
	c.Out.Int(int64(byteAt(&e, at>>3) >> (7 - at&7) & 1))
	return nil
}

// bitOffset reads the position of a bit: one that a string of the longest
// length allowed has (K2 of the reports: nothing is allocated for another).
func (c *Call) bitOffset(arg []byte) (at int64, ok bool) {
	at, ok = ParseInt(arg)
	return at, ok && at >= 0 && at>>3 < c.MaxBulk
}

// byteAt returns one byte of a string value, which must have it.
func byteAt(e *mvcc.Entry, i int64) byte {
	var b [1]byte
	return e.AppendRange(b[:0], i, i+1)[0]
}

func bitcount(c *Call, v *mvcc.View) error {
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.Int(0) // Redis looks at the range only if there is a string
		return nil
	}
	if e.Type() != mvcc.String {
		return ErrWrongType
	}
	r, err := c.bitcountRange(e.Len())
	if err != nil {
		return err
	}
	c.Out.Int(c.countBits(&e, r))
	return nil
}

func bitcountCost(c *Call, v *mvcc.View) int {
	e, ok := v.Peek(c.Args[1])
	if !ok || e.Type() != mvcc.String {
		return 0
	}
	r, _ := c.bitcountRange(e.Len())
	return r.cost()
}

// A bitRange is the bits [from, to) of a string.
type bitRange struct{ from, to int64 }

func (r bitRange) cost() int { return int((r.to - r.from) / (8 * bitBytesPerUnit)) }

// bitcountRange reads BITCOUNT's range over a string of size bytes.
func (c *Call) bitcountRange(size int64) (r bitRange, err error) {
	switch len(c.Args) {
	case 2:
		return bitRange{0, size * 8}, nil
	case 4, 5:
	default:
		return r, ErrSyntax
	}
	start, ok1 := ParseInt(c.Args[2])
	end, ok2 := ParseInt(c.Args[3])
	if !ok1 || !ok2 {
		return r, ErrNotInteger
	}
	if end < start && start < 0 {
		return r, nil // before the unit is looked at, as in Redis
	}
	unit, err := c.bitUnit(4)
	return bitsBetween(start, end, unit, size), err
}

// bitUnit returns how many bits an index counts by the argument i, if it is
// there.
func (c *Call) bitUnit(i int) (int64, error) {
	switch {
	case i >= len(c.Args) || c.Is(i, "BYTE"):
		return 8, nil
	case c.Is(i, "BIT"):
		return 1, nil
	}
	return 8, ErrSyntax
}

// bitsBetween returns the range that start and end, both included, name in a
// string of size bytes; negative ones count from its end. The unit is the bits
// that an index stands for.
func bitsBetween(start, end, unit, size int64) bitRange {
	total := size * 8 / unit
	if start < 0 {
		start = max(start+total, 0)
	}
	if end < 0 {
		end = max(end+total, 0)
	}
	end = min(end, total-1)
	if start > end {
		return bitRange{}
	}
	return bitRange{start * unit, (end + 1) * unit}
}

// countBits counts the ones in a range.
func (c *Call) countBits(e *mvcc.Entry, r bitRange) (n int64) {
	if r.from == r.to {
		return 0
	}
	c.eachPiece(e, r.from>>3, (r.to+7)>>3, func(p []byte) bool {
		n += int64(onesIn(p))
		return true
	})
	// The bytes at the edges were counted as a whole.
	head := byteAt(e, r.from>>3) &^ (0xff >> (r.from & 7))
	n -= int64(bits.OnesCount8(head))
	if r.to&7 != 0 {
		tail := byteAt(e, r.to>>3) & (0xff >> (r.to & 7))
		n -= int64(bits.OnesCount8(tail))
	}
	return n
}

// eachPiece yields the bytes [from, to) in order until yield returns false, and
// lets others have their turn in between.
func (c *Call) eachPiece(e *mvcc.Entry, from, to int64, yield func(p []byte) bool) {
	passed := 0
	e.Pieces(from, to, func(p []byte) bool {
		if passed += len(p); passed >= bitPauseEvery && c.Pause != nil {
			c.Pause()
			passed = 0
		}
		return yield(p)
	})
}

// onesIn counts the ones in p, by words of 64 bits.
func onesIn(p []byte) (n int) {
	var a, b, c, d int // four sums, so that no addition waits for the one before
	for ; len(p) >= 32; p = p[32:] {
		a += bits.OnesCount64(binary.LittleEndian.Uint64(p))
		b += bits.OnesCount64(binary.LittleEndian.Uint64(p[8:]))
		c += bits.OnesCount64(binary.LittleEndian.Uint64(p[16:]))
		d += bits.OnesCount64(binary.LittleEndian.Uint64(p[24:]))
	}
	for _, x := range p {
		n += bits.OnesCount8(x)
	}
	return n + a + b + c + d
}

func bitpos(c *Call, v *mvcc.View) error {
	bit, ok := ParseInt(c.Args[2])
	if !ok {
		return ErrNotInteger
	}
	if bit != 0 && bit != 1 {
		return ErrBitArg
	}
	e, ok := v.Get(c.Args[1])
	if !ok {
		c.Out.Int(-bit) // endless zeros, the first of them at 0
		return nil
	}
	if e.Type() != mvcc.String {
		return ErrWrongType
	}
	r, err := c.bitposRange(e.Len())
	if err != nil {
		return err
	}
	at := c.findBit(&e, r, bit == 1)
	if at < 0 && bit == 0 && r.to > 0 && len(c.Args) < 5 {
		at = r.to // without an end, zeros follow the string
	}
	c.Out.Int(at)
	return nil
}

func bitposCost(c *Call, v *mvcc.View) int {
	e, ok := v.Peek(c.Args[1])
	if !ok || e.Type() != mvcc.String {
		return 0
	}
	r, _ := c.bitposRange(e.Len())
	return r.cost()
}

// bitposRange reads BITPOS' range over a string of size bytes. The order of the
// checks is Redis'.
func (c *Call) bitposRange(size int64) (r bitRange, err error) {
	if len(c.Args) == 3 {
		return bitRange{0, size * 8}, nil
	}
	if len(c.Args) > 6 {
		return r, ErrSyntax
	}
	start, ok := ParseInt(c.Args[3])
	if !ok {
		return r, ErrNotInteger
	}
	unit, err := c.bitUnit(5)
	if err != nil {
		return r, err
	}
	end := int64(-1)
	if len(c.Args) > 4 {
		if end, ok = ParseInt(c.Args[4]); !ok {
			return r, ErrNotInteger
		}
	}
	return bitsBetween(start, end, unit, size), nil
}

// findBit returns the position of the first bit of a range that is set, or that
// is clear; -1 if there is none.
func (c *Call) findBit(e *mvcc.Entry, r bitRange, set bool) int64 {
	if r.from == r.to {
		return -1
	}
	var flip byte // makes the bits looked for ones
	if !set {
		flip = 0xff
	}
	at := r.from >> 3
	if x := (byteAt(e, at) ^ flip) & (0xff >> (r.from & 7)); x != 0 {
		return r.within(at*8 + int64(bits.LeadingZeros8(x)))
	}
	at++
	found := int64(-1)
	c.eachPiece(e, at, (r.to+7)>>3, func(p []byte) bool {
		if i := firstOne(p, flip); i >= 0 {
			found = at*8 + int64(i)
			return false
		}
		at += int64(len(p))
		return true
	})
	return r.within(found)
}

// within returns the position, or -1 if it lies after the range.
func (r bitRange) within(at int64) int64 {
	if at >= r.to {
		return -1
	}
	return at
}

// firstOne returns the position of the first one in p, whose bytes are all to
// be taken xor flip (0 or 0xff); -1 if there is none.
func firstOne(p []byte, flip byte) int {
	words := uint64(flip) * 0x0101010101010101
	i := 0
	for rest := p; len(rest) >= 32; rest = rest[32:] {
		q := (*[32]byte)(rest)
		if (wordAt(q, 0)^words)|(wordAt(q, 8)^words)|(wordAt(q, 16)^words)|(wordAt(q, 24)^words) != 0 {
			break
		}
		i += 32
	}
	for ; i < len(p); i++ {
		if x := p[i] ^ flip; x != 0 {
			return i*8 + bits.LeadingZeros8(x)
		}
	}
	return -1
}
