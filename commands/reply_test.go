package commands

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestReplyEncodings(t *testing.T) {
	want := func(append func(*Reply), resp2, resp3 string) {
		t.Helper()
		var r Reply
		append(&r)
		require.Equal(t, resp2, string(r.Bytes()), "RESP2")
		r.Reset()
		r.SetProto(RESP3)
		append(&r)
		require.Equal(t, resp3, string(r.Bytes()), "RESP3")
	}
	both := func(append func(*Reply), encoded string) {
		t.Helper()
		want(append, encoded, encoded)
	}
	both(func(r *Reply) { r.OK() }, "+OK\r\n")
	both(func(r *Reply) { r.Simple("PONG") }, "+PONG\r\n")
	both(func(r *Reply) { r.Simple("a\r\nb") }, "+a  b\r\n")
	both(func(r *Reply) { r.Error(ErrSyntax) }, "-ERR syntax error\r\n")
	both(func(r *Reply) { r.Error(fmt.Errorf("get: %w", ErrWrongType)) }, "-"+string(ErrWrongType)+"\r\n")
	both(func(r *Reply) { r.Error(errors.New("disk on fire")) }, "-ERR disk on fire\r\n")
	both(func(r *Reply) { r.Error(errors.New("x\r\n+OK")) }, "-ERR x  +OK\r\n")
	both(func(r *Reply) { r.Int(0) }, ":0\r\n")
	both(func(r *Reply) { r.Int(math.MinInt64) }, ":-9223372036854775808\r\n")
	both(func(r *Reply) { r.Bulk(nil) }, "$0\r\n\r\n")
	both(func(r *Reply) { r.Bulk([]byte("a\r\nb")) }, "$4\r\na\r\nb\r\n")
	both(func(r *Reply) { r.BulkString("hello world") }, "$11\r\nhello world\r\n")
	both(func(r *Reply) { r.BulkInt(-12) }, "$3\r\n-12\r\n")
	both(func(r *Reply) { r.BulkInt(math.MinInt64) }, "$20\r\n-9223372036854775808\r\n")
	both(func(r *Reply) { r.BulkHeader(1 << 32); r.Raw([]byte("ab")) }, "$4294967296\r\nab")
	both(func(r *Reply) { r.Array(0) }, "*0\r\n")
	both(func(r *Reply) { r.Array(12) }, "*12\r\n")
	want(func(r *Reply) { r.Null() }, "$-1\r\n", "_\r\n")
	want(func(r *Reply) { r.NullArray() }, "*-1\r\n", "_\r\n")
	want(func(r *Reply) { r.Map(7) }, "*14\r\n", "%7\r\n")
	want(func(r *Reply) { r.Set(3) }, "*3\r\n", "~3\r\n")
	want(func(r *Reply) { r.Push(2) }, "*2\r\n", ">2\r\n")
	want(func(r *Reply) { r.Double(-2.5) }, "$4\r\n-2.5\r\n", ",-2.5\r\n")
	want(func(r *Reply) { r.Double(0.1) }, "$19\r\n0.10000000000000001\r\n", ",0.10000000000000001\r\n")
	want(func(r *Reply) { r.Double(math.Inf(1)) }, "$3\r\ninf\r\n", ",inf\r\n")
	want(func(r *Reply) { r.Double(math.Inf(-1)) }, "$4\r\n-inf\r\n", ",-inf\r\n")
	want(func(r *Reply) { r.Bool(true) }, ":1\r\n", "#t\r\n")
	want(func(r *Reply) { r.Bool(false) }, ":0\r\n", "#f\r\n")
	want(func(r *Reply) { r.BigNumber("-123456789012345678901") }, "$22\r\n-123456789012345678901\r\n", "(-123456789012345678901\r\n")
	want(func(r *Reply) { r.Verbatim("txt", "a\nb") }, "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n")
	want(func(r *Reply) { r.Verbatim("md", "") }, "$0\r\n\r\n", "=4\r\nmd :\r\n")
	both(func(r *Reply) { r.Help("X", "A", "    b") },
		"*5\r\n+X <subcommand> [<arg> [value] [opt] ...]. Subcommands are:\r\n+A\r\n+    b\r\n+HELP\r\n+    Prints this help.\r\n")
}

func TestReplyAttributeIsRESP3Only(t *testing.T) {
	var r Reply
	require.Panics(t, func() { r.Attribute(1) })
	r.SetProto(RESP3)
	r.Attribute(1)
	require.Equal(t, "|1\r\n", string(r.Bytes()))
}

func TestReplyTruncatesToMark(t *testing.T) {
	var r Reply
	r.OK()
	mark := r.Mark()
	r.Array(3)
	r.BulkString("one of three")
	r.Truncate(mark)
	r.Error(ErrNoKey)
	require.Equal(t, "+OK\r\n-ERR no such key\r\n", string(r.Bytes()))
	require.Equal(t, 23, r.Len())
}

func TestReplyProtocolVersions(t *testing.T) {
	var r Reply
	require.Equal(t, RESP2, r.Proto())
	r.SetProto(RESP3)
	r.Reset()
	require.Equal(t, RESP3, r.Proto(), "survives Reset")
	r.SetProto(RESP2)
	require.Equal(t, RESP2, r.Proto())
	require.Panics(t, func() { r.SetProto(4) })
}

// TestReplyTruncateAfterKept: what was kept before a mark stays, also when
// nothing was appended between, and what was kept after it goes.
func TestReplyTruncateAfterKept(t *testing.T) {
	big := func(c byte) []byte { return bytes.Repeat([]byte{c}, keepFrom) }
	var r Reply
	r.Keep(big('a'))
	mark := r.Mark()
	r.Truncate(mark)
	require.Equal(t, keepFrom, r.Len())
	r.Simple("x")
	r.Keep(big('b'))
	r.Truncate(mark)
	require.Equal(t, string(big('a')), string(bytes.Join(r.Take(), nil)))

	r.Simple("x")
	r.Keep(big('a'))
	r.Simple("y")
	mark = r.Mark()
	r.Keep(big('b'))
	r.Simple("z")
	r.Truncate(mark)
	require.Equal(t, "+x\r\n"+string(big('a'))+"+y\r\n", string(bytes.Join(r.Take(), nil)))
}
