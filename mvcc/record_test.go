package mvcc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzRecord: what putRecord writes, decode reads, in exactly recordSize bytes
// and whatever lies after it.
func FuzzRecord(f *testing.F) {
	f.Add(byte(0), byte(0), uint32(0), int64(0), []byte("key"), []byte("value"))
	f.Add(byte(5), byte(3), uint32(clockMask), int64(-1), []byte{}, []byte{})
	f.Add(byte(1), byte(2), uint32(1<<23), int64(math.MaxInt64), bytes.Repeat([]byte("k"), 127), bytes.Repeat([]byte("v"), 128))
	f.Add(byte(1), byte(1), uint32(7), int64(math.MinInt64), bytes.Repeat([]byte("k"), 16384), bytes.Repeat([]byte("v"), 16383))
	f.Fuzz(func(t *testing.T, typ, enc byte, clock uint32, expire int64, key, value []byte) {
		typ, enc, clock = typ%16, enc%16, clock&clockMask
		size := recordSize(len(key), len(value), expire)
		buf := bytes.Repeat([]byte{0xa5}, size+3) // old bytes, as in a segment that is used again
		room := putRecord(buf[:size:size], Type(typ), Encoding(enc), clock, expire, key, len(value))
		require.Len(t, room, len(value))
		copy(room, value)

		r := decode(buf)
		require.Equal(t, Type(typ), r.typ())
		require.Equal(t, Encoding(enc), r.encoding())
		require.Equal(t, clock, r.clock())
		require.Equal(t, expire, r.expire)
		require.Equal(t, string(key), string(r.key()))
		require.Equal(t, string(value), string(r.value()))
		require.Equal(t, size, r.size())
		require.Equal(t, []byte{0xa5, 0xa5, 0xa5}, buf[size:])

		r.setClock(^clock & clockMask)
		require.Equal(t, ^clock&clockMask, r.clock())
		require.Equal(t, string(value), string(r.value()))
	})
}

func TestUvarint(t *testing.T) {
	for _, n := range []int{0, 1, 127, 128, 16383, 16384, 1 << 21, 1<<29 - 1, 1 << 29} {
		b := binary.AppendUvarint(nil, uint64(n))
		require.Len(t, b, uvarintLen(n))
		v, used := uvarint(b)
		require.Equal(t, n, v)
		require.Equal(t, len(b), used)
	}
}

// TestEncodings: the encoding that OBJECT ENCODING will show, and the value in
// every way to read it.
func TestEncodings(t *testing.T) {
	s := newSpace(t, 1, 1, 64, 1)
	var tx Tx
	f := func(value string, want Encoding, big bool) {
		t.Helper()
		tx.Begin(s, 0, 1)
		tx.SetString([]byte("k"), []byte(value), 0)
		e, ok := tx.Lookup([]byte("k"))
		require.True(t, ok)
		require.Equal(t, want, e.Encoding())
		require.Equal(t, big, e.Big())
		require.Equal(t, value, string(e.Bytes(nil)))
		require.Equal(t, int64(len(value)), e.Len())
		if n := int64(len(value)); n > 2 {
			require.Equal(t, value[1:n-1], string(e.AppendRange(nil, 1, n-1)))
			var p []byte
			e.Pieces(1, n-1, func(b []byte) bool { p = append(p, b...); return true })
			require.Equal(t, value[1:n-1], string(p))
		}
	}
	long := func(n int) string { return string(bytes.Repeat([]byte("v"), n)) }
	f("-12345", Int, false)
	f("", Embstr, false)
	f(long(44), Embstr, false)
	f(long(45), Raw, false)
	f(long(maxInline), Raw, false)
	f(long(maxInline+1), Raw, true)
	f(long(5*chunkSize), Raw, true)
	tx.WriteAt([]byte("k"), 0, []byte("1"))
	e, _ := tx.Lookup([]byte("k"))
	require.Equal(t, Raw, e.Encoding())
}

// TestRandom: every key of a small keyspace comes up, twins included.
func TestRandom(t *testing.T) {
	for _, bits := range []int{2, 64} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			r, seed := newRand(t)
			s := newSpace(t, 1, 1, bits, seed)
			var tx Tx
			tx.Begin(s, 0, 1)
			for i := range 8 {
				tx.SetInt(fmt.Append(nil, i), 1, 0)
			}
			seen := map[string]bool{}
			for range 2000 {
				e, ok := tx.Random(0, r.Uint64())
				require.True(t, ok)
				seen[string(e.Key())] = true
			}
			require.Len(t, seen, 8)
		})
	}
}
