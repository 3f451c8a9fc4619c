package mvcc

import (
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
