package commands

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// fuzzReach is how many calls may be needed until every row has met values of
// every type.
const fuzzReach = 180_000

// TestFuzzReachesEveryRow: the calls of FuzzEveryCommand run every row, and
// those that have keys with a first key of every type, and with none there. The
// seed is fixed, so that nothing but the rows and the chooser decides.
func TestFuzzReachesEveryRow(t *testing.T) {
	rows := fuzzRows(t)
	h := bareHarness(1, 1)
	h.maxBulk, h.maxCost = fuzzMaxBulk, fuzzMaxCost
	missing := map[string]bool{}
	for _, r := range rows {
		for _, what := range reachable(r.row) {
			missing[what] = true
		}
	}
	all := len(missing)
	r := rand.New(rand.NewPCG(1, 1))
	for n := 0; len(missing) > 0 && n < fuzzReach; n++ {
		c := &chooser{randomBytes(r, 400)}
		if n%8 == 0 {
			refill(t, h, c)
			continue
		}
		line := c.call(rows)
		if row, err := h.table.Resolve(line); err == nil {
			delete(missing, met(h, row, line))
		}
		_, err := wellFormed(h, line)
		require.NoError(t, err)
	}
	var names []string
	for what := range missing {
		names = append(names, what)
	}
	slices.Sort(names)
	require.Empty(t, names, "of %d", all)
	require.NoError(t, h.space.Check())
}

// refill puts a value of some type under a key.
func refill(t *testing.T, h *harness, c *chooser) {
	line := bytes.Fields([]byte(choose(c, fuzzValues)))
	line[1] = c.key()
	for _, l := range [][][]byte{{[]byte("DEL"), line[1]}, line} {
		_, err := wellFormed(h, l)
		require.NoError(t, err)
	}
}

var fuzzTypes = []string{"string", "list", "set", "zset", "hash", "stream", "none"}

func hasKeys(row *Command) bool { return row.Keys.First > 0 || row.Keys.Find != nil }

// reachable lists what there is to meet for a row.
func reachable(row *Command) (all []string) {
	if !hasKeys(row) {
		return []string{row.FullName()}
	}
	for _, typ := range fuzzTypes {
		all = append(all, row.FullName()+" "+typ)
	}
	return all
}

// met says what a call meets.
func met(h *harness, row *Command, line [][]byte) string {
	if !hasKeys(row) {
		return row.FullName()
	}
	first := -1
	row.Keys.Each(line, func(i int) {
		if first < 0 {
			first = i
		}
	})
	if first < 0 {
		return ""
	}
	var v mvcc.View
	v.LiveView(h.space, h.session("main").call.DB, h.now)
	typ := "none"
	if e, ok := v.Peek(line[first]); ok {
		typ = fmt.Sprint(e.Type())
	}
	return row.FullName() + " " + typ
}
