package main

import (
	"bytes"
	"math/big"
	"math/bits"
)

// The keys are `user` and 16 digits that look random but are a bijection of 0..n-1, so that a scan can be checked
// (which key is this, was it here before) without a table of keys in the load generator.
const (
	keyPrefix  = "user"
	keyLen     = len(keyPrefix) + keyDigits
	keyDigits  = 16
	keyModulus = 10_000_000_000_000_000
	keyFactor  = 7_640_891_576_956_013 // no common divisor with 10^16
	keyOffset  = 3_141_592_653_589_793
)

// pattern is what every scan asks for, and patternText what a key must hold to match it.
const (
	pattern     = "*22*"
	patternText = "22"
)

func keyNumber(i uint64) uint64 { return mulMod(i%keyModulus, keyFactor, keyOffset) }

// mulMod is (a*b + c) mod 10^16; a and b below 10^16, so the high word is below the modulus as Div64 asks.
func mulMod(a, b, c uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	lo, carry := bits.Add64(lo, c, 0)
	_, rem := bits.Div64((hi+carry)%keyModulus, lo, keyModulus)
	return rem
}

// appendKey appends the key number i.
func appendKey(dst []byte, i uint64) []byte {
	n := keyNumber(i)
	var b [keyLen]byte
	copy(b[:], keyPrefix)
	for j := keyLen - 1; j >= len(keyPrefix); j-- {
		b[j] = byte('0' + n%10)
		n /= 10
	}
	return append(dst, b[:]...)
}

// parseKey returns the digits of a key as a number; false if it is not one of ours.
func parseKey(key []byte) (uint64, bool) {
	if len(key) != keyLen || string(key[:len(keyPrefix)]) != keyPrefix {
		return 0, false
	}
	var n uint64
	for _, c := range key[len(keyPrefix):] {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, true
}

// keyIndex inverts keyNumber.
type keyIndex struct{ inverse uint64 }

func newKeyIndex() keyIndex {
	inv := new(big.Int).ModInverse(big.NewInt(keyFactor), big.NewInt(keyModulus))
	return keyIndex{inv.Uint64()}
}

func (k keyIndex) of(number uint64) uint64 {
	return mulMod((number+keyModulus-keyOffset)%keyModulus, k.inverse, 0)
}

// A keySum tells whether two collections hold the same keys each as often: their count, and the sum of a 64-bit mix of each.
// It costs no memory a key, so a thousand scanners can each check their passes.
type keySum struct {
	count int64
	sum   uint64
}

func (s *keySum) add(number uint64) {
	s.count++
	s.sum += mix(number)
}

// mix is the finaliser of splitmix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// matching sums the first n keys that match the pattern.
func matching(n int) keySum {
	var s keySum
	buf := make([]byte, 0, keyLen)
	for i := range uint64(n) {
		buf = appendKey(buf[:0], i)
		if bytes.Contains(buf, []byte(patternText)) {
			s.add(keyNumber(i))
		}
	}
	return s
}
