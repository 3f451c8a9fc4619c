package commands

import (
	"bytes"

	"firn/mvcc"
)

// removeRanks takes the ranks [lo, hi) out and closes the writer of the key. All
// of them at once go in O(1).
func removeRanks(c *Call, tx *mvcc.Tx, w *mvcc.ZSetWriter, key []byte, lo, hi int) {
	n, size := hi-lo, w.Len()
	switch {
	case n > 0 && n == size:
		w.Close()
		tx.Delete(key)
		tx.Changes += int64(n - 1)
	case n >= rebuildFrom && n > size/2:
		keepOthers(c, tx, w, key, lo, hi)
	default:
		cutRanks(c, w, lo, hi)
	}
}

// cutRanks removes slice by slice.
func cutRanks(c *Call, w *mvcc.ZSetWriter, lo, hi int) {
	defer w.Close()
	for hi > lo {
		from := max(hi-pauseEvery, lo)
		w.RemoveRange(from, hi)
		hi = from
		if c.Pause != nil && hi > lo {
			c.Pause()
		}
	}
}

// rebuildFrom is how many members must go for it to be worth while to write
// those that stay anew, in the order of their positions: 400 of 500 thousand
// take a third of the time.
const rebuildFrom = 4096

// keepOthers puts in the place of the sorted set one of the members outside of
// the ranks.
func keepOthers(c *Call, tx *mvcc.Tx, w *mvcc.ZSetWriter, key []byte, lo, hi int) {
	z, size := w.Value(), w.Len()
	if z.HasExpiries() {
		cutRanks(c, w, lo, hi)
		return
	}
	others := mvcc.NewZSetBuilder(tx.Space(), false)
	first, from := z.At(lo)
	last, to := z.At(hi - 1)
	i := 0
	z.AscendPos(0, func(_ uint64, member []byte, score float64) bool {
		if scoredBefore(score, member, from, first) || scoredBefore(to, last, score, member) {
			others.Add(member, score)
		}
		c.pauseAt(i)
		i++
		return true
	})
	kept := others.Finish(c.Pause)
	if size > tx.Space().Limits().ZSetEntries {
		unpack(tx.Space(), kept)
	}
	w.Close()
	e, _ := tx.Peek(key)
	changes := tx.Changes
	tx.PutValue(key, kept, e.Expire())
	tx.Changes = changes + int64(hi-lo)
}

// unpack gives a sorted set the encoding skiplist, which it keeps: for a moment it
// has a member that is too long for a listpack.
func unpack(s *mvcc.Space, w *mvcc.ZSetWriter) {
	long := make([]byte, min(s.Limits().ZSetValue, 1<<20)+1)
	if added, _ := w.Set(long, 0); added {
		w.Remove(long)
	}
}

// scoredBefore says whether the first of two elements stands before the other.
func scoredBefore(score float64, member []byte, score2 float64, member2 []byte) bool {
	if score != score2 {
		return score < score2
	}
	return bytes.Compare(member, member2) < 0
}
