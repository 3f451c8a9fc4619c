package server

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Commands of a pipeline that name the same key one behind the other share its
// place, unless a member of its value is to be looked up too.
func TestSameKeySharesItsPlace(t *testing.T) {
	h := aloneOn(t, 1<<30)
	_, err := h.s.in.Write([]byte("LPUSH k a\r\nLPUSH k b\r\nGET k\r\nPING\r\nGET j\r\nGET k\r\nMGET k j\r\nHGET h a\r\nHGET h b\r\nHLEN h\r\n"))
	require.NoError(t, err)
	h.s.gather()
	places := h.s.keys(nil)
	require.Len(t, places, 5)
	for i, want := range map[int]int{0: 0, 1: 0, 2: 0, 4: 1, 5: 2, 7: 3, 8: 4, 9: 4} {
		r := &h.s.batch.requests[i]
		require.Equal(t, want, r.warm, r.args)
		require.Equal(t, h.s.srv.shards.Space.Hash(r.args[1]), places[r.warm].Pos)
	}
	require.Equal(t, "b", string(places[4].Member))
	h.s.process()
}

// Warming what commands of many keys will need changes no reply, also when
// commands before them in the batch write the same keys, and when they have more
// keys than are warmed.
func TestPipelineOfManyKeys(t *testing.T) {
	h := aloneOn(t, 1<<30, "--shards", "2")
	const n = 20_000 // from some thousand keys on it pays to warm them
	value := map[int]int{}
	var in, want strings.Builder
	for i := 0; i < n; i += 100 {
		in.WriteString("MSET")
		for k := i; k < i+100; k++ {
			fmt.Fprintf(&in, " k%d %d", k, k)
			value[k] = k
		}
		in.WriteString("\r\n")
		want.WriteString("+OK\r\n")
	}
	bulk := func(k int) {
		if v, ok := value[k]; ok {
			fmt.Fprintf(&want, "$%d\r\n%d\r\n", len(strconv.Itoa(v)), v)
		} else {
			want.WriteString("$-1\r\n")
		}
	}
	for i := range 2000 {
		a, b, c := i*7%n, (i*7+7)%n, (i*7919)%n
		fmt.Fprintf(&in, "MSET k%d %d k%d %d k%d %d\r\n", a, i, b, i+1, a, i+2)
		value[b], value[a] = i+1, i+2
		fmt.Fprintf(&in, "GET k%d\r\nEXISTS k%d none k%d\r\nDEL k%d none k%d\r\nMGET k%d k%d k%d\r\n", a, c, c, c, c, a, b, c)
		want.WriteString("+OK\r\n")
		bulk(a)
		n := 0
		if _, there := value[c]; there {
			n = 1
		}
		fmt.Fprintf(&want, ":%d\r\n:%d\r\n*3\r\n", 2*n, n)
		delete(value, c)
		bulk(a)
		bulk(b)
		bulk(c)
	}
	in.WriteString("MSETNX x0 0 k5 5 x1 1\r\nMSETNX x0 0 x1 1\r\nTOUCH x0 x1 none\r\nMGET")
	want.WriteString(":0\r\n:1\r\n:2\r\n*190\r\n")
	for k := range 190 {
		fmt.Fprintf(&in, " k%d", k)
		bulk(k)
	}
	h.feed(t, in.String()+"\r\n")
	for len(h.put) > 0 {
		h.next()
	}
	h.flush()
	require.Equal(t, want.String(), h.out.String())
}
