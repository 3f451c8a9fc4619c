package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysAreABijection(t *testing.T) {
	index := newKeyIndex()
	seen := map[string]bool{}
	for i := range uint64(20_000) {
		key := appendKey(nil, i)
		require.Len(t, key, keyLen)
		require.False(t, seen[string(key)])
		seen[string(key)] = true
		n, ok := parseKey(key)
		require.True(t, ok)
		require.Equal(t, i, index.of(n))
	}
	require.EqualValues(t, keyModulus-1, index.of(keyNumber(keyModulus-1)))
	for _, foreign := range []string{"", "user123", "usex0000000000000000", "user00000000000000x0"} {
		_, ok := parseKey([]byte(foreign))
		require.False(t, ok, foreign)
	}
}

func TestMatchingCountsThePattern(t *testing.T) {
	const n = 5000
	want := 0
	for i := range uint64(n) {
		if bytes.Contains(appendKey(nil, i), []byte("22")) {
			want++
		}
	}
	require.Positive(t, want)
	require.EqualValues(t, want, matching(n).count)
}

// reply feeds a scan driver one reply.
func (d *scanDriver) reply(cursor string, keys ...uint64) {
	d.request(nil)
	d.token(token{kind: '*', n: 2})
	d.token(token{kind: '$', body: []byte(cursor)})
	d.token(token{kind: '*', n: int64(len(keys))})
	for _, i := range keys {
		d.token(token{kind: '$', body: appendKey(nil, i)})
	}
	d.answered(true)
}

func TestScanDriverSeesWrongPasses(t *testing.T) {
	var want keySum
	for i := range uint64(4) {
		want.add(keyNumber(i))
	}
	d := newScanDriver(10, want)
	d.reply("17", 0, 3)
	req, n := d.request(nil)
	require.Equal(t, 1, n)
	require.Equal(t, appendCommand(nil, "SCAN", "17", "MATCH", pattern, "COUNT", "10"), req)
	require.Zero(t, d.passes)
	d.reply("0", 2, 1)
	require.Equal(t, []int{1, 0}, []int{d.passes, d.wrong})
	d.reply("0", 0, 1, 2)
	require.Equal(t, []int{2, 1}, []int{d.passes, d.wrong}, "one is missing")
	d.reply("0", 0, 1, 2, 2)
	require.Equal(t, []int{3, 2}, []int{d.passes, d.wrong}, "one came twice in another's place")
	d.reply("0", 0, 1, 2, 3)
	require.Equal(t, []int{4, 2}, []int{d.passes, d.wrong}, "a wrong pass does not colour the next")
	require.EqualValues(t, 15, d.keys)
}

func TestPassBooksEachKey(t *testing.T) {
	p := newPass(100)
	for _, i := range []uint64{0, 99, 63, 64, 63, 100} {
		p.book(appendKey(nil, i))
	}
	p.book([]byte(probeKey))
	require.Equal(t, []int64{4, 1, 2}, []int64{p.seen, p.twice, p.foreign})
}
