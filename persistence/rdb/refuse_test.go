package rdb

import (
	"math"
	"strconv"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// Values that Redis refuses when it sanitizes, each broken in its own way.
func TestRefused(t *testing.T) {
	f := func(typ byte, p, what string) {
		t.Helper()
		k := newKeyspace(t)
		err := k.decode("k", typ, []byte(p))
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.What, what)
	}
	f(typeList, "\x00", "an empty value")
	f(typeSet, "\x00", "an empty value")
	f(typeZSet2, "\x00", "an empty value")
	f(typeHash, "\x00", "an empty value")
	f(typeHashTTL, "\x00\x00\x00\x00\x00\x00\x00\x00\x00", "an empty value")
	f(typeHashListpack, "\x07\x07\x00\x00\x00\x00\x00\xff", "an empty value")
	f(typeListQuicklist2, "\x01\x02\x07\x07\x00\x00\x00\x00\x00\xff", "an empty value")
	f(typeListQuicklist2, "\x01\x03\x01a", "an unknown kind")
	f(typeListQuicklist2, "\x01\x01\x00", "an empty node")
	f(typeListQuicklist, "\x01\x0b\x0b\x00\x00\x00\x0a\x00\x00\x00\x00\x00\xff", "an empty value")
	f(typeSet, "\x02\x01a\x01a", "twice")
	f(typeHash, "\x02\x01a\x01b\x01a\x01c", "twice")
	f(typeZSet2, "\x02\x01a"+zero+"\x01a"+zero, "twice")
	f(typeZSet2, "\x01\x01a\x00\x00\x00\x00\x00\x00\xf8\x7f", "no number")
	f(typeZSet, "\x01\x01a\xfd", "no number")
	f(typeZSetListpack, "\x0d\x0d\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xff", "no number")
	f(typeZSetListpack, "\x0a\x0a\x00\x00\x00\x01\x00\x81a\x02\xff", "too early")
	f(typeHashListpack, "\x13\x13\x00\x00\x00\x04\x00\x81a\x02\x81b\x02\x81a\x02\x81b\x02\xff", "twice")
	f(typeHashListpack, "\x0d\x0d\x00\x00\x00\x03\x00\x81a\x02\x81b\x02\xff", "a broken pack")
	f(typeHashListpack, "\x0d\x0e\x00\x00\x00\x02\x00\x81a\x02\x81b\x02\xff", "a broken header")
	f(typeSetIntset, "\x0c\x02\x00\x00\x00\x02\x00\x00\x00\x01\x00\x01\x00", "a broken set")
	f(typeHashZipmap, "\x0b\x02\x03foo\x03\x00bar\xff", "a broken zipmap")
	f(typeString, "\x05ab", "unexpected end")
	f(typeString, "\xc4", "an unknown encoding")
	f(typeSet, "\x81\xff\xff\xff\xff\xff\xff\xff\xff\x01a", "unexpected end")
	f(typeHashTTL, "\xff\xff\xff\xff\xff\xff\xff\xff\x01\x02\x01a\x01b", "an expiry")
	f(6, "", "unknown type")
	f(7, "", "unknown type")
	f(8, "", "unknown type")
	f(22, "", "unknown type")
}

const zero = "\x00\x00\x00\x00\x00\x00\x00\x00"

// node is a stream's node, 1-1, of a listpack of these elements.
func node(elements ...string) string {
	var w Encoder
	w.Len(16)
	w.rawID(mvcc.StreamID{Ms: 1, Seq: 1})
	w.String(packed(elements))
	return string(w.Take())
}

// Streams that contradict themselves, made from one that doesn't.
func TestRefusedStreams(t *testing.T) {
	const (
		id   = "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01"
		tail = "\x01\x01\x01\x01\x01\x00\x00\x01"
		nack = id + zero + "\x01"
	)
	f := func(p, what string) {
		t.Helper()
		k := newKeyspace(t)
		err := k.decode("k", typeStream2, []byte(p))
		if what == "" {
			require.NoError(t, err)
			return
		}
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.What, what)
	}
	sound := "\x01" + node("1", "0", "1", "f", "0", "2", "0", "0", "v", "4") + tail
	f(sound+"\x00", "")
	f("\x01"+node("1", "1", "1", "f", "0", "3", "0", "0", "v", "4", "0", "0", "5", "1", "g", "x", "6")+"\x01\x01\x06\x01\x06\x00\x00\x02\x00", "")
	f("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "")
	f("\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00", "not as its entries say")
	f("\x01"+node("1", "0", "1", "f", "0", "2", "0", "0", "v", "4")+"\x01\x00\x05"+tail[3:]+"\x00", "not as its entries say")

	group := "\x01g\x01\x01\x01"
	f(sound+"\x01"+group+"\x01"+nack+"\x01\x01c"+zero+"\x01"+id, "")
	f(sound+"\x02"+group+"\x00\x00"+group+"\x00\x00", "a group that comes twice")
	f(sound+"\x01"+group+"\x00\x02\x01c"+zero+"\x00\x01c"+zero+"\x00", "a consumer that comes twice")
	f(sound+"\x01"+group+"\x01"+nack+"\x00", "nobody has")
	f(sound+"\x01"+group+"\x02"+nack+nack+"\x00", "out of order")
	f(sound+"\x01"+group+"\x00\x01\x01c"+zero+"\x01"+id, "doesn't know")
	f(sound+"\x01"+group+"\x01"+nack+"\x02\x01c"+zero+"\x01"+id+"\x01d"+zero+"\x01"+id, "two consumers")

	bad := func(what string, elements ...string) {
		t.Helper()
		f("\x01"+node(elements...)+tail+"\x00", what)
	}
	bad("as its entries say", "0", "0", "1", "f", "0")
	bad("its head", "0", "1", "1", "f", "0", "2", "0", "0", "v", "4") // the entry isn't flagged
	bad("its head", "1", "0", "1", "f", "0", "3", "0", "0", "v", "4") // it is flagged
	bad("its head", "1", "0", "1", "f", "0", "2", "0", "0", "v", "4", "7")
	bad("a count that can't be", "1", "0", "1000", "f", "0", "2", "0", "0", "v", "4")
	bad("a count that can't be", "-1", "0", "1", "f", "0", "2", "0", "0", "v", "4")
	bad("without a number", "2", "0", "1", "f", "0", "2", "0", "0", "v", "4")
	bad("a broken head", "1", "0", "1", "f", "1", "2", "0", "0", "v", "4")
	bad("a wrong length", "1", "0", "1", "f", "0", "2", "0", "0", "v", "5")
	bad("without a number", "1", "0", "1", "f", "0", "2", "x", "0", "v", "4")
	bad("out of order", "2", "0", "1", "f", "0", "2", "0", "0", "v", "4", "2", "0", "0", "v", "4")
	bad("out of order", "1", "0", "1", "f", "0", "2", "-1", "0", "v", "4")
	f("\x01\x01x", "without an id")
}

// A member that comes twice is found also where members are sorted first, and
// so is a score that is no number.
func TestRefusedBigSortedSets(t *testing.T) {
	f := func(last string, score float64) error {
		var w Encoder
		w.Len(2 * sortFrom)
		for i := range 2*sortFrom - 1 {
			w.String(strconv.AppendInt(nil, int64(i), 10))
			w.Double(float64(-i))
		}
		w.String([]byte(last))
		w.Double(score)
		return newKeyspace(t).decode("k", typeZSet2, w.Take())
	}
	require.NoError(t, f("x", 5))
	require.ErrorContains(t, f("1500", 5), "twice")
	require.ErrorContains(t, f("x", math.NaN()), "no number")
}
