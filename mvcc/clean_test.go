package mvcc

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestMemoryFollowsData is experiment E4 in small: values grow in stages of
// random overwrites, with no more cleaning than the server does behind each
// command, and memory stays near the live bytes. C10.
func TestMemoryFollowsData(t *testing.T) {
	for _, every := range []int{0, 2000} {
		t.Run(fmt.Sprintf("version every %d writes", every), func(t *testing.T) { growingValues(t, every) })
	}
}

func growingValues(t *testing.T, every int) {
	const keys, perCommand = 40_000, 16 << 10
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	st, n := s.Stores[0], 0
	var tx Tx
	var version *Version
	set := func(i, size int) {
		tx.Begin(s, 0, 1)
		tx.SetRaw(fmt.Appendf(nil, "user%016d", i), make([]byte, size), 0)
		st.CleanDebt(perCommand)
		if n++; every > 0 && n%every == 0 {
			if version != nil {
				version.Release()
			}
			version = st.Freeze(0)
		}
	}
	for i := range keys {
		set(i, 100)
	}
	share := func() float64 { u := st.Usage(); return float64(u.Segments) / float64(u.Records) }
	busy, rested := 0.0, 0.0
	for stage := 1; stage < 16; stage++ {
		for range keys * 9 / 10 {
			set(r.IntN(keys), 100+stage*590/15)
		}
		busy = max(busy, share())
		st.Rest() // this one sees the writes, the next ones none
		for range restCalls {
			st.Rest()
		}
		for st.Clean(1 << 20) {
		}
		rested = max(rested, share())
	}
	t.Logf("worst segments/records %.3f, when it rests %.3f", busy, rested)
	// So much is live, but for the segment that is being filled and, under
	// writes, the one that is being emptied.
	require.Less(t, busy, 100.0/cleanBusy+2.0/segmentShare)
	require.Less(t, rested, 100.0/cleanBelow+1.0/segmentShare)
	if version != nil {
		version.Release()
	}
	require.Zero(t, st.Usage().Pinned)
}

// TestSlowMomentIsNoRest: neither a tenth of the usual writes nor a single call
// without any makes the log be kept as dense as at rest.
func TestSlowMomentIsNoRest(t *testing.T) {
	s := newSpace(t, 1, 1, 64, 1)
	st := s.Stores[0]
	n := 0
	write := func(keys int) {
		var tx Tx
		tx.Begin(s, 0, 1)
		for range keys {
			tx.SetRaw(fmt.Appendf(nil, "user%016d", n), make([]byte, 100), 0)
			n++
		}
	}
	write(20_000)
	for range 3 * restCalls {
		write(20)
		st.Rest()
		require.Equal(t, cleanBusy, st.dbs[0].log.target)
	}
	st.Rest()
	require.Equal(t, cleanBusy, st.dbs[0].log.target)
	st.Rest()
	require.Equal(t, cleanBelow, st.dbs[0].log.target)
	write(20)
	st.Rest()
	require.Equal(t, cleanBusy, st.dbs[0].log.target)
}

// TestCleaningEnds: records that fill segments badly (keys of 300 KB, three to
// a megabyte) must not be moved for ever.
func TestCleaningEnds(t *testing.T) {
	for _, size := range []int{60 << 10, 190_000, 270_000, 300_000, 600_000, segmentMax - 20, segmentMax, segmentMax + 1, 3 * segmentMax} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			s := newSpace(t, 1, 1, 64, 1)
			var tx Tx
			for i := range 20 {
				tx.Begin(s, 0, 1)
				tx.SetRaw(append(make([]byte, size), byte(i)), nil, 0)
			}
			for i := range 10 {
				tx.Begin(s, 0, 1)
				tx.Delete(append(make([]byte, size), byte(2*i)))
			}
			rounds := 0
			for ; s.Stores[0].Clean(1 << 20); rounds++ {
				require.Less(t, rounds, 1000, "cleaning does not end")
			}
			u := s.Stores[0].Usage()
			require.Less(t, u.Segments, u.Records*3+2*segmentMax)
		})
	}
}

// TestCleaningShowsNothing: what any view shows is the same before and after
// each step of the cleaner.
func TestCleaningShowsNothing(t *testing.T) {
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 8, seed)
	fill(s, r, 3000)
	v := s.Stores[0].Freeze(0)
	defer v.Release()
	frozen := dump(v)
	fill(s, r, 3000)
	live := s.Stores[0].Freeze(0)
	want := dump(live)
	live.Release()
	steps := 0
	for more := true; more; steps++ {
		more = s.Stores[0].Clean(1 << 10)
		if steps%50 == 0 {
			now := s.Stores[0].Freeze(0)
			require.Equal(t, want, dump(now))
			now.Release()
			require.Equal(t, frozen, dump(v))
			require.NoError(t, s.Check())
		}
	}
	require.Greater(t, steps, 50, "there was nothing to clean")
}

func fill(s *Space, r *rand.Rand, n int) {
	var tx Tx
	tx.Begin(s, 0, 1)
	for range n {
		tx.SetRaw(fmt.Appendf(nil, "key:%d", r.IntN(500)), bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(3000)), int64(r.IntN(2)*99))
	}
}

// dump is what the version shows, sorted: the order of the keys at one position
// is none.
func dump(v *Version) (out []string) {
	v.Ascend(0, func(pos uint64, e Entry) bool {
		out = append(out, fmt.Sprintf("%x %s %d %x", pos, e.Key(), e.Expire(), crc32.ChecksumIEEE(e.Bytes(nil))))
		return true
	})
	slices.Sort(out)
	return out
}

// TestSegmentReuse: a segment is used again only when no version can see it,
// one that is frozen again (Store.Freeze returns the last version as long as
// nothing was written) included.
func TestSegmentReuse(t *testing.T) {
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	st := s.Stores[0]
	reused := 0
	for range 60 {
		fill(s, r, 200)
		first := st.Freeze(0)
		want := dump(first)
		if r.IntN(2) == 0 {
			first.Release()
			st.Clean(1 << 19)
			first = st.Freeze(0)
			require.Equal(t, want, dump(first), "frozen again after cleaning")
		}
		if st.dbs[0].log.spare != nil {
			reused++
		}
		fill(s, r, 200)
		for st.Clean(1 << 20) {
		}
		fill(s, r, 200)
		require.Equal(t, want, dump(first))
		first.Release()
	}
	require.Positive(t, reused, "no segment was to be used again")
}

// TestOverwriteUnderReader: readers on other goroutines read versions, and
// release them there, while the owner overwrites the same keys with values of
// the same size, which it does in place where it may, and cleans. Under -race
// this also proves that an access clock may be set beside a reader.
func TestOverwriteUnderReader(t *testing.T) {
	_, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	var tx Tx
	var readers sync.WaitGroup
	slots := make(chan struct{}, 3)
	for n := range 400 {
		tx.Begin(s, 0, int64(n)*1000)
		for i := range 100 {
			key := fmt.Appendf(nil, "key:%d", i)
			tx.Lookup(key)
			tx.SetString(key, bytes.Repeat([]byte{byte('a' + n%26)}, 200), 0)
		}
		s.Stores[0].CleanDebt(1 << 20)
		select {
		case slots <- struct{}{}:
		default:
			continue
		}
		v, want := s.Stores[0].Freeze(0), byte('a'+n%26)
		readers.Go(func() {
			defer func() { <-slots }()
			defer v.Release()
			for range 5 {
				v.Ascend(0, func(_ uint64, e Entry) bool {
					if b := e.Bytes(nil); bytes.Count(b, []byte{want}) != 200 {
						t.Errorf("key %q of version %c shows %q", e.Key(), want, b)
					}
					return true
				})
			}
		})
	}
	readers.Wait()
}

// TestInPlaceOnlyWhenPrivate: with no version open, overwriting with the same
// size takes no new memory; with one open, it does once.
func TestInPlaceOnlyWhenPrivate(t *testing.T) {
	s := newSpace(t, 1, 1, 64, 1)
	var tx Tx
	set := func(b byte) int64 {
		tx.Begin(s, 0, 1)
		tx.SetString([]byte("k"), []byte{b}, 0)
		return s.Stores[0].dbs[0].log.used
	}
	used := set('a')
	require.Equal(t, used, set('b'))
	v := s.Stores[0].Freeze(0)
	defer v.Release()
	require.Greater(t, set('c'), used)
	require.Equal(t, set('d'), set('e'), "a record newer than the version")
	r, _, _ := v.find(s.Hash([]byte("k")), []byte("k"))
	require.Equal(t, "b", string(r.value()))
}

// TestPinnedBytes: with always some version open, as under many scans, what is
// counted as pinned is what the open ones see, not all that ever was.
func TestPinnedBytes(t *testing.T) {
	r, seed := newRand(t)
	s := newSpace(t, 1, 1, 64, seed)
	st := s.Stores[0]
	churn := func() {
		fill(s, r, 1000)
		for st.Clean(1 << 20) {
		}
	}
	churn()
	open := []*Version{st.Freeze(0)}
	reused, most := 0, int64(0)
	for range 100 {
		churn()
		open = append(open, st.Freeze(0))
		if len(open) > 3 {
			open[0].Release()
			open = open[1:]
		}
		u := st.Usage()
		most = max(most, u.Pinned)
		require.Less(t, u.Pinned, 4*3*u.Segments)
		if st.dbs[0].log.spare != nil {
			reused++
		}
	}
	require.Positive(t, most)
	require.Positive(t, reused, "a segment that only a released version saw is used again")
	require.LessOrEqual(t, len(st.dbs[0].versions), 4)
	for _, v := range open {
		v.Release()
	}
	require.Zero(t, st.Usage().Pinned)
}
