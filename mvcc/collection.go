package mvcc

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A collection is a big hash, set or sorted set: members in the order of their
// positions, the same order in every collection, so that set algebra is a merge
// and a cursor of HSCAN is a position. A sorted set has a second tree, by
// score, which holds the members once more: reading a range then never leaves
// its pages.
type collection struct {
	hash   Hasher
	tree   *ptree     // (position, member) -> value of a hash, score of a sorted set
	scores *ptree     // (order of the score, member); sorted sets only
	ttl    *memberTTL // nil while no member expires
	packed bool       // OBJECT ENCODING says listpack or intset

	ahead int    // so many of the next pops were read ahead
	sum   uint64 // keeps those reads from being optimised away
}

func newCollection(t Type, h Hasher) *collection {
	c := &collection{hash: h, tree: newPtree()}
	if t == ZSet {
		c.scores = newPtree()
	}
	return c
}

func (c *collection) bytes() int64 {
	n := c.tree.bytes() + c.ttl.bytes()
	if c.scores != nil {
		n += c.scores.bytes()
	}
	return n
}

func (c *collection) count() int { return c.tree.Len() }

func (c *collection) clone() value {
	d := *c
	d.tree, d.ttl = c.tree.Copy(), c.ttl.clone()
	if c.scores != nil {
		d.scores = c.scores.Copy()
	}
	return &d
}

// remove takes a member out, with its score and expiry.
func (c *collection) remove(member []byte) bool {
	pos := c.hash(member)
	if c.scores != nil {
		v, ok := c.tree.Get(pos, member)
		if !ok {
			return false
		}
		c.scores.Delete(scoreOrder(decodeScore(v)), member)
	}
	if !c.tree.Delete(pos, member) {
		return false
	}
	if c.ttl != nil {
		c.ttl.set(pos, member, 0)
	}
	return true
}

// gone says whether the member, which may not be there at all, has expired.
func (c *collection) gone(pos uint64, member []byte, now int64) bool {
	return c.ttl != nil && c.ttl.gone(pos, member, now)
}

func (c *collection) check() error {
	if err := c.tree.check(); err != nil {
		return err
	}
	if err := c.checkTTL(); err != nil {
		return err
	}
	err := error(nil)
	c.tree.Ascend(0, func(pos uint64, member, v []byte) bool {
		if got := c.hash(member); got != pos {
			err = fmt.Errorf("member %q is at position %x, should be at %x", member, pos, got)
		}
		if c.scores == nil || err != nil {
			return err == nil
		}
		if _, ok := c.scores.Get(scoreOrder(decodeScore(v)), member); !ok {
			err = fmt.Errorf("member %q has score %v in one tree only", member, decodeScore(v))
		}
		return err == nil
	})
	if err != nil || c.scores == nil {
		return err
	}
	if c.scores.Len() != c.tree.Len() {
		return fmt.Errorf("%d scores of %d members", c.scores.Len(), c.tree.Len())
	}
	return c.scores.check()
}

func (c *collection) checkTTL() error {
	if c.ttl == nil {
		return nil
	}
	if c.ttl.at.Len() != c.ttl.due.Len() {
		return fmt.Errorf("%d members expire, %d are due", c.ttl.at.Len(), c.ttl.due.Len())
	}
	err := error(nil)
	c.ttl.at.Ascend(0, func(pos uint64, member, at []byte) bool {
		if _, ok := c.tree.Get(pos, member); !ok {
			err = fmt.Errorf("member %q expires but is not there", member)
		} else if _, ok := c.ttl.due.Get(binary.LittleEndian.Uint64(at), member); !ok {
			err = fmt.Errorf("member %q expires but is not due", member)
		}
		return err == nil
	})
	return err
}

// scoreOrder maps scores to integers of the same order; the two zeros are
// equal. The infinities are the ends, NaN is no score.
func scoreOrder(f float64) uint64 {
	if f == 0 {
		return 1 << 63
	}
	b := math.Float64bits(f)
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// orderScore is the inverse of scoreOrder.
func orderScore(o uint64) float64 {
	if o>>63 != 0 {
		return math.Float64frombits(o &^ (1 << 63))
	}
	return math.Float64frombits(^o)
}

// encodeScore is the value of a member in a sorted set's first tree.
func encodeScore(b *[scoreLen]byte, f float64) []byte {
	binary.LittleEndian.PutUint64(b[:], math.Float64bits(f))
	return b[:]
}

func decodeScore(v []byte) float64 { return flatScore(v) }

// negativeZero is the value in a sorted set's second tree of a member with the
// score -0, which stands at the order of 0.
var negativeZero = []byte{'-'}

func scoreNote(f float64) []byte {
	if f == 0 && math.Signbit(f) {
		return negativeZero
	}
	return nil
}

// noteScore reads a score from an entry of the second tree.
func noteScore(order uint64, note []byte) float64 {
	if len(note) > 0 {
		return math.Copysign(0, -1)
	}
	return orderScore(order)
}
