package rdb

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// read returns the elements of a pack as texts, and whether it is sound.
func (r packReader) read() (all []string, ok bool) {
	for {
		e, more, ok := r.next()
		switch {
		case !ok:
			return nil, false
		case !more:
			return all, true
		case e.str == nil:
			all = append(all, strconv.FormatInt(e.n, 10))
		default:
			all = append(all, string(e.str))
		}
	}
}

func packed(all []string) []byte {
	var w packWriter
	w.reset()
	for _, s := range all {
		w.add([]byte(s))
	}
	return w.finish()
}

func TestListpackRoundTrip(t *testing.T) {
	var all []string
	for _, n := range []int64{0, 127, 128, -1, -4096, -4097, 4095, 4096, 32767, 32768, -32768, -32769, 1<<23 - 1, 1 << 23, -1 << 23, -1<<23 - 1,
		math.MaxInt32, math.MaxInt32 + 1, math.MinInt32, math.MinInt32 - 1, math.MaxInt64, math.MinInt64} {
		all = append(all, strconv.FormatInt(n, 10))
	}
	for _, n := range []int{0, 1, 63, 64, 125, 126, 127, 4095, 4096, 16377, 16378, 16379, 16380, 100_000, 2097145, 2097146, 2097147} {
		all = append(all, strings.Repeat("x", n))
	}
	all = append(all, "007", "-0")
	r, ok := openListpack(packed(all))
	require.True(t, ok)
	got, ok := r.read()
	require.True(t, ok)
	require.Equal(t, all, got)
}

func TestListpackBytes(t *testing.T) {
	require.Equal(t, "13000000"+"0400"+"8161"+"02"+"0101"+"dfff02"+"8268690"+"3ff", hex.EncodeToString(packed([]string{"a", "1", "-1", "hi"})))
}

// Every cut and every changed length of a pack is found out, or harmless.
func TestDamagedListpack(t *testing.T) {
	whole := packed([]string{"a", "1", strings.Repeat("b", 70), "-5000", "100000"})
	for i := range whole {
		_, ok := openListpack(whole[:i])
		require.False(t, ok)
	}
	for i := range whole {
		for bit := range 8 {
			p := append([]byte(nil), whole...)
			p[i] ^= 1 << bit
			if r, ok := openListpack(p); ok {
				r.read()
			}
		}
	}
}

func TestZiplist(t *testing.T) {
	f := func(p string, want ...string) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(p, " ", ""))
		require.NoError(t, err)
		r, ok := openZiplist(b)
		require.True(t, ok)
		got, ok := r.read()
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	f("0b000000 0a000000 0000 ff")
	f("0f000000 0c000000 0200 00f3 02f6 ff", "2", "5") // the example of Redis' ziplist.c
	f("1c000000 0e000000 0200 0002 6869 04 0b 48656c6c6f20576f726c64 ff", "hi", "Hello World")
	f("1d000000 18000000 0400 00fe80 03f00000 80 05d0ffffff7f 06c00080 ff", "-128", "-8388608", "2147483647", "-32768")
	bad := func(p string) {
		t.Helper()
		b, err := hex.DecodeString(strings.ReplaceAll(p, " ", ""))
		require.NoError(t, err)
		if r, ok := openZiplist(b); ok {
			_, ok = r.read()
			require.False(t, ok)
		}
	}
	bad("0f000000 0a000000 0200 00f3 02f6 ff") // the tail is not the last
	bad("0f000000 0c000000 0300 00f3 02f6 ff") // a count too many
	bad("0f000000 0c000000 0100 00f3 02f6 ff") // one too few
	bad("0f000000 0c000000 0200 00f3 03f6 ff") // a wrong length before
	bad("0f000000 0c000000 0200 00f3 023f ff") // a string beyond the end
	bad("0f000000 0c000000 0200 00f3 02ff ff") // an end inside
	bad("0e000000 0c000000 0200 00f3 02f6 ff") // a wrong length
}

func TestZipmap(t *testing.T) {
	f := func(p string) (all []string, ok bool) {
		ok = eachZipmap([]byte(p), func(field, value []byte) bool {
			all = append(all, string(field), string(value))
			return true
		})
		return all, ok
	}
	all, ok := f("\x02\x03foo\x03\x00bar\x05hello\x05\x02world..\xff")
	require.True(t, ok)
	require.Equal(t, []string{"foo", "bar", "hello", "world"}, all)
	all, ok = f("\xfe\xfe\x03\x00\x00\x00foo\x03\x00bar\xff")
	require.True(t, ok)
	require.Equal(t, []string{"foo", "bar"}, all)
	for _, p := range []string{"", "\xff", "\x00\xff", "\x01\x03foo\x03\x00bar", "\x02\x03foo\x03\x00bar\xff", "\x01\x03foo\x04\x00bar\xff",
		"\x01\x03foo\x03\x01bar\xff", "\x01\xfe\xff\xff\xff\xfffoo\x03\x00bar\xff", "\x01\x03foo\xff", "\x01\x03foo\x03\xff", "\x01\x03foo\x03\x00bar\xff\xff"} {
		_, ok = f(p)
		require.False(t, ok, "%q", p)
	}
}

func TestIntset(t *testing.T) {
	read := func(p []byte) (all []int64, ok bool) {
		ok = eachIntset(p, func(n int64) bool { all = append(all, n); return true })
		return all, ok
	}
	f := func(size byte, ints ...int64) {
		t.Helper()
		p := appendIntset(nil, append([]int64(nil), ints...))
		require.Equal(t, size, p[0])
		got, ok := read(p)
		require.True(t, ok)
		require.ElementsMatch(t, ints, got)
		for i := range p {
			_, ok = read(p[:i])
			require.False(t, ok)
		}
	}
	f(2, 5)
	f(2, 3, -32768, 32767)
	f(4, 32768, 1)
	f(4, -32769, 1)
	f(8, 1<<31, -1)
	f(8, math.MinInt64, math.MaxInt64, 0)
	for _, p := range []string{"\x02\x00\x00\x00\x00\x00\x00\x00", "\x03\x00\x00\x00\x01\x00\x00\x00abc",
		"\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x01\x00", "\x02\x00\x00\x00\x02\x00\x00\x00\x02\x00\x01\x00"} {
		_, ok := read([]byte(p))
		require.False(t, ok, "%q", p)
	}
}

func FuzzPacks(f *testing.F) {
	f.Add(packed([]string{"a", "1", strings.Repeat("b", 70), "-5000", "100000"}))
	f.Add([]byte("\x0f\x00\x00\x00\x0c\x00\x00\x00\x02\x00\x00\xf3\x02\xf6\xff"))
	f.Add([]byte("\x02\x03foo\x03\x00bar\x05hello\x05\x02world..\xff"))
	f.Add(appendIntset(nil, []int64{1, 2, 70000}))
	f.Fuzz(func(t *testing.T, p []byte) {
		if r, ok := openListpack(p); ok {
			if all, ok := r.read(); ok {
				again, ok := openListpack(packed(all))
				require.True(t, ok)
				got, ok := again.read()
				require.True(t, ok)
				require.Equal(t, all, got)
			}
		}
		if r, ok := openZiplist(p); ok {
			r.read()
		}
		eachZipmap(p, func(_, _ []byte) bool { return true })
		eachIntset(p, func(int64) bool { return true })
	})
}
