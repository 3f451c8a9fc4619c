package resp

import (
	"bytes"
	"strconv"
)

// A Reader turns received bytes into commands. The zero value is ready. It is owned by one goroutine.
type Reader struct {
	buf   []byte // buf[:end] has been received, the rest is free
	start int    // first byte of the command being received; what stands before it has been handed out
	pos   int    // first byte not parsed yet
	end   int

	left    int    // arguments of the command still to come; 0 between commands
	inBulk  bool   // the header of the next argument has been parsed, and says
	bulk    int    // how long it is
	scanned int    // bytes from pos on that don't hold the end of the line
	nul     bool   // there is a NUL among them
	args    []span // the arguments so far

	handed  [][]byte // what Next returned last
	ceiling int      // as much as one command may have buffered, plus one; 0 if not known
	filled  bool     // the last read left no free byte: more was waiting
	err     error    // once failed, failed for good
}

// span is an argument's place, counted from start, so that it stays right when the buffer moves.
type span struct{ off, len int }

// Next is the next complete command, its name first, or nil if more bytes are needed. Empty commands (`*0`, `*-1`, blank
// lines) are skipped. The error is a ProtocolError or ErrBufferLimit, and stays.
//
// The arguments are the caller's until the next Space, Write or Release: those may move the bytes, Next never does. An
// argument's capacity ends with it. The outer slice is only good until the next call of Next, which reuses it; a caller
// that gathers a pipeline copies the outer slices, not the bytes.
func (r *Reader) Next(lim *Limits) (args [][]byte, err error) {
	if lim == nil {
		lim = &Limits{}
	}
	for r.err == nil {
		var ok bool
		switch {
		case r.left > 0:
			if ok = r.bulks(lim); ok {
				return r.finish(lim)
			}
		case r.pos == r.end:
			return nil, nil
		case r.buf[r.pos] == '*':
			ok = r.count(lim)
		default:
			if args, ok = r.inline(lim); len(args) > 0 {
				return args, nil
			}
		}
		if !ok {
			return nil, r.wait(lim)
		}
	}
	return nil, r.err
}

// count parses the header of a command. False: failed, or not there yet.
func (r *Reader) count(lim *Limits) bool {
	n, size := shortLength(r.buf[r.pos:r.end], '*')
	if size == 0 {
		var ok bool
		if n, size, ok = r.length(lim, errCountLineTooBig, errCount); !ok {
			return false
		}
	}
	switch {
	case n > lim.maxArgs():
		return r.fail(errCount, r.pos+size, lim)
	case n > unauthMaxArgs && lim.Unauthenticated:
		return r.fail(errCountUnauth, r.pos+size, lim)
	}
	r.take(size)
	if n <= 0 {
		r.start = r.pos
		return true
	}
	r.left = int(n)
	return true
}

// bulks parses as many arguments as there are. True: the command is complete.
func (r *Reader) bulks(lim *Limits) bool {
	for r.left > 0 {
		if !r.inBulk && !r.bulkHeader(lim) {
			return false
		}
		if r.end-r.pos-2 < r.bulk {
			return false
		}
		r.args = append(r.args, span{r.pos - r.start, r.bulk})
		r.pos += r.bulk + 2
		r.inBulk = false
		r.left--
	}
	return true
}

func (r *Reader) bulkHeader(lim *Limits) bool {
	n, size := shortLength(r.buf[r.pos:r.end], '$')
	if size == 0 {
		var ok bool
		if n, size, ok = r.length(lim, errBulkLineTooBig, errBulkLength); !ok {
			return false
		}
	}
	switch {
	case n < 0 || n > lim.maxBulk():
		return r.fail(errBulkLength, r.pos+size, lim)
	case n > unauthMaxBulk && lim.Unauthenticated:
		return r.fail(errBulkLengthUnauth, r.pos+size, lim)
	}
	r.take(size)
	r.inBulk, r.bulk = true, int(n)
	return true
}

// finish hands out a complete command.
func (r *Reader) finish(lim *Limits) ([][]byte, error) {
	if r.pos-r.start > lim.maxBuffer() {
		r.err = ErrBufferLimit
		return nil, r.err
	}
	n := len(r.args)
	if cap(r.handed) < n {
		r.handed = make([][]byte, max(n, 8))
	}
	out := r.handed[:n]
	command := r.buf[r.start:r.pos]
	for i, a := range r.args {
		out[i] = command[a.off : a.off+a.len : a.off+a.len]
	}
	r.args = r.args[:0]
	r.start = r.pos
	return out, nil
}

// inline parses a line in words. They are copies. A blank line gives none.
func (r *Reader) inline(lim *Limits) (args [][]byte, ok bool) {
	n, ok := r.lineEnd('\n', lim, errInlineTooBig)
	if !ok {
		return nil, false
	}
	args, err := SplitArgs(bytes.TrimSuffix(r.buf[r.pos:r.pos+n], []byte{'\r'}))
	if err != nil {
		return nil, r.fail(err, r.pos+n+1, lim)
	}
	r.take(n + 1)
	r.start = r.pos
	return args, true
}

// take moves on to the next line or argument.
func (r *Reader) take(n int) {
	r.pos += n
	r.scanned, r.nul = 0, false
}

// fail ends the connection, because of what was found up to the byte before at. A larger command would have ended it
// there already, had it come byte by byte.
func (r *Reader) fail(err error, at int, lim *Limits) bool {
	if at-r.start > lim.maxBuffer()+1 {
		err = ErrBufferLimit
	}
	r.err = err
	return false
}

// wait is called when a command is incomplete: is there room for the rest?
func (r *Reader) wait(lim *Limits) error {
	if r.err != nil {
		return r.err
	}
	most := lim.maxBuffer()
	r.ceiling = most + 1
	if r.Buffered() > most {
		r.err = ErrBufferLimit
	}
	return r.err
}

// shortLength parses the usual header: kind, a number of at most nine digits that starts with 1 to 9, CR and one byte
// more. If it is anything else, or not complete, size is 0.
func shortLength(b []byte, kind byte) (n int64, size int) {
	if len(b) < 4 || b[0] != kind || b[1] < '1' || b[1] > '9' {
		return 0, 0
	}
	n = int64(b[1] - '0')
	for i := 2; i < len(b)-1 && i < 11; i++ {
		d := b[i] - '0'
		if d > 9 {
			if b[i] != '\r' {
				break
			}
			return n, i + 2
		}
		n = n*10 + int64(d)
	}
	return 0, 0
}

// length parses any header at pos. False: failed, or not there yet.
func (r *Reader) length(lim *Limits, tooBig, invalid ProtocolError) (n int64, size int, ok bool) {
	cr, ok := r.lineEnd('\r', lim, tooBig)
	if !ok || r.pos+cr+1 >= r.end {
		return 0, 0, false
	}
	line := r.buf[r.pos : r.pos+cr]
	size = cr + 2
	if r.left > 0 && (cr == 0 || line[0] != '$') {
		return 0, 0, r.fail(errNotBulk(r.buf[r.pos]), r.pos+size, lim)
	}
	if n, ok = parseLength(line[1:]); !ok {
		return 0, 0, r.fail(invalid, r.pos+size, lim)
	}
	return n, size, true
}

// parseLength is as strict as Redis' string2ll: no sign but a minus, no leading zero, no space.
func parseLength(b []byte) (int64, bool) {
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	digits := bytes.TrimPrefix(b, []byte{'-'})
	if len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(b), 10, 64)
	return n, err == nil
}

// lineEnd is where the line at pos ends, counted from pos. False: failed, or not there yet. Bytes that were searched once
// aren't searched again.
func (r *Reader) lineEnd(terminator byte, lim *Limits, tooBig ProtocolError) (n int, ok bool) {
	longest := lim.maxLine()
	window := r.buf[r.pos:r.end]
	if len(window) > longest {
		window = window[:longest+1]
	}
	fresh := window[r.scanned:]
	found := bytes.IndexByte(fresh, terminator)
	if found >= 0 {
		fresh = fresh[:found]
	}
	r.nul = r.nul || bytes.IndexByte(fresh, 0) >= 0
	if found >= 0 && !r.nul {
		return r.scanned + found, true
	}
	r.scanned = len(window)
	if len(window) > longest {
		return 0, r.fail(tooBig, r.pos+len(window), lim)
	}
	return 0, false
}
