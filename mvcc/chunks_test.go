package mvcc

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSetChunks(t *testing.T) {
	s := NewSpace(2, 1, Seed{1, 2}.Hasher())
	var tx Tx
	tx.Begin(s, 0, 1000)
	key := []byte("k")
	tx.SetString(key, []byte("old"), 5000)
	tail := []byte("tail")
	full := bytes.Repeat([]byte{7}, ChunkSize)
	tx.SetChunks(key, 2*ChunkSize+4, [][]byte{full, nil, tail})
	require.NoError(t, s.Check())
	require.EqualValues(t, 2, tx.Changes)

	e, ok := tx.Get(key)
	require.True(t, ok)
	require.Zero(t, e.Expire())
	require.Equal(t, Raw, e.Encoding())
	want := append(append(bytes.Clone(full), make([]byte, ChunkSize)...), tail...)
	require.True(t, bytes.Equal(want, e.Bytes(nil)))

	frozen := s.Stores[s.StoreOf(s.Hash(key))].Freeze(0)
	defer frozen.Release()
	tx.WriteAt(key, ChunkSize+1, []byte{9}) // into the chunk that is not there
	tx.WriteAt(key, 1, []byte{8})
	tx.WriteAt(key, 2*ChunkSize+4, []byte("more"))
	require.NoError(t, s.Check())
	now, _ := tx.Get(key)
	require.Equal(t, []byte{7, 8, 7}, now.AppendRange(nil, 0, 3))
	require.Equal(t, []byte{0, 9, 0}, now.AppendRange(nil, ChunkSize, ChunkSize+3))
	require.Equal(t, []byte("tailmore"), now.AppendRange(nil, 2*ChunkSize, now.Len()))
	frozen.Ascend(0, func(_ uint64, e Entry) bool {
		require.True(t, bytes.Equal(want, e.Bytes(nil)))
		return true
	})

	require.Panics(t, func() { tx.SetChunks(key, 5, [][]byte{[]byte("four")}) })
	require.Panics(t, func() { tx.SetChunks(key, ChunkSize+1, [][]byte{full}) })
}
