package rdb

import "math/bits"

// The format of LZF (Marc Lehmann's liblzf): a control byte c below 32 is
// followed by c+1 bytes as they are; any other has a length in its top three
// bits (7: one more byte is added to it) and, with the byte after, a distance
// back of 1 to 8192, from where length+2 bytes are repeated.
const (
	lzfLiterals = 32      // longest run of bytes as they are
	lzfDistance = 1 << 13 // farthest reference back
	lzfLongest  = 264     // longest repetition
	lzfLevels   = 16      // most bits of the table
)

// lzfExpansion bounds how many bytes one byte can stand for: three make 264.
const lzfExpansion = lzfLongest / 3

// An lzf compresses. The table remembers where three bytes were last seen, as
// positions that go on from one input to the next: what an earlier input left
// is below base, and the table is never cleared. The zero value is ready.
type lzf struct {
	table []uint32
	base  uint32
}

// slots returns room for the positions of n bytes of input: positions from base
// up are of this input.
func (z *lzf) slots(n int) (table []uint32, shift uint) {
	level := min(max(bits.Len(uint(n))+1, 8), lzfLevels)
	if len(z.table) < 1<<level || uint64(z.base)+uint64(n) >= 1<<32 {
		z.table, z.base = make([]uint32, 1<<level), 1
	}
	return z.table[:1<<level], uint(32 - level)
}

// compress appends the compressed bytes of in to dst, and says false if that
// takes more than limit bytes; dst is then of no use. The input is below 4 GiB.
func (z *lzf) compress(dst, in []byte, limit int) ([]byte, bool) {
	table, shift := z.slots(len(in))
	base := z.base
	z.base += uint32(len(in))
	start, lit, i := len(dst), 0, 0
	for i+4 <= len(in) {
		three := uint32(in[i]) | uint32(in[i+1])<<8 | uint32(in[i+2])<<16
		slot := &table[three*0x9E3779B1>>shift]
		ref := int(*slot) - int(base)
		*slot = base + uint32(i)
		if ref < 0 || i-ref > lzfDistance || in[ref] != in[i] || in[ref+1] != in[i+1] || in[ref+2] != in[i+2] {
			i++
			continue
		}
		n := matchLen(in, ref, i)
		dst = appendReference(appendLiterals(dst, in[lit:i]), i-ref, n)
		if len(dst)-start > limit {
			return dst, false
		}
		i += n
		lit = i
		if i+2 <= len(in) { // the last position of the match is worth remembering
			three = uint32(in[i-1]) | uint32(in[i])<<8 | uint32(in[i+1])<<16
			table[three*0x9E3779B1>>shift] = base + uint32(i-1)
		}
	}
	dst = appendLiterals(dst, in[lit:])
	return dst, len(dst)-start <= limit
}

// matchLen is how many bytes at i repeat those at ref, of which the first three
// are known to.
func matchLen(in []byte, ref, i int) int {
	n, most := 3, min(len(in)-i, lzfLongest)
	for n < most && in[ref+n] == in[i+n] {
		n++
	}
	return n
}

func appendLiterals(dst, p []byte) []byte {
	for len(p) > 0 {
		n := min(len(p), lzfLiterals)
		dst = append(append(dst, byte(n-1)), p[:n]...)
		p = p[n:]
	}
	return dst
}

func appendReference(dst []byte, back, n int) []byte {
	back, n = back-1, n-2
	if n < 7 {
		return append(dst, byte(n<<5|back>>8), byte(back))
	}
	return append(dst, byte(7<<5|back>>8), byte(n-7), byte(back))
}

// decompress fills out from in, and says false unless in makes exactly that
// many bytes.
func decompress(out, in []byte) bool {
	at := 0
	for len(in) > 0 {
		c := int(in[0])
		in = in[1:]
		if c < lzfLiterals {
			n := c + 1
			if n > len(in) || n > len(out)-at {
				return false
			}
			at += copy(out[at:], in[:n])
			in = in[n:]
			continue
		}
		n, rest, ok := repeatLen(c, in)
		if !ok {
			return false
		}
		from := at - (c&31)<<8 - int(rest[0]) - 1
		in = rest[1:]
		if from < 0 || n > len(out)-at {
			return false
		}
		repeat(out[:at+n], from, at)
		at += n
	}
	return at == len(out)
}

// repeatLen reads the length behind a control byte; the rest begins with the
// low byte of the distance.
func repeatLen(c int, in []byte) (n int, rest []byte, ok bool) {
	n = c>>5 + 2
	if n == 9 && len(in) > 0 {
		n += int(in[0])
		in = in[1:]
	}
	return n, in, len(in) > 0 && n > 2
}

// repeat fills out from at with what lies from there on; the two may overlap.
func repeat(out []byte, from, at int) {
	for at < len(out) {
		at += copy(out[at:], out[from:at])
	}
}
