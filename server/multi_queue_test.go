package server

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"firn/commands"

	"github.com/stretchr/testify/require"
)

// What is queued comes back as it was, also when the queue is used again.
func TestLineQueue(t *testing.T) {
	table := commands.NewTable(commands.Families()...)
	rows := []*commands.Command{table.Lookup([]byte("set")), table.Lookup([]byte("get")), table.Lookup([]byte("object")).Sub([]byte("freq"))}
	var q lineQueue
	for round := range 6 {
		r := rand.New(rand.NewPCG(7, uint64(round)))
		var want []request
		bytes := int64(0)
		for range []int{0, 1, 10, 100, 10_000, 3}[round] {
			req := request{row: rows[r.IntN(3)], pos: r.Uint64()}
			for range r.IntN(40) {
				n := r.IntN(30)
				if r.IntN(3000) == 0 {
					n = r.IntN(200_000)
				}
				req.args = append(req.args, []byte(strings.Repeat(fmt.Sprint(r.IntN(10)), n)))
				bytes += int64(n)
			}
			q.add(&req)
			want = append(want, req)
		}
		require.Equal(t, len(want), q.n)
		require.Equal(t, bytes, q.bytes)
		require.GreaterOrEqual(t, q.room, bytes)
		i := 0
		q.each(table, func(got *request) bool {
			require.Same(t, want[i].row, got.row)
			require.Equal(t, want[i].pos, got.pos)
			require.True(t, slices.EqualFunc(want[i].args, got.args, slices.Equal[[]byte]), "line %d", i)
			i++
			return true
		})
		require.Equal(t, len(want), i)
		q.reset()
		require.Zero(t, q.n)
		require.Less(t, q.room, int64(8<<10))
	}
}
