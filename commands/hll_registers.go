package commands

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// A HyperLogLog is a string in the format of Redis' hyperloglog.c: a header of
// 16 bytes, then the registers, dense or sparse.
//
//	"HYLL"  4
//	form    1  hllDense or hllSparse
//	unused  3
//	cached  8  the cardinality, little endian; its top bit says that it is stale
const (
	hllMagic     = "HYLL"
	hllFormAt    = 4
	hllCachedAt  = 8
	hllStaleAt   = 15 // the byte with the top bit of the cached cardinality
	hllStaleBit  = 0x80
	hllHeader    = 16
	hllIndexBits = 14
	hllRegisters = 1 << hllIndexBits
	hllRankBits  = 64 - hllIndexBits
	hllMaxRank   = hllRankBits + 1 // of a hash whose other bits are all zeros
	hllRegBits   = 6
	hllRegMax    = 1<<hllRegBits - 1
	hllDenseSize = hllHeader + hllRegisters*hllRegBits/8

	hllDense  = 0
	hllSparse = 1
)

// hllPattern hashes an element: which register it belongs to, and the length of
// the run of zeros, with the one that ends it, in the rest of the hash.
func hllPattern(element []byte) (at int, rank byte) {
	h := murmur64A(element, 0xadc83b19)
	rest := h>>hllIndexBits | 1<<hllRankBits
	return int(h & (hllRegisters - 1)), byte(bits.TrailingZeros64(rest) + 1)
}

// murmur64A is MurmurHash2 of 64 bits by Austin Appleby (MurmurHash64A), reading
// little endian.
func murmur64A(data []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(data))*m
	for ; len(data) >= 8; data = data[8:] {
		k := binary.LittleEndian.Uint64(data) * m
		k ^= k >> r
		h = (h ^ k*m) * m
	}
	if len(data) > 0 {
		for i, b := range data {
			h ^= uint64(b) << (8 * i)
		}
		h *= m
	}
	h ^= h >> r
	h *= m
	return h ^ h>>r
}

// denseGet reads a register of a dense sketch.
func denseGet(h []byte, at int) byte {
	i, shift := denseAt(at)
	v := uint(h[i])
	if i+1 < len(h) {
		v |= uint(h[i+1]) << 8
	}
	return byte(v>>shift) & hllRegMax
}

// denseAt is where a register begins: a byte of the sketch, and a bit of it.
func denseAt(at int) (i int, shift uint) {
	return hllHeader + at*hllRegBits/8, uint(at * hllRegBits & 7)
}

// densePut sets a register that begins at a bit of p's first byte.
func densePut(p []byte, shift uint, v byte) {
	p[0] = p[0]&^byte(hllRegMax<<shift) | v<<shift
	if shift > 2 {
		p[1] = p[1]&^byte(hllRegMax>>(8-shift)) | v>>(8-shift)
	}
}

// denseRaise sets a register if it is lower, and says whether it was.
func denseRaise(h []byte, at int, v byte) bool {
	if denseGet(h, at) >= v {
		return false
	}
	i, shift := denseAt(at)
	densePut(h[i:], shift, v)
	return true
}

// hllCounters are the registers of a sketch, a byte each.
type hllCounters [hllRegisters]byte

// raiseDense takes the maximum of each register and the dense sketch's.
func (r *hllCounters) raiseDense(h []byte) {
	packed := h[hllHeader:hllDenseSize]
	for i := 0; i < hllRegisters; i += 8 {
		// Six bytes are eight registers; the last group has no bytes to spare.
		var x uint64
		if len(packed) >= 8 {
			x = binary.LittleEndian.Uint64(packed)
		} else {
			x = uint64(binary.LittleEndian.Uint32(packed)) | uint64(binary.LittleEndian.Uint16(packed[4:]))<<32
		}
		packed = packed[6:]
		word := r[i : i+8 : i+8]
		binary.LittleEndian.PutUint64(word, maxBytes(binary.LittleEndian.Uint64(word), spreadSixes(x)))
	}
}

// spreadSixes gives each of the low eight groups of six bits a byte of its own.
func spreadSixes(x uint64) uint64 {
	x = x&0xffffff | x<<8&0xffffff00000000
	x = x&0x00000fff00000fff | x<<4&0x0fff00000fff0000
	return x&0x003f003f003f003f | x<<2&0x3f003f003f003f00
}

// maxBytes returns the greater of each pair of bytes, all of them below 128.
func maxBytes(a, b uint64) uint64 {
	const tops = 0x8080808080808080
	least := (a | tops) - b            // the top bit stays where a >= b
	keep := (least & tops >> 7) * 0xff // ones in all bits of that byte
	return a&keep | b&^keep
}

// pack makes a dense sketch of the registers, its cardinality not yet counted.
func (r *hllCounters) pack() []byte {
	h := make([]byte, hllDenseSize)
	copy(h, hllMagic)
	h[hllFormAt], h[hllStaleAt] = hllDense, hllStaleBit
	out := h[hllHeader:]
	for i := 0; i < hllRegisters; i += 4 {
		x := uint32(r[i]) | uint32(r[i+1])<<6 | uint32(r[i+2])<<12 | uint32(r[i+3])<<18
		out[0], out[1], out[2] = byte(x), byte(x>>8), byte(x>>16)
		out = out[3:]
	}
	return h
}

// hllHistogram counts how many registers have each value.
type hllHistogram [hllRegMax + 1]int

func (r *hllCounters) histogram() (n hllHistogram) {
	var odd hllHistogram // two tables, as neighbours are often equal
	for i := 0; i < hllRegisters; i += 2 {
		n[r[i]&hllRegMax]++
		odd[r[i+1]&hllRegMax]++
	}
	for i, c := range odd {
		n[i] += c
	}
	return n
}

// cardinality estimates how many different elements made the registers, as in
// Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches"
// (arXiv:1702.01284). The conversions keep the compiler from fusing operations,
// so that all machines agree.
func (n *hllHistogram) cardinality() int64 {
	const m = float64(hllRegisters)
	const alpha = 0.721347520444481703680 // 0.5/ln(2)
	z := m * ertlTau((m-float64(n[hllMaxRank]))/m)
	for k := hllRankBits; k >= 1; k-- {
		z = (z + float64(n[k])) * 0.5
	}
	z += float64(m * ertlSigma(float64(n[0])/m))
	return int64(math.Round(alpha * m * m / z))
}

// ertlSigma is the paper's sigma, for 0 <= x <= 1.
func ertlSigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	y, z := 1.0, x
	for {
		before := z
		x *= x
		z += float64(x * y)
		y += y
		if z == before {
			return z
		}
	}
}

// ertlTau is the paper's tau, for 0 <= x <= 1.
func ertlTau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	y, z := 1.0, 1-x
	for {
		before := z
		x = math.Sqrt(x)
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == before {
			return z / 3
		}
	}
}
