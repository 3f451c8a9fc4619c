package mvcc

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetPlain(t *testing.T) {
	var tx Tx
	s := NewSpace(1, 1, Seed{1, 2}.Hasher())
	tx.Begin(s, 0, 1000)
	check := func(value string, want Encoding) {
		tx.SetPlain([]byte("k"), []byte(value), 5000)
		e, ok := tx.Peek([]byte("k"))
		require.True(t, ok)
		require.Equal(t, value, string(e.Bytes(nil)))
		require.Equal(t, want, e.Encoding())
		require.EqualValues(t, 5000, e.Expire())
	}
	check("12", Embstr)
	check(strings.Repeat("1", embstrMax), Embstr)
	check(strings.Repeat("1", embstrMax+1), Raw)
	check(strings.Repeat("1", maxInline+1), Raw)
	require.EqualValues(t, 4, tx.Changes)
	require.NoError(t, s.Check())
}

// Overwrite is only faster than the two calls that it stands for.
func TestOverwrite(t *testing.T) {
	for _, lfu := range []bool{false, true} {
		fast, slow := newOverwriteTx(lfu), newOverwriteTx(lfu)
		values := []string{"", "12", "-0", "word", strings.Repeat("x", 45), strings.Repeat("y", maxInline+1)}
		for round := range 40 {
			now := int64(1_000_000 + 700*round)
			value := []byte(values[round%len(values)])
			for _, tx := range []*Tx{fast, slow} {
				tx.Begin(tx.space, 0, now)
				tx.SetString([]byte("other"), []byte("v"), now+int64(round%3)*700)
			}
			key := []byte([]string{"k", "other", "l"}[round%3])
			fast.Overwrite(key, value)
			slow.Lookup(key)
			slow.SetString(key, value, 0)
			require.Equal(t, slow.Changes, fast.Changes)
			require.Equal(t, slow.Expired, fast.Expired)
			requireSameEntry(t, slow, fast, key)
			require.NoError(t, fast.space.Check())
		}
	}
}

func newOverwriteTx(lfu bool) *Tx {
	s := NewSpace(2, 1, Seed{1, 2}.Hasher())
	if lfu {
		n := uint64(0)
		s.SetAccess(Access{LFU: true, LogFactor: 1, Rand: func() uint64 { n += 1 << 61; return n }})
	}
	tx := new(Tx)
	tx.Begin(s, 0, 1)
	return tx
}

func requireSameEntry(t *testing.T, a, b *Tx, key []byte) {
	x, ok := a.Peek(key)
	require.True(t, ok)
	y, ok := b.Peek(key)
	require.True(t, ok)
	require.Equal(t, string(x.Bytes(nil)), string(y.Bytes(nil)))
	require.Equal(t, x.Encoding(), y.Encoding())
	require.Equal(t, x.Expire(), y.Expire())
	require.Equal(t, x.Clock(), y.Clock())
}

func TestCanonicalInt(t *testing.T) {
	check := func(s string) {
		n, err := strconv.ParseInt(s, 10, 64)
		want := err == nil && strconv.FormatInt(n, 10) == s
		got, ok := canonicalInt([]byte(s))
		require.Equal(t, want, ok, s)
		if ok {
			require.Equal(t, n, got, s)
		}
	}
	for _, s := range []string{
		"", "-", "0", "-0", "1", "-1", "01", "-01", "+1", " 1", "1 ", "1x", "9", "1_0", "/", ":",
		"999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"-9223372036854775809", "9999999999999999999", "18446744073709551616", "-99999999999999999999",
	} {
		check(s)
	}
	require.Zero(t, testing.AllocsPerRun(10, func() { canonicalInt([]byte("1234-5678")) }))
}
