package commands

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"firn/mvcc"
	"firn/persistence/rdb"

	"github.com/stretchr/testify/require"
)

// payloadOf returns what DUMP answers.
func payloadOf(t *testing.T, h *harness, key string) string {
	t.Helper()
	raw, err := h.Do("main", [][]byte{[]byte("DUMP"), []byte(key)})
	require.NoError(t, err)
	_, s, ok := strings.Cut(string(raw), "\r\n")
	require.True(t, ok)
	return strings.TrimSuffix(s, "\r\n")
}

func send(t *testing.T, h *harness, line ...string) string {
	t.Helper()
	args := make([][]byte, len(line))
	for i, a := range line {
		args[i] = []byte(a)
	}
	raw, err := h.Do("main", args)
	require.NoError(t, err)
	return string(raw)
}

// Members keep their expiries through DUMP and RESTORE. (What redis-server says
// to such a payload is in TestDumpDuelOfMembers.)
func TestDumpOfExpiringMembers(t *testing.T) {
	h := newHarness(1, 1)
	send(t, h, "HSET", "hash", "a", "1", "b", "2")
	send(t, h, "SADD", "set", "a", "b")
	send(t, h, "ZADD", "zset", "1", "a", "2", "b")
	for _, key := range []string{"hash", "set", "zset"} {
		at := fmt.Sprint(harnessStart + 100_000)
		require.Equal(t, ":1\r\n", send(t, h, "PEXPIREMEMBERAT", key, "a", at))
		require.Equal(t, "+OK\r\n", send(t, h, "RESTORE", "copy", "0", payloadOf(t, h, key), "REPLACE"))
		require.Equal(t, payloadOf(t, h, key), payloadOf(t, h, "copy"))
		require.Equal(t, ":100000\r\n", send(t, h, "PTTL", "copy", "a"))
		require.Equal(t, ":-1\r\n", send(t, h, "PTTL", "copy", "b"))
	}
	require.NoError(t, h.space.Check())
}

// A long payload is sent in pieces, and is the same bytes.
func TestDumpInPieces(t *testing.T) {
	h := bareHarness(1, 1)
	send(t, h, "SETRANGE", "string", "300000", "x")
	for i := range 5000 {
		send(t, h, "RPUSH", "list", strings.Repeat(fmt.Sprint(i), 10))
	}
	for _, key := range []string{"string", "list"} {
		for _, compress := range []bool{false, true} {
			answer := func(aside bool) []byte {
				var sent []byte
				c := Call{Out: &Reply{}, Args: [][]byte{[]byte("DUMP"), []byte(key)}, Now: h.now, Compress: compress}
				if aside {
					c.Pause = func() {}
					c.Out.Stream(func(parts [][]byte, _ bool) []byte {
						sent = append(sent, bytes.Join(parts, nil)...)
						return nil
					})
				}
				var v mvcc.View
				v.LiveView(h.space, 0, h.now)
				require.NoError(t, dump(&c, &v))
				return append(sent, bytes.Join(c.Out.Take(), nil)...)
			}
			require.Equal(t, answer(false), answer(true))
		}
	}
}

// Payloads of Redis' tests (integration/corrupt-dump.tcl) that its sanitizing
// refuses, and that crashed it, or harmless ones.
func TestCorruptPayloads(t *testing.T) {
	for _, p := range corruptPayloads {
		h := newHarness(1, 1)
		sealed := rdb.AppendFooter([]byte(p), p[0], rdb.CRC64(0, []byte(p)))
		require.Equal(t, "-ERR Bad data format\r\n", send(t, h, "RESTORE", "k", "0", string(sealed)), "%q", p)
		require.Equal(t, ":0\r\n", send(t, h, "EXISTS", "k"))
	}
}

// No cut, and no changed bit of a sound payload with its checksum set right,
// does more than to be refused or to make a sound value.
func TestChangedPayloads(t *testing.T) {
	h := newHarness(1, 1)
	h.replica = nil
	send(t, h, "RPUSH", "list", "a", "1", "-5000", strings.Repeat("ab", 40))
	send(t, h, "SADD", "set", "1", "500", "70000")
	send(t, h, "HSET", "hash", "f", "v", "g", "12")
	send(t, h, "ZADD", "zset", "1", "a", "2.5", "b")
	for _, key := range []string{"list", "set", "hash", "zset"} {
		p := []byte(payloadOf(t, h, key))
		body := p[:len(p)-10]
		for i := range body {
			for bit := range 8 {
				changed := bytes.Clone(body)
				changed[i] ^= 1 << bit
				changed = rdb.AppendFooter(changed, changed[0], rdb.CRC64(0, changed))
				send(t, h, "RESTORE", "k", "0", string(changed), "REPLACE")
				send(t, h, "DUMP", "k")
			}
			require.Equal(t, "-ERR Bad data format\r\n", send(t, h, "RESTORE", "cut", "0", string(rdb.AppendFooter(bytes.Clone(body[:i]), 0, rdb.CRC64(0, body[:i])))))
		}
	}
	require.NoError(t, h.space.Check())
}

// corruptPayloads are the short ones among those, without their footers, of which
// most were made for a server that doesn't check them.
var corruptPayloads = []string{
	"\x0d\x1b\x1b\x00\x00\x00\x16\x00\x00\x00\x04\x00\x00\x02a\x00\x04\x02b\x00\x04\x14c\x00\x04\x02d\x00\xff",
	"\x0d\x1b\x25\x00\x00\x00\x16\x00\x00\x00\x04\x00\x00\x02a\x00\x04\x02b\x00\x04\x02c\x00\x04\x02d\x00\xff",
	"\x0d\x1b\x1b\x00\x00\x00\x16\x00\x00\x00\x04\x00\x00\x02a\x00\x04\x02b\x00\x04\x02a\x00\x04\x02d\x00\xff",
	"\x0e\x01\x13\x13\x00\x00\x00\x0e\x00\x00\x00\x02\x00\x00\x02a\x00\x0e\x02b\x00\xff",
	"\x0e\x01\x13\x13\x00\x00\x00\x0e\x00\x00\x00\x02\x00\x00\x02a\x00\x02\x02b\x00\xff",
	"\x0e\x01\x13\x13\x00\x00\x00\x0e\x00\x00\x00\x03\x00\x00\x02a\x00\x04\x02b\x00\xff",
	"\x0e\x01\x0b\x0b\x00\x00\x00\x0a\x00\x00\x00\x00\x00\xff",
	"\x12\x01\x01\x00",
	"\x12\x01\x02\x0b\x0b\x00\x00\x00\x01\x00\x81a\x02\xff\xff",
	"\x0e\x01\x11\x11\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\xf6\xff\xb0l\x9c\xff",
	"\x02\x81\xc0\x00\x02\x5f1\xc0\x02",
	"\x00\x81\x01",
	"\x0e\xc0\x2b\x15\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\xe0b\x58\xea\xdf\x22\x00\x00\x00\xff",
	"\x05\xc0\x01",
	"\x04\xc0\x21",
	"\x10\x15\x15\x00\x00\x00\x06\x00\xf0\x01\x00\x01\x01\x01\x82\x5f1\x03\x02\x01\x02\x01\xff",
	"\x12\x01\x02\x13\x13\x00\x00\x00\x10\x00\x00\x00\x03\x00\x00\xf3\xfe\x02\x5f1\x04\xf1\xff",
}

// A stream whose count of entries ever added has overflown passes as it is.
func TestDumpOfOverflownCount(t *testing.T) {
	h := newHarness(1, 1)
	send(t, h, "XADD", "k", "1-1", "f", "v")
	send(t, h, "XSETID", "k", "5-5", "ENTRIESADDED", "9223372036854775807")
	send(t, h, "XADD", "k", "6-6", "f", "v")
	require.Equal(t, "+OK\r\n", send(t, h, "RESTORE", "copy", "0", payloadOf(t, h, "k")))
	require.Equal(t, send(t, h, "XINFO", "STREAM", "k"), send(t, h, "XINFO", "STREAM", "copy"))
}
