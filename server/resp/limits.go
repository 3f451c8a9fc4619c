package resp

import (
	"errors"
	"math"
)

// Limits bounds what a request may ask for. A zero field, and a nil *Limits, mean Redis' default. It is handed to every
// Next, so a change holds from the next argument on.
type Limits struct {
	MaxBulk         int64 // longest argument in bytes (proto-max-bulk-len); 512 MiB
	MaxArgs         int   // most arguments of a command, its name included; 1 Mi
	MaxInline       int   // longest line in bytes, of inline requests and of headers; 64 KiB
	MaxBuffer       int64 // most bytes of one command, headers included (client-query-buffer-limit); 1 GiB
	Unauthenticated bool  // at most 10 arguments, 16 KiB each, and 64 KiB in all
}

const (
	defaultMaxBulk   = 512 << 20
	defaultMaxArgs   = 1 << 20
	defaultMaxInline = 64 << 10
	defaultMaxBuffer = 1 << 30

	unauthMaxArgs   = 10
	unauthMaxBulk   = 16 << 10
	unauthMaxBuffer = 64 << 10
)

// A ProtocolError ends a connection: the server replies "-ERR " and Error(), then closes. The text is Redis' own.
type ProtocolError string

// Error is the text for the client, without the leading "ERR ".
func (e ProtocolError) Error() string { return "Protocol error: " + string(e) }

const (
	errInlineTooBig      ProtocolError = "too big inline request"
	errUnbalancedQuotes  ProtocolError = "unbalanced quotes in request"
	errCountLineTooBig   ProtocolError = "too big mbulk count string"
	errBulkLineTooBig    ProtocolError = "too big bulk count string"
	errCount             ProtocolError = "invalid multibulk length"
	errCountUnauth       ProtocolError = "unauthenticated multibulk length"
	errBulkLength        ProtocolError = "invalid bulk length"
	errBulkLengthUnauth  ProtocolError = "unauthenticated bulk length"
	errExpectedBulkStart               = "expected '$', got '"
)

// ErrBufferLimit says that one command is larger than MaxBuffer, or than a client may send before it has authenticated.
// The server closes the connection without a reply, as Redis does.
var ErrBufferLimit = errors.New("request exceeds the query buffer limit")

// errNotBulk names the byte that stands where a bulk should start. A line break would end the reply early, so it becomes
// a space, as in Redis.
func errNotBulk(got byte) ProtocolError {
	if got == '\r' || got == '\n' {
		got = ' '
	}
	return ProtocolError(errExpectedBulkStart + string([]byte{got}) + "'")
}

func (l *Limits) maxBulk() int64 {
	if l.MaxBulk > 0 {
		return min(l.MaxBulk, math.MaxInt/4) // room to add without overflow
	}
	return defaultMaxBulk
}

func (l *Limits) maxArgs() int64 {
	if l.MaxArgs > 0 {
		return int64(l.MaxArgs)
	}
	return defaultMaxArgs
}

// maxLine is the highest index that a line's end may have.
func (l *Limits) maxLine() int {
	n := defaultMaxInline
	if l.MaxInline > 0 {
		n = l.MaxInline
	}
	return min(n, l.maxBuffer())
}

// maxBuffer is the most bytes that a command may have. Before authentication it is one less than the limit: the byte too
// many has to be received to be noticed.
func (l *Limits) maxBuffer() int {
	n := int64(defaultMaxBuffer)
	if l.MaxBuffer > 0 {
		n = min(l.MaxBuffer, math.MaxInt-1)
	}
	if l.Unauthenticated {
		n = min(n, unauthMaxBuffer-1)
	}
	return int(n)
}
