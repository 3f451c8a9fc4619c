//go:build invariants

package mvcc

import (
	"fmt"
	"hash/maphash"
)

var sumSeed = maphash.MakeSeed()

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
		maphash.WriteComparable(&h, [4]int64{int64(pos), e.Expire(), int64(e.rec.buf[0]), e.Len()})
		h.Write(e.Key())
		e.Pieces(0, e.Len(), func(p []byte) bool { h.Write(p); return true })
		return true
	})
	maphash.WriteComparable(&h, [2]int{n, v.count})
	return h.Sum64()
}
