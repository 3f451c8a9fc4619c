package commands

import (
	"crypto/subtle"
	"encoding/binary"

	"firn/mvcc"
)

var bitopCommands = []Command{
	{Name: "BITOP", Arity: -4, Keys: Keys{First: 2, Last: -1, Step: 1}, Dest: Keys{First: 2, Last: 2, Step: 1}, Run: OnStore(bitop), Cost: bitopCost, Flags: DenyOOM,
		Summary: "Perform bitwise operations between strings"},
}

// A bitopJob computes one BITOP, chunk by chunk.
type bitopJob struct {
	sources []mvcc.Entry // of the keys that are there
	size    int64        // of the longest source, and so of the result
	not     bool
	fold    func(dst, src []byte) // dst op= src; both of the same length
	absorbs bool                  // where a source has ended, the result is 0
	zero    bool                  // all of the result is 0
}

func bitop(c *Call, v *mvcc.View) (commit func(*mvcc.Tx) error, err error) {
	var job bitopJob
	switch {
	case c.Is(1, "AND"):
		job.fold, job.absorbs = foldAnd, true
	case c.Is(1, "OR"):
		job.fold = foldOr
	case c.Is(1, "XOR"):
		job.fold = foldXor
	case c.Is(1, "NOT"):
		job.not = true
	case c.Is(1, "LSHIFT"):
		return shiftBits(c, v, false)
	case c.Is(1, "RSHIFT"):
		return shiftBits(c, v, true)
	default:
		return nil, ErrSyntax
	}
	if job.not && len(c.Args) != 4 {
		return nil, ErrBitopNot
	}
	if err := job.measure(v, c.Args[3:]); err != nil {
		return nil, err
	}
	if job.size == 0 {
		return deleteDest(c, c.Args[2]), nil
	}
	return storeString(c, c.Args[2], job.size, job.chunks(c)), nil
}

// bitopCost counts the bytes of all sources, and a unit for each of them.
func bitopCost(c *Call, v *mvcc.View) int {
	var bytes int64
	for _, key := range c.Args[3:] {
		if e, ok := v.Peek(key); ok && e.Type() == mvcc.String {
			bytes += e.Len()
		}
	}
	return len(c.Args) - 3 + int(bytes/bitBytesPerUnit)
}

// measure looks the keys up and finds the longest value. A key that is not
// there counts as zeros.
func (job *bitopJob) measure(v *mvcc.View, keys [][]byte) error {
	for _, key := range keys {
		e, ok := v.Get(key)
		if !ok {
			job.zero = job.zero || job.absorbs
			continue
		}
		if e.Type() != mvcc.String {
			return ErrWrongType
		}
		job.size = max(job.size, e.Len())
		job.sources = append(job.sources, e)
	}
	return nil
}

// chunks computes the result; a chunk of zeros is left nil.
func (job *bitopJob) chunks(c *Call) [][]byte {
	all := make([][]byte, (job.size+mvcc.ChunkSize-1)/mvcc.ChunkSize)
	var next []byte
	work := 0
	for i := range all {
		from := int64(i) * mvcc.ChunkSize
		n := min(job.size-from, mvcc.ChunkSize)
		if int64(len(next)) != n {
			next = make([]byte, n)
		}
		job.chunk(next, from)
		if firstOne(next, 0) >= 0 {
			all[i], next = next, nil
		}
		if work += len(job.sources) * mvcc.ChunkSize; work >= bitPauseEvery && c.Pause != nil {
			c.Pause()
			work = 0
		}
	}
	return all
}

// chunk fills dst with the bytes of the result from an offset on.
func (job *bitopJob) chunk(dst []byte, from int64) {
	if job.zero {
		clear(dst)
		return
	}
	for i := range job.sources {
		fold := job.fold
		if i == 0 {
			fold = foldCopy
		}
		e, rest := &job.sources[i], dst
		n := min(max(e.Len()-from, 0), int64(len(dst)))
		e.Pieces(from, from+n, func(p []byte) bool {
			fold(rest[:len(p)], p)
			rest = rest[len(p):]
			return true
		})
		if i == 0 || job.absorbs {
			clear(rest)
		}
	}
	if job.not {
		invertBytes(dst)
	}
}

func foldCopy(dst, src []byte) { copy(dst, src) }

func foldXor(dst, src []byte) { subtle.XORBytes(dst, dst, src) }

func foldAnd(dst, src []byte) {
	for ; len(dst) >= 32 && len(src) >= 32; dst, src = dst[32:], src[32:] {
		d, s := (*[32]byte)(dst), (*[32]byte)(src)
		a, b := wordAt(d, 0)&wordAt(s, 0), wordAt(d, 8)&wordAt(s, 8)
		x, y := wordAt(d, 16)&wordAt(s, 16), wordAt(d, 24)&wordAt(s, 24)
		setWords(d, a, b, x, y)
	}
	for i, b := range src {
		dst[i] &= b
	}
}

func foldOr(dst, src []byte) {
	for ; len(dst) >= 32 && len(src) >= 32; dst, src = dst[32:], src[32:] {
		d, s := (*[32]byte)(dst), (*[32]byte)(src)
		a, b := wordAt(d, 0)|wordAt(s, 0), wordAt(d, 8)|wordAt(s, 8)
		x, y := wordAt(d, 16)|wordAt(s, 16), wordAt(d, 24)|wordAt(s, 24)
		setWords(d, a, b, x, y)
	}
	for i, b := range src {
		dst[i] |= b
	}
}

func invertBytes(dst []byte) {
	for ; len(dst) >= 32; dst = dst[32:] {
		d := (*[32]byte)(dst)
		setWords(d, ^wordAt(d, 0), ^wordAt(d, 8), ^wordAt(d, 16), ^wordAt(d, 24))
	}
	for i := range dst {
		dst[i] = ^dst[i]
	}
}

func wordAt(p *[32]byte, i int) uint64 { return binary.LittleEndian.Uint64(p[i:]) }

func setWords(p *[32]byte, a, b, c, d uint64) {
	binary.LittleEndian.PutUint64(p[0:], a)
	binary.LittleEndian.PutUint64(p[8:], b)
	binary.LittleEndian.PutUint64(p[16:], c)
	binary.LittleEndian.PutUint64(p[24:], d)
}
