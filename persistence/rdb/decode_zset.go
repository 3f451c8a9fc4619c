package rdb

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"firn/mvcc"
)

// A zsetReader reads a sorted set into a writer, or first into a list where that
// is faster.
type zsetReader struct {
	*Decoder
	w   *mvcc.ZSetWriter
	all []scored // used instead if it is not nil
	pos func(member []byte) uint64
}

// A scored is a member that is not in the value yet.
type scored struct {
	pos    uint64
	member []byte
	score  float64
}

// So many members are sorted by position before they are put in, which is
// faster than to put them in in the order of scores, but takes memory.
const (
	sortFrom = 1 << 10
	sortTo   = 1 << 22
)

func (d *Decoder) zset(t byte, s *mvcc.Space) (mvcc.Detached, error) {
	r := zsetReader{Decoder: d, w: mvcc.NewZSet(s), pos: s.Hash}
	var err error
	switch t {
	case typeZSetZiplist, typeZSetListpack:
		err = d.tuples(t == typeZSetZiplist, r.packed)
	case typeZSetTTL:
		err = d.expiring(r.expiring)
	case typeZSet:
		err = r.members(d.OldDouble)
	default:
		err = r.members(d.Double)
	}
	if err == nil && r.all != nil {
		return r.sorted(s)
	}
	return r.w, err
}

func (r *zsetReader) add(member []byte, score float64) error {
	if math.IsNaN(score) {
		return r.fail("a score that is no number")
	}
	if r.all != nil {
		r.all = append(r.all, scored{r.pos(member), member, score})
		return nil
	}
	if added, _ := r.w.Set(member, score); !added {
		return r.fail("a member that comes twice")
	}
	return nil
}

func (r *zsetReader) packed(p *packReader, member []byte) error {
	text, err := r.needElement(p)
	if err != nil {
		return err
	}
	score, ok := parseScore(text)
	if !ok {
		return &Error{p.at, "a score that is no number"}
	}
	return r.add(member, score)
}

func (r *zsetReader) expiring(at int64) error {
	member, err := r.member(r.Double)
	if err == nil && at != 0 {
		r.w.SetExpireAt(member, at)
	}
	return err
}

// members reads how many there are, and the members.
func (r *zsetReader) members(number func() (float64, error)) error {
	n, err := r.count()
	if n >= sortFrom && n <= sortTo {
		r.all = make([]scored, 0, sortFrom)
	}
	for ; err == nil && n > 0; n-- {
		_, err = r.member(number)
		r.step()
	}
	return err
}

func (r *zsetReader) member(number func() (float64, error)) ([]byte, error) {
	member, err := r.String()
	if err != nil {
		return nil, err
	}
	if r.all != nil && len(member) <= len(r.nums[0]) {
		member = bytes.Clone(member) // it may be the text of an integer, which doesn't last
	}
	score, err := number()
	if err != nil {
		return nil, err
	}
	return member, r.add(member, score)
}

// sorted makes the value of the list.
func (r *zsetReader) sorted(s *mvcc.Space) (mvcc.Detached, error) {
	slices.SortFunc(r.all, func(x, y scored) int {
		r.step()
		if x.pos != y.pos {
			return cmp.Compare(x.pos, y.pos)
		}
		return bytes.Compare(x.member, y.member)
	})
	b := mvcc.NewZSetBuilder(s, false)
	for i := range r.all {
		e := &r.all[i]
		if i > 0 && e.pos == r.all[i-1].pos && bytes.Equal(e.member, r.all[i-1].member) {
			return nil, r.fail("a member that comes twice")
		}
		b.Add(e.member, e.score)
		r.step()
	}
	return b.Finish(r.Pause), nil
}
