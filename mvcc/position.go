package mvcc

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

const (
	// tagBits is how many top bits of a position come from the hash tag.
	tagBits = 12
	// CursorShift turns a position into a cursor: the top 52 bits, so that
	// a cursor stays below 2^53 (clients keep it in a double).
	CursorShift = 12

	tagMask = ^(^uint64(0) >> tagBits)
)

// Seed is the 128-bit key of the position hash. It is kept with the data, so
// that a cursor means the same after a restart.
type Seed [2]uint64

// A Hasher gives every key its position: 64 bits whose order is the order of
// the index, of SCAN, and, by the top bits, of the stores.
type Hasher func(key []byte) uint64

// Hasher returns the position hash under the seed: SipHash-1-3 (Aumasson and
// Bernstein, "SipHash: a fast short-input PRF", 2012) of the key, with the top
// 12 bits taken from the key's hash tag `{…}` where it has one, so that the
// keys of a tag share a store.
func (s Seed) Hasher() Hasher {
	return func(key []byte) uint64 {
		h := sipHash(s[0], s[1], key, 1, 3)
		if tag := hashTag(key); len(tag) < len(key) {
			h = sipHash(s[0], s[1], tag, 1, 3)&tagMask | h&^tagMask
		}
		return h
	}
}

// hashTag is the part of the key between the first { and the next }, if it is
// not empty, else the whole key (Redis Cluster's rule).
func hashTag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	if n := bytes.IndexByte(key[open+1:], '}'); n > 0 {
		return key[open+1 : open+1+n]
	}
	return key
}

// sipHash is SipHash-c-d with the 64-bit output.
func sipHash(k0, k1 uint64, p []byte, c, d int) uint64 {
	v0, v1 := k0^0x736f6d6570736575, k1^0x646f72616e646f6d
	v2, v3 := k0^0x6c7967656e657261, k1^0x7465646279746573
	last := uint64(len(p)) << 56
	for ; len(p) >= 8; p = p[8:] {
		m := binary.LittleEndian.Uint64(p)
		v3 ^= m
		v0, v1, v2, v3 = sipRounds(v0, v1, v2, v3, c)
		v0 ^= m
	}
	for i, b := range p {
		last |= uint64(b) << (8 * i)
	}
	v3 ^= last
	v0, v1, v2, v3 = sipRounds(v0, v1, v2, v3, c)
	v0 ^= last
	v2 ^= 0xff
	v0, v1, v2, v3 = sipRounds(v0, v1, v2, v3, d)
	return v0 ^ v1 ^ v2 ^ v3
}

func sipRounds(v0, v1, v2, v3 uint64, n int) (uint64, uint64, uint64, uint64) {
	for ; n > 0; n-- {
		v0 += v1
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v3
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 += v3
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 += v1
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v2 = bits.RotateLeft64(v2, 32)
	}
	return v0, v1, v2, v3
}
