package resp

const (
	firstBuffer = 16 << 10 // as Redis': a pipeline comes in one read
	keepBuffer  = 16 << 10 // kept when nothing is buffered
	mostLeast   = 4 << 10  // so that a little rest does not push a kept buffer over its size
	keepArgs    = 128      // tables for this many arguments are kept too
	argGuess    = 32       // what another argument is taken to need when the buffer grows for the one before it
)

// Space is the free end of the buffer, to read a socket into; then call Advance. It has at least least bytes, of which
// more than 4 KiB are not promised, nor more than one where a command comes close to its limit. All arguments handed out
// before are lost.
//
// This is where the buffer grows and shrinks: with nothing buffered it has at most 16 KiB.
func (r *Reader) Space(least int) []byte {
	least = min(max(least, 1), mostLeast)
	r.trimTables(keepArgs)
	size := r.capacity(least)
	if size != len(r.buf) {
		r.move(make([]byte, size))
	} else if r.start > 0 && (r.Buffered() <= r.start || len(r.buf)-r.end < least) {
		r.move(r.buf)
	}
	return r.buf[r.end:]
}

// Growth is what the next Space of so many bytes would copy to a larger buffer, and how large that one would be; nil if it
// would not. Where that is much the caller has it done by somebody else: until Grown only Next and the methods that tell
// something may be called.
func (r *Reader) Growth(least int) (live []byte, size int) {
	size = r.capacity(min(max(least, 1), mostLeast))
	if size <= len(r.buf) {
		return nil, 0
	}
	return r.buf[r.start:r.end], size
}

// Grown takes over the larger buffer that Growth asked for, which begins with what it returned. All arguments handed out
// before are lost.
func (r *Reader) Grown(to []byte) { r.adopt(to) }

// Advance says that n bytes have been read into Space.
func (r *Reader) Advance(n int) {
	if n < 0 || n > len(r.buf)-r.end {
		panic("resp: advance beyond the space that was given")
	}
	r.end += n
	r.filled = r.end == len(r.buf)
}

// Write feeds p, whatever its length; limits are for Next to notice. It never fails.
func (r *Reader) Write(p []byte) (n int, err error) {
	for n < len(p) {
		m := copy(r.Space(len(p)-n), p[n:])
		r.Advance(m)
		n += m
	}
	return n, nil
}

// Release gives back all memory but what is buffered, for a client that is idle. All arguments handed out before are
// lost. The Reader can be used on.
func (r *Reader) Release() {
	r.trimTables(0)
	if r.Buffered() == 0 {
		r.move(nil)
		return
	}
	r.move(make([]byte, r.Buffered()))
}

// Buffered is the number of bytes received and not yet handed out as commands (qbuf of CLIENT LIST).
func (r *Reader) Buffered() int { return r.end - r.start }

// Cap is the size of the buffer in bytes (Cap - Buffered is qbuf-free of CLIENT LIST).
func (r *Reader) Cap() int { return len(r.buf) }

// move brings what is buffered to the front of to, which may be the buffer itself.
func (r *Reader) move(to []byte) {
	Copy(to, r.buf[r.start:r.end])
	r.adopt(to)
}

// copyStep is how many bytes are copied at a time. The runtime can't interrupt a copy: the collector, and with it everybody,
// waited 0.3 s for one of 256 MB into fresh memory.
const copyStep = 64 << 10

// Copy copies from to to, which is as long at least, in steps between which the runtime may stop the goroutine. If they
// overlap to begins first.
func Copy(to, from []byte) {
	for len(from) > copyStep {
		copy(to, from[:copyStep])
		to, from = to[copyStep:], from[copyStep:]
	}
	copy(to, from)
}

func (r *Reader) adopt(to []byte) {
	if len(to) != len(r.buf) {
		clear(r.handed) // or they would keep the old buffer alive
	}
	r.buf = to
	r.pos -= r.start
	r.end -= r.start
	r.start = 0
	r.filled = false
}

func (r *Reader) trimTables(most int) {
	if cap(r.handed) > most {
		r.handed = nil
	}
	if r.left == 0 && cap(r.args) > most {
		r.args = nil
	}
}

// capacity decides the size of the buffer, so that each byte is copied O(1) times: a command is moved to the front once,
// and after that only into a buffer larger by a fraction of what it holds.
func (r *Reader) capacity(least int) int {
	have, live, missing := len(r.buf), r.Buffered(), r.missing()
	if have == 0 {
		return max(firstBuffer, least)
	}
	if have > keepBuffer && missing < have/4 && live < have/4-missing {
		return max(keepBuffer, live+least)
	}
	if r.filled && have < keepBuffer {
		return max(min(2*have, keepBuffer), live+least)
	}
	free := have - r.end
	if r.start >= live {
		free = have - live
	}
	if free >= least {
		return have
	}
	size := live + r.growth(live, missing, least)
	if r.ceiling > live {
		size = min(size, r.ceiling)
	}
	return max(size, have)
}

// growth is how much room to make beside live bytes: as much again, but not more than an argument that is being received
// needs. Only the last one may get less than a quarter, since nothing has to be moved after it.
func (r *Reader) growth(live, missing, least int) int {
	grow := max(live, least)
	if missing == 0 {
		return grow
	}
	if missing < grow {
		grow = min(grow, missing+(r.left-1)*argGuess)
	}
	if r.left > 1 {
		grow = max(grow, live/4)
	}
	return max(grow, least)
}

// missing is how many bytes of the argument being received haven't come; 0 if its length isn't known.
func (r *Reader) missing() int {
	if !r.inBulk {
		return 0
	}
	return max(r.bulk-(r.end-r.pos), 0) + 2
}
