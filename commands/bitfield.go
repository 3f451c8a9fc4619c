package commands

import (
	"bytes"
	"encoding/binary"
	"math"

	"firn/mvcc"
)

var bitfieldCommands = []Command{
	{Name: "BITFIELD", Arity: -2, Keys: oneKey, Run: OnOwner(bitfield), Cost: bitfieldCost, Flags: DenyOOM,
		Summary: "Perform arbitrary bitfield integer operations on strings"},
	{Name: "BITFIELD_RO", Arity: -2, Keys: oneKey, Run: OnView(bitfieldRO), Cost: bitfieldCost,
		Summary: "Perform arbitrary bitfield integer operations on strings. Read-only variant of BITFIELD"},
}

// bitfieldPause is the number of operations between two pauses.
const bitfieldPause = 256

// A bitfieldOp is one GET, SET or INCRBY.
type bitfieldOp struct {
	bitField
	kind     bitfieldKind
	overflow bitOverflow
	arg      int64 // the value of a SET, the increment of an INCRBY
}

type bitfieldKind byte

const (
	bitfieldGet bitfieldKind = iota
	bitfieldSet
	bitfieldIncr
)

// bitOverflow says what becomes of a value that its field can't hold.
type bitOverflow byte

const (
	overflowWrap bitOverflow = iota
	overflowSat              // the nearest limit
	overflowFail             // nothing is written
)

// A bitField is an integer in a string of bits, most significant bit first.
type bitField struct {
	at     int64 // of its first bit
	bits   int   // 1 to 64 if signed, else to 63
	signed bool
}

// A bitfieldCall is what BITFIELD's arguments ask for.
type bitfieldCall struct {
	ops    []bitfieldOp
	writes bool
	last   int64 // the highest bit written to
}

// bitfieldCost is about four arguments an operation.
func bitfieldCost(c *Call, _ *mvcc.View) int { return len(c.Args) / 4 }

func bitfield(c *Call, tx *mvcc.Tx) error {
	f, err := c.parseBitfield()
	if err != nil {
		return err
	}
	if !f.writes {
		return bitfieldRead(c, &tx.View, f.ops)
	}
	return bitfieldWrite(c, tx, f)
}

func bitfieldRO(c *Call, v *mvcc.View) error {
	f, err := c.parseBitfield()
	if err != nil {
		return err
	}
	if f.writes {
		return ErrBitfieldRO
	}
	return bitfieldRead(c, v, f.ops)
}

// parseBitfield reads all arguments, in Redis' order of checks.
func (c *Call) parseBitfield() (f bitfieldCall, err error) {
	how := overflowWrap
	for i := 2; i < len(c.Args); {
		left := len(c.Args) - i - 1
		if c.Is(i, "OVERFLOW") && left >= 1 {
			if how, err = c.overflowArg(i + 1); err != nil {
				return f, err
			}
			i += 2
			continue
		}
		op := bitfieldOp{overflow: how}
		n := 4 // arguments of the operation
		switch {
		case c.Is(i, "GET") && left >= 2:
			n = 3
		case c.Is(i, "SET") && left >= 3:
			op.kind = bitfieldSet
		case c.Is(i, "INCRBY") && left >= 3:
			op.kind = bitfieldIncr
		default:
			return f, ErrSyntax
		}
		if err := c.operands(&op, c.Args[i+1:i+n]); err != nil {
			return f, err
		}
		f.add(op)
		i += n
	}
	return f, nil
}

func (c *Call) overflowArg(i int) (bitOverflow, error) {
	switch {
	case c.Is(i, "WRAP"):
		return overflowWrap, nil
	case c.Is(i, "SAT"):
		return overflowSat, nil
	case c.Is(i, "FAIL"):
		return overflowFail, nil
	}
	return overflowWrap, ErrBitfieldOverflow
}

// operands reads a type, an offset and, but for GET, a number.
func (c *Call) operands(op *bitfieldOp, args [][]byte) error {
	var ok bool
	if op.bits, op.signed, ok = fieldType(args[0]); !ok {
		return ErrBitfieldType
	}
	if op.at, ok = c.fieldOffset(args[1], op.bits); !ok {
		return ErrBitOffset
	}
	if op.kind == bitfieldGet {
		return nil
	}
	if op.arg, ok = ParseInt(args[2]); !ok {
		return ErrNotInteger
	}
	return nil
}

func (f *bitfieldCall) add(op bitfieldOp) {
	if op.kind != bitfieldGet {
		f.writes = true
		f.last = max(f.last, op.at+int64(op.bits)-1)
	}
	f.ops = append(f.ops, op)
}

// fieldType reads a type like i16 or u8. As in Redis it ends at a NUL.
func fieldType(arg []byte) (width int, signed, ok bool) {
	arg, _, _ = bytes.Cut(arg, []byte{0})
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return 0, false, false
	}
	signed = arg[0] == 'i'
	n, ok := ParseInt(arg[1:])
	if !ok || n < 1 || n > 64 || n == 64 && !signed {
		return 0, false, false
	}
	return int(n), signed, true
}

// fieldOffset reads the position of a field's first bit; #n counts in fields of
// that width. An overflow of the product, which C leaves undefined, is out of
// range.
func (c *Call) fieldOffset(arg []byte, width int) (at int64, ok bool) {
	if len(arg) == 0 || arg[0] != '#' {
		return c.bitOffset(arg)
	}
	n, ok := ParseInt(arg[1:])
	if !ok || n < 0 || n > math.MaxInt64/int64(width) {
		return 0, false
	}
	at = n * int64(width)
	return at, at>>3 < c.MaxBulk
}

// bitfieldRead runs operations that are all GETs.
func bitfieldRead(c *Call, v *mvcc.View, ops []bitfieldOp) error {
	e, ok := v.Get(c.Args[1])
	if ok && e.Type() != mvcc.String {
		return ErrWrongType
	}
	c.Out.Array(len(ops))
	for i := range ops {
		if i%bitfieldPause == bitfieldPause-1 && c.Pause != nil {
			c.Out.Spill()
			c.Pause()
			e, ok = v.Peek(c.Args[1])
		}
		var w bitWindow
		if ok {
			w.load(&e, ops[i].at)
		}
		c.Out.Int(w.get(ops[i].bitField))
	}
	return nil
}

// bitfieldWrite runs operations some of which write. First the string is made
// long enough for all of them.
func bitfieldWrite(c *Call, tx *mvcc.Tx, f bitfieldCall) error {
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	if ok && e.Type() != mvcc.String {
		return ErrWrongType
	}
	before, changes := tx.Changes, int64(0)
	grown := !ok || f.last>>3 >= e.Len()
	if grown {
		tx.WriteAt(key, f.last>>3, []byte{0})
	} else {
		keepEdited(tx, key, &e)
	}
	c.Out.Array(len(f.ops))
	for i := range f.ops {
		if i%bitfieldPause == bitfieldPause-1 && c.Pause != nil {
			c.Pause() // no reply is handed on yet: the write must be told of first
		}
		if wrote, changed := f.ops[i].run(c, tx, key); changed || wrote && grown {
			changes++
		}
	}
	tx.Changes = before + changes
	if changes > 0 {
		c.Notify('$', "setbit", key)
	} else if grown {
		// Every operation failed, but the string has grown. Redis tells
		// nobody; here those who follow the journal must know.
		tx.Changes++
	}
	return nil
}

// run carries out one operation on a string that is long enough for it, and
// appends its reply. It says whether the field was written, and whether that
// changed it.
func (op *bitfieldOp) run(c *Call, tx *mvcc.Tx, key []byte) (wrote, changed bool) {
	e, _ := tx.PeekWrite(key)
	var w bitWindow
	w.load(&e, op.at)
	old := w.get(op.bitField)
	if op.kind == bitfieldGet {
		c.Out.Int(old)
		return false, false
	}
	value, over := op.next(old)
	if over && op.overflow == overflowFail {
		c.Out.Null()
		return false, false
	}
	w.set(op.bitField, uint64(value))
	if stored := w.get(op.bitField); stored != old {
		tx.WriteAt(key, op.at>>3, w.touched(op.bitField))
	}
	if op.kind == bitfieldSet {
		c.Out.Int(old)
	} else {
		c.Out.Int(value)
	}
	return true, value != old
}

// next returns the value that the field shall have after old, and whether the
// one asked for did not fit.
func (op *bitfieldOp) next(old int64) (value int64, over bool) {
	base, incr := old, op.arg
	if op.kind == bitfieldSet {
		base, incr = op.arg, 0
	}
	limit, over := op.limit(base, incr)
	sum := uint64(base) + uint64(incr)
	switch {
	case !over:
		return int64(sum), false
	case op.overflow == overflowWrap:
		return op.cut(sum), true
	}
	return limit, true
}

// limit says whether base+incr lies outside of what the field can hold, and
// which end of it is then nearest.
func (f bitField) limit(base, incr int64) (limit int64, over bool) {
	if !f.signed {
		return f.unsignedLimit(uint64(base), incr)
	}
	hi := int64(1)<<(f.bits-1) - 1
	lo := -hi - 1
	switch up := hi - base; {
	case base > hi,
		f.bits < 64 && incr > up, // also where up wraps around: Redis saturates i8 of the lowest values at 127
		base >= 0 && incr > 0 && incr > up:
		return hi, true
	}
	switch down := lo - base; {
	case base < lo,
		f.bits < 64 && incr < down,
		base < 0 && incr < 0 && incr < down:
		return lo, true
	}
	return 0, false
}

// unsignedLimit is limit for an unsigned field. What is given as a negative
// number is above all of its values.
func (f bitField) unsignedLimit(base uint64, incr int64) (limit int64, over bool) {
	hi := uint64(1)<<f.bits - 1
	switch {
	case base > hi, incr > 0 && uint64(incr) > hi-base:
		return int64(hi), true
	case incr < 0 && incr < -int64(base):
		return 0, true
	}
	return 0, false
}

// cut reads the lowest bits of v as the field would hold them.
func (f bitField) cut(v uint64) int64 {
	shift := 64 - f.bits
	if f.signed {
		return int64(v<<shift) >> shift
	}
	return int64(v << shift >> shift)
}

// A bitWindow is the nine bytes of a string that begin with the first byte of a
// field, so that every field lies inside; zeros stand after the string's end.
type bitWindow [9]byte

func (w *bitWindow) load(e *mvcc.Entry, at int64) {
	from := at >> 3
	if to := min(from+int64(len(w)), e.Len()); from < to {
		e.AppendRange(w[:0], from, to)
	}
}

// get returns the field's value.
func (w *bitWindow) get(f bitField) int64 {
	skip := f.at & 7
	top := binary.BigEndian.Uint64(w[:])<<skip | uint64(w[8])>>(8-skip)
	return f.cut(top >> (64 - f.bits))
}

// set writes the lowest bits of v into the field.
func (w *bitWindow) set(f bitField, v uint64) {
	skip := f.at & 7
	shift := 64 - f.bits
	mask, v := ^uint64(0)<<shift, v<<shift
	first := binary.BigEndian.Uint64(w[:])
	binary.BigEndian.PutUint64(w[:], first&^(mask>>skip)|v>>skip)
	w[8] = w[8]&^byte(mask<<(8-skip)) | byte(v<<(8-skip))
}

// touched returns the bytes in which the field lies.
func (w *bitWindow) touched(f bitField) []byte { return w[:(f.at&7+int64(f.bits)+7)>>3] }
