package commands

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"firn/mvcc"
)

// pfdebug looks at how a sketch is stored; GETREG and TODENSE make it dense.
func pfdebug(c *Call, tx *mvcc.Tx) error {
	key := c.Args[2]
	e, ok := tx.Lookup(key)
	if !ok {
		return ErrHLLNoKey
	}
	b, err := hllOf(&e)
	if err != nil {
		return err
	}
	sparse := b[hllFormAt] == hllSparse
	switch {
	case c.Is(1, "getreg"):
		return c.pfdebugGetreg(tx, &e, b)
	case c.Is(1, "decode"):
		if !sparse {
			return ErrHLLNotSparse
		}
		c.Out.Bulk(decodeSparse(b))
	case c.Is(1, "encoding"):
		c.Out.Simple([]string{hllDense: "dense", hllSparse: "sparse"}[b[hllFormAt]])
	case c.Is(1, "todense"):
		_, err := makeDense(tx, key, &e, b)
		c.Out.Int(toInt(sparse))
		return err
	default:
		return ErrPfdebug(c.Args[1])
	}
	keepEdited(tx, key, &e)
	return nil
}

func (c *Call) pfdebugGetreg(tx *mvcc.Tx, e *mvcc.Entry, b []byte) error {
	b, err := makeDense(tx, c.Args[2], e, b)
	if err != nil {
		return err
	}
	c.Out.Array(hllRegisters)
	for i := range hllRegisters {
		c.Out.Int(int64(denseGet(b, i)))
	}
	return nil
}

// makeDense stores a sketch as a dense one, if it is not, and returns that.
func makeDense(tx *mvcc.Tx, key []byte, e *mvcc.Entry, b []byte) ([]byte, error) {
	if b[hllFormAt] == hllDense {
		return b, nil
	}
	d, ok := sparseToDense(b)
	if !ok {
		return nil, ErrCorruptHLL
	}
	putSketch(tx, key, d, e.Expire())
	tx.Changes = 1
	return d, nil
}

// decodeSparse spells out the runs: "z:3 v:1,2 Z:16379".
func decodeSparse(b []byte) []byte {
	var text []byte
	for i := hllHeader; i < len(b); {
		r := runAt(b, i)
		switch {
		case r.value != 0:
			text = fmt.Appendf(text, "v:%d,%d ", r.value, r.n)
		case r.size == 1:
			text = fmt.Appendf(text, "z:%d ", r.n)
		case r.size == 2:
			text = fmt.Appendf(text, "Z:%d ", r.n)
		default: // cut off
			return bytes.TrimRight(text, " ")
		}
		i += r.size
	}
	return bytes.TrimRight(text, " ")
}

const (
	selftestRounds   = 20      // of registers set at random
	selftestElements = 100_000 // a power of ten
)

// pfselftest is a shorter form of the reference's test, which keeps a server
// busy for a second: the same checks, on fewer elements.
func pfselftest(c *Call) error {
	for range selftestRounds {
		if err := selftestAccess(c.Rand); err != nil {
			return err
		}
	}
	if err := selftestError(c.Rand(), c.MaxSparse); err != nil {
		return err
	}
	c.Out.OK()
	return nil
}

// selftestAccess checks that registers keep what they are set to.
func selftestAccess(random func() uint64) error {
	var want, got hllCounters
	b := make([]byte, hllDenseSize)
	bits := uint64(0)
	for i := range want {
		if i%8 == 0 {
			bits = random()
		}
		want[i] = byte(bits) & hllRegMax
		bits >>= 8
		k, shift := denseAt(i)
		densePut(b[k:], shift, want[i])
	}
	got.raiseDense(b)
	for i := range want {
		for _, is := range []byte{got[i], denseGet(b, i)} {
			if is != want[i] {
				return errorf("ERR TESTFAILED Register %d should be %d but is %d", i, want[i], is)
			}
		}
	}
	return nil
}

// selftestError checks that a dense and a sparse sketch agree, and that they err
// no more than six standard errors at every power of ten.
func selftestError(seed uint64, maxSparse int64) error {
	var zero hllCounters
	dense := sketch{b: zero.pack(), own: true}
	sparse := sketch{b: newSparse(), own: true, max: maxSparse}
	for n, check := int64(1), int64(1); n <= selftestElements; n++ {
		var element [8]byte
		at, rank := hllPattern(binary.LittleEndian.AppendUint64(element[:0], uint64(n)^seed))
		dense.raise(at, rank)
		sparse.raise(at, rank)
		if n != check {
			continue
		}
		check *= 10
		if n < maxSparse/2 && sparse.b[hllFormAt] != hllSparse {
			return errorf("ERR TESTFAILED sparse encoding not used")
		}
		estimate, _ := countSketch(dense.b)
		if other, _ := countSketch(sparse.b); other != estimate {
			return errorf("ERR TESTFAILED dense/sparse disagree")
		}
		if off := max(n-estimate, estimate-n); off > selftestAllows(n) {
			return errorf("ERR TESTFAILED Too big error. card:%d abserr:%d", n, off)
		}
	}
	return nil
}

func selftestAllows(n int64) int64 {
	if n == 10 {
		return 1 // few elements often meet
	}
	return int64(math.Ceil(1.04 / math.Sqrt(hllRegisters) * 6 * float64(n)))
}
