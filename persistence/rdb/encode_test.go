package rdb

import (
	"bytes"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLengths(t *testing.T) {
	f := func(n uint64, want string) {
		t.Helper()
		var w Encoder
		w.Len(n)
		require.Equal(t, want, hex.EncodeToString(w.buf))
		got, err := NewDecoder(w.buf).Len()
		require.NoError(t, err)
		require.Equal(t, n, got)
	}
	f(0, "00")
	f(63, "3f")
	f(64, "4040")
	f(16383, "7fff")
	f(16384, "8000004000")
	f(math.MaxUint32, "80ffffffff")
	f(math.MaxUint32+1, "810000000100000000")
	f(math.MaxUint64, "81ffffffffffffffff")
}

func TestStrings(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		w := Encoder{Compress: true}
		w.String([]byte(s))
		require.Equal(t, want, hex.EncodeToString(w.buf))
		got, err := NewDecoder(w.buf).String()
		require.NoError(t, err)
		require.Equal(t, s, string(got))
	}
	f("", "00")
	f("abc", "03616263")
	f("0", "c000")
	f("-128", "c080")
	f("128", "c18000")
	f("-32768", "c10080")
	f("32768", "c200800000")
	f("-2147483648", "c200000080")
	f("2147483648", "0a"+hex.EncodeToString([]byte("2147483648")))
	f("007", "03303037")
	f("-0", "022d30")
	f("+1", "022b31")
	f(strings.Repeat("a", 30), "c3051e0061e01400")
}

func TestCanonicalInt(t *testing.T) {
	for _, n := range []int64{0, 1, -1, 9, 10, math.MaxInt64, math.MinInt64, math.MaxInt32, math.MinInt32} {
		got, ok := canonicalInt([]byte(strconv.FormatInt(n, 10)))
		require.True(t, ok, n)
		require.Equal(t, n, got)
	}
	for _, s := range []string{"", "-", "-0", "00", "01", "+1", "1a", " 1", "9223372036854775808", "-9223372036854775809", "99999999999999999999"} {
		_, ok := canonicalInt([]byte(s))
		require.False(t, ok, s)
	}
}

func TestOldDoubles(t *testing.T) {
	f := func(p string, want float64) {
		t.Helper()
		got, err := NewDecoder([]byte(p)).OldDouble()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	f("\x031.5", 1.5)
	f("\x05-1e10", -1e10)
	f("\xff", math.Inf(-1))
	f("\xfe", math.Inf(1))
	nan, err := NewDecoder([]byte("\xfd")).OldDouble()
	require.NoError(t, err)
	require.True(t, math.IsNaN(nan))
	_, err = NewDecoder([]byte("\x02ab")).OldDouble()
	require.Error(t, err)
}

// A string that says to be long takes no memory until its bytes are there.
func TestLongClaims(t *testing.T) {
	for _, p := range []string{"81ffffffffffffffff", "80ffffffff00", "c3058000ffffff0061e0ff00", "c38000000001817fffffffffffffff61", "c4", "7f", "82"} {
		b, err := hex.DecodeString(p)
		require.NoError(t, err)
		_, err = NewDecoder(b).String()
		var e *Error
		require.ErrorAs(t, err, &e, p)
	}
}

// What is read in small pieces is the same as what is read in one.
func TestMore(t *testing.T) {
	w := Encoder{Compress: true}
	long := strings.Repeat("long string ", 1000)
	for _, s := range []string{"a", "12345", long, "-9"} {
		w.String([]byte(s))
	}
	all := w.Take()
	d := NewDecoder(nil)
	d.More = func(rest []byte, n int) ([]byte, error) {
		p := append(bytes.Clone(rest), all[:min(max(n-len(rest), 3), len(all))]...)
		all = all[len(p)-len(rest):]
		if len(p) < n {
			return nil, &Error{d.Offset(), "end"}
		}
		return p, nil
	}
	for _, s := range []string{"a", "12345", long, "-9"} {
		got, err := d.String()
		require.NoError(t, err)
		require.Equal(t, s, string(got))
	}
	_, err := d.String()
	require.Error(t, err)
}
