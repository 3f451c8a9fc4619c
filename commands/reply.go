package commands

import (
	"errors"
	"fmt"
	"strconv"

	"firn/mvcc"

	"github.com/tidwall/redcon"
)

// RESP versions.
const (
	RESP2 = 2
	RESP3 = 3
)

// Reply collects the encoded replies of a connection. The zero value is empty
// and speaks RESP2. It only grows by appending, and can be cut back to a mark,
// so that a command that fails half-way leaves nothing behind. It belongs to
// one goroutine at a time.
type Reply struct {
	buf     []byte
	proto   int // 0 means RESP2
	kept    []piece
	keptLen int
	sink    Sink
}

// A Sink takes over the parts of a streamed reply, and blocks until there is room
// for more. If own, the only part is the Reply's own block; when the sink has done
// with one it may return it (or nil) for what follows.
type Sink func(parts [][]byte, own bool) (done []byte)

// Proto returns RESP2 or RESP3.
func (r *Reply) Proto() int {
	if r.proto == RESP3 {
		return RESP3
	}
	return RESP2
}

// SetProto switches what is appended from now on. It panics if v is neither
// RESP2 nor RESP3.
func (r *Reply) SetProto(v int) {
	if v != RESP2 && v != RESP3 {
		panic(fmt.Sprintf("commands: no RESP version %d", v))
	}
	r.proto = v
}

// Bytes returns all that was appended, but for what Keep kept apart. It stays the Reply's: the next call may
// change it.
func (r *Reply) Bytes() []byte { return r.buf }

// Len returns the number of bytes appended.
func (r *Reply) Len() int { return len(r.buf) + r.keptLen }

// Mark returns the present end, for Truncate.
func (r *Reply) Mark() int { return r.Len() }

// Truncate takes back all that was appended since the mark. (What was kept right
// before it is at the same place of buf as what was kept right after it, so that
// only the length of all tells them apart.)
func (r *Reply) Truncate(mark int) {
	for n := len(r.kept); n > 0 && r.kept[n-1].at+r.keptLen > mark; n-- {
		r.keptLen -= len(r.kept[n-1].b)
		r.kept = r.kept[:n-1]
	}
	r.buf = r.buf[:min(mark-r.keptLen, len(r.buf))]
}

// Reset takes back everything. Protocol and memory are kept.
func (r *Reply) Reset() { r.buf, r.kept, r.keptLen = r.buf[:0], nil, 0 }

// OK appends the usual answer of a command that has nothing to say.
func (r *Reply) OK() { r.buf = redcon.AppendOK(r.buf) }

// Simple appends a status. Line ends in it become spaces.
func (r *Reply) Simple(s string) { r.buf = redcon.AppendString(r.buf, s) }

// Error appends an error. An Error, also a wrapped one, is sent as it is; any
// other error gets the general code ERR. Line ends become spaces.
func (r *Reply) Error(err error) {
	var e Error
	if !errors.As(err, &e) {
		e = Error("ERR " + err.Error())
	}
	r.buf = redcon.AppendError(r.buf, string(e))
}

// Int appends an integer.
func (r *Reply) Int(v int64) { r.buf = redcon.AppendInt(r.buf, v) }

// Bulk appends a string of bytes.
func (r *Reply) Bulk(b []byte) { r.buf = redcon.AppendBulk(r.buf, b) }

// BulkString appends a string.
func (r *Reply) BulkString(s string) { r.buf = redcon.AppendBulkString(r.buf, s) }

// BulkInt appends the decimal of v as a string.
func (r *Reply) BulkInt(v int64) {
	var scratch [maxIntLen]byte
	r.Bulk(AppendInt(scratch[:0], v))
}

// BulkHeader begins a string of n bytes that follows in pieces by Raw, and
// whose end the caller writes: a CR and a LF.
func (r *Reply) BulkHeader(n int64) { r.header('$', n) }

// Raw appends encoded bytes as they are.
func (r *Reply) Raw(b []byte) { r.buf = append(r.buf, b...) }

// Null appends what stands for a missing string.
func (r *Reply) Null() {
	if r.proto == RESP3 {
		r.null3()
		return
	}
	r.buf = redcon.AppendNull(r.buf)
}

// NullArray appends what stands for a missing array; RESP3 knows only one null.
func (r *Reply) NullArray() {
	if r.proto == RESP3 {
		r.null3()
		return
	}
	r.buf = append(r.buf, "*-1\r\n"...)
}

func (r *Reply) null3() { r.buf = append(r.buf, "_\r\n"...) }

// Array begins an array; n replies must follow.
func (r *Reply) Array(n int) { r.header('*', int64(n)) }

// Map begins a map; n pairs must follow. RESP2 gets an array of 2n.
func (r *Reply) Map(n int) {
	if r.proto == RESP3 {
		r.header('%', int64(n))
		return
	}
	r.Array(2 * n)
}

// Set begins a set; n replies must follow. RESP2 gets an array.
func (r *Reply) Set(n int) { r.headerOrArray('~', n) }

// Push begins a message that answers no command; n replies must follow. RESP2
// gets an array.
func (r *Reply) Push(n int) { r.headerOrArray('>', n) }

// Attribute begins n pairs that describe the reply after them. RESP2 has no
// such thing, so the caller asks Proto first; it panics otherwise.
func (r *Reply) Attribute(n int) {
	if r.proto != RESP3 {
		panic("commands: an attribute in RESP2")
	}
	r.header('|', int64(n))
}

// Double appends f. RESP2 gets a string.
func (r *Reply) Double(f float64) {
	if r.proto == RESP3 {
		r.buf = AppendDouble(append(r.buf, ','), f)
		r.crlf()
		return
	}
	var scratch [32]byte
	r.Bulk(AppendDouble(scratch[:0], f))
}

// Bool appends a truth value. RESP2 gets 1 or 0.
func (r *Reply) Bool(b bool) {
	switch {
	case r.proto == RESP3 && b:
		r.buf = append(r.buf, "#t\r\n"...)
	case r.proto == RESP3:
		r.buf = append(r.buf, "#f\r\n"...)
	case b:
		r.Int(1)
	default:
		r.Int(0)
	}
}

// BigNumber appends the decimal digits of a number of any size. RESP2 gets a
// string.
func (r *Reply) BigNumber(digits string) {
	if r.proto != RESP3 {
		r.BulkString(digits)
		return
	}
	r.buf = append(r.buf, '(')
	r.buf = append(r.buf, digits...)
	r.crlf()
}

// Verbatim appends a text for people, whose format ("txt", "mkd") is cut or
// filled up with spaces to three bytes. RESP2 gets a string without it.
func (r *Reply) Verbatim(format, text string) {
	if r.proto != RESP3 {
		r.BulkString(text)
		return
	}
	r.header('=', int64(len(text))+4)
	r.buf = append(r.buf, (format + "   ")[:3]...)
	r.buf = append(r.buf, ':')
	r.buf = append(r.buf, text...)
	r.crlf()
}

// Help appends what the HELP subcommand of a container command answers; name is
// the container's in upper case, and its lines leave out HELP itself.
func (r *Reply) Help(name string, lines ...string) {
	r.Array(len(lines) + 3)
	r.Simple(name + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")
	for _, line := range lines {
		r.Simple(line)
	}
	r.Simple("HELP")
	r.Simple("    Prints this help.")
}

// headerOrArray begins an aggregate that RESP2 sees as an array.
func (r *Reply) headerOrArray(kind byte, n int) {
	if r.proto != RESP3 {
		kind = '*'
	}
	r.header(kind, int64(n))
}

func (r *Reply) header(kind byte, n int64) {
	r.buf = strconv.AppendInt(append(r.buf, kind), n, 10)
	r.crlf()
}

func (r *Reply) crlf() { r.buf = append(r.buf, '\r', '\n') }

// A piece is bytes of somebody else's that belong into a reply at an offset of
// its own bytes.
type piece struct {
	at int
	b  []byte
}

// Keep appends bytes without copying them; they must never be written again (a
// big value's pieces after View.Share).
func (r *Reply) Keep(b []byte) { r.KeepFrom(keepFrom, b) }

// KeepFrom is Keep that copies bytes shorter than least only.
func (r *Reply) KeepFrom(least int, b []byte) {
	if len(b) < least {
		r.buf = append(r.buf, b...)
		return
	}
	r.kept = append(r.kept, piece{len(r.buf), b})
	r.keptLen += len(b)
}

const (
	keepFrom   = 16 << 10 // shorter pieces are cheaper copied
	spillFrom  = 64 << 10 // bytes that a streamed reply collects before it hands them on
	spillBlock = spillFrom + 4096
)

// Append appends all that from has collected and empties it. A short reply is
// copied, so that from keeps its memory.
func (r *Reply) Append(from *Reply) {
	if from.Plain() && len(from.buf) < RecycleMax {
		r.buf = append(r.buf, from.buf...)
		from.Reset()
		return
	}
	for _, p := range from.Take() {
		r.Keep(p)
	}
}

// Stream makes a long reply flow out through sink. Nil ends it.
func (r *Reply) Stream(sink Sink) { r.sink = sink }

// Spill hands on what has been collected, if it is much and somebody takes it.
// A handler whose reply may be long calls it between elements, once nothing can
// fail any more: what was handed on can't be taken back.
func (r *Reply) Spill() {
	if r.sink == nil || len(r.buf)+r.keptLen < spillFrom {
		return
	}
	own := r.Plain() && cap(r.buf) == spillBlock
	if r.buf = r.sink(r.Take(), own)[:0]; r.buf == nil {
		r.buf = make([]byte, 0, spillBlock)
	}
}

// Take returns all that was appended, in order, and leaves the Reply empty. The
// parts are the caller's.
func (r *Reply) Take() [][]byte {
	var parts [][]byte
	at := 0
	for _, k := range r.kept {
		if k.at > at {
			parts = append(parts, r.buf[at:k.at:k.at])
		}
		parts, at = append(parts, k.b), k.at
	}
	if len(r.buf) > at {
		parts = append(parts, r.buf[at:])
	}
	r.buf, r.kept, r.keptLen = nil, nil, 0
	return parts
}

// Plain says whether Bytes is the whole reply, nothing having been kept apart.
func (r *Reply) Plain() bool { return len(r.kept) == 0 }

// BulkEntry appends a string value; a big one without copying it.
func (r *Reply) BulkEntry(v *mvcc.View, e *mvcc.Entry) { r.BulkRange(v, e, 0, e.Len()) }

// BulkRange appends the bytes [from, to) of a string value.
func (r *Reply) BulkRange(v *mvcc.View, e *mvcc.Entry, from, to int64) {
	if !e.Big() || to-from < keepFrom {
		r.BulkHeader(to - from)
		r.buf = e.AppendRange(r.buf, from, to)
		r.crlf()
		return
	}
	v.Share(e.Key())
	r.BulkHeader(to - from)
	e.Pieces(from, to, func(p []byte) bool { r.Keep(p); return true })
	r.crlf()
}

// Recycle empties a Reply whose bytes have been sent; its memory is used again
// unless it has grown large.
func (r *Reply) Recycle() { r.RecycleUpTo(RecycleMax) }

// RecycleMax is how much memory Recycle keeps, in bytes.
const RecycleMax = spillFrom

// RecycleUpTo is Recycle that keeps up to most bytes of memory, and returns how
// many it kept.
func (r *Reply) RecycleUpTo(most int) (kept int) {
	r.Reset()
	if cap(r.buf) > most {
		r.buf = nil
	}
	return cap(r.buf)
}
