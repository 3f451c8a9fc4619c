//go:build invariants

package mvcc

import (
	"fmt"
	"hash/maphash"
)

var sumSeed = maphash.MakeSeed()

// spareFrom and reuseFrom are low, so that all tests reach what is used again.
const (
	spareFrom = 64
	reuseFrom = 1
)

// scrap spoils what nothing may read any more.
func scrap(p []byte) {
	for i := range p {
		p[i] = 0xa5
	}
}

func scrapLeaf(l *leaf) { *l = leaf{n: 1 << 40} }

// seal notes what the version shows, and verify panics if it shows anything
// else at a release: frozen means frozen. Both cost a walk of everything.
func (v *Version) seal() { v.sum = v.checksum() }

func (v *Version) verify() {
	if sum := v.checksum(); sum != v.sum {
		panic(fmt.Sprintf("mvcc: a version of %d keys has changed since its freeze", v.count))
	}
}

// checksum covers all but the access clocks, which versions must not read.
func (v *Version) checksum() uint64 {
	var h maphash.Hash
	h.SetSeed(sumSeed)
	n := 0
	v.ascend(0, func(pos uint64, e Entry) bool {
		n++
		maphash.WriteComparable(&h, [4]int64{int64(pos), e.Expire(), int64(e.rec.buf[0]), int64(e.Count())})
		h.Write(e.Key())
		if e.Type() == String {
			e.Pieces(0, e.Len(), func(p []byte) bool { h.Write(p); return true })
		} else {
			e.sum(&h)
		}
		return true
	})
	maphash.WriteComparable(&h, [2]int{n, v.count})
	return h.Sum64()
}

// sum adds all that a collection shows.
func (e *Entry) sum(h *maphash.Hash) {
	add := func(parts ...[]byte) {
		for _, p := range parts {
			maphash.WriteComparable(h, len(p))
			h.Write(p)
		}
	}
	switch e.Type() {
	case Hash:
		v := e.Hash(0)
		v.Each(func(field, value []byte) bool {
			add(field, value)
			maphash.WriteComparable(h, v.ExpireAt(field))
			return true
		})
	case Set:
		v := e.Set(0)
		v.Each(func(member []byte) bool {
			add(member)
			maphash.WriteComparable(h, v.ExpireAt(member))
			return true
		})
	case ZSet:
		v := e.ZSet(0)
		v.Ascend(0, func(member []byte, score float64) bool {
			add(member)
			maphash.WriteComparable(h, score)
			return true
		})
	case List:
		v := e.List()
		v.Ascend(0, func(b []byte) bool { add(b); return true })
	case Stream:
		e.Stream().sum(h, add)
	}
}

func (v StreamValue) sum(h *maphash.Hash, add func(...[]byte)) {
	v.Ascend(StreamID{}, func(e *StreamEntry) bool {
		maphash.WriteComparable(h, e.ID)
		e.Each(func(field, value []byte) bool { add(field, value); return true })
		return true
	})
	v.EachGroup(func(g StreamGroup) bool {
		add([]byte(g.Name()))
		maphash.WriteComparable(h, [2]any{g.LastID(), g.Read()})
		g.AscendPending(StreamID{}, func(id StreamID, p StreamPending) bool {
			maphash.WriteComparable(h, [2]any{id, p})
			return true
		})
		return true
	})
}
