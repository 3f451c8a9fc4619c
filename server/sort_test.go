package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSortReadsKeysOfAllShards: BY and GET name keys of any shard. While some
// key is locked they read versions, as the live keyspace might show half a
// write; only who names the locked key waits.
func TestSortReadsKeysOfAllShards(t *testing.T) {
	s := serve(t)
	c := s.dial()
	require.Equal(t, "+OK", c.do("MSET in i to before w_1 4 w_2 3 w_3 2 w_4 1 v_1 a v_2 b v_3 c v_4 d"))
	require.Equal(t, ":4", c.do("RPUSH l 1 2 3 4"))
	const sorted = "*4\r\n$1\r\nd\r\n$1\r\nc\r\n$1\r\nb\r\n$1\r\na"
	require.Equal(t, sorted, c.do("SORT_RO l BY w_* GET v_*"))
	finish := s.startStore()
	t.Cleanup(finish)
	require.Equal(t, sorted, c.do("SORT_RO l BY w_* GET v_*"))
	require.Equal(t, ":4", c.do("SORT l BY w_* GET v_* STORE d"))
	require.Equal(t, sorted, c.do("LRANGE d 0 -1"))
	waiting := s.dial()
	waiting.send("SORT l BY w_* STORE to")
	eventually(t, func() bool { return s.lockWaiters() == 1 }, "it doesn't wait")
	finish()
	require.Equal(t, ":4", waiting.reply())
	require.Equal(t, "*4\r\n$1\r\n4\r\n$1\r\n3\r\n$1\r\n2\r\n$1\r\n1", c.do("LRANGE to 0 -1"))
}
