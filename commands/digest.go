package commands

import (
	"crypto/sha1"
	"encoding/binary"
	"strconv"

	"firn/mvcc"
)

// A Digest is Redis' hash of data (DEBUG DIGEST, debug.c): order counts where it
// is mixed, and does not where it is xored. The zero value is that of nothing.
type Digest [sha1.Size]byte

// Xor adds data in any order.
func (d *Digest) Xor(data []byte) { d.xorSum(sha1.Sum(data)) }

func (d *Digest) xorSum(sum [sha1.Size]byte) {
	for i, b := range sum {
		d[i] ^= b
	}
}

// Mix makes d depend on what it was, and then on data.
func (d *Digest) Mix(data []byte) { d.mixSum(sha1.Sum(data)) }

func (d *Digest) mixSum(sum [sha1.Size]byte) {
	d.xorSum(sum)
	*d = sha1.Sum(d[:])
}

// MixNumber mixes a number of 32 bits in network order.
func (d *Digest) MixNumber(n int) {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], uint32(n))
	d.Mix(b[:])
}

// MixEntry mixes type and value of an entry, and whether it expires; members
// that have expired at now (unix ms) don't count. Others have their turn in
// pause.
func (d *Digest) MixEntry(e *mvcc.Entry, now int64, pause func()) {
	d.MixNumber(typeNumber(e.Type()))
	m := digester{d: d, pause: pause}
	switch e.Type() {
	case mvcc.String:
		m.str(e)
	case mvcc.List:
		l := e.List()
		l.Ascend(0, m.mix)
	case mvcc.Set:
		s := e.Set(now)
		s.Each(m.xor)
	case mvcc.ZSet:
		z := e.ZSet(now)
		z.Ascend(0, m.scored)
	case mvcc.Hash:
		h := e.Hash(now)
		h.Each(m.pair)
	case mvcc.Stream:
		e.Stream().Ascend(mvcc.StreamID{}, m.entry)
	}
	if e.Expire() != 0 {
		d.Xor([]byte("!!expire!!"))
	}
}

// typeNumber is Redis' number of a type: 5 are the values of modules.
func typeNumber(t mvcc.Type) int {
	if t == mvcc.Stream {
		return 6
	}
	return int(t)
}

// A digester takes the elements of a value.
type digester struct {
	d     *Digest
	pause func()
	n     int
	text  []byte
}

// next is called after each element.
func (m *digester) next() bool {
	if m.n++; m.n%pauseEvery == 0 {
		m.pause()
	}
	return true
}

func (m *digester) str(e *mvcc.Entry) {
	hash := sha1.New()
	e.Pieces(0, e.Len(), func(p []byte) bool {
		hash.Write(p)
		if e.Big() {
			m.pause()
		}
		return true
	})
	m.d.mixSum([sha1.Size]byte(hash.Sum(nil)))
}

func (m *digester) mix(b []byte) bool {
	m.d.Mix(b)
	return m.next()
}

func (m *digester) xor(b []byte) bool {
	m.d.Xor(b)
	return m.next()
}

func (m *digester) pair(field, value []byte) bool {
	var one Digest
	one.Mix(field)
	one.Mix(value)
	m.d.Xor(one[:])
	return m.next()
}

func (m *digester) scored(member []byte, score float64) bool {
	m.text = AppendDouble(m.text[:0], score)
	return m.pair(member, m.text)
}

func (m *digester) entry(e *mvcc.StreamEntry) bool {
	m.text = strconv.AppendUint(m.text[:0], e.ID.Ms, 10)
	m.text = strconv.AppendUint(append(m.text, '.'), e.ID.Seq, 10)
	m.d.Mix(m.text)
	e.Each(func(field, value []byte) bool {
		m.d.Mix(field)
		m.d.Mix(value)
		return m.next()
	})
	return true
}
