package rdb

import (
	"encoding/binary"
	"hash/crc64"
)

// jones is the polynomial ad93d23594c935a9 of David Jones, mirrored.
const jones = 0x95AC9329AC4BC9B5

// crcTables hold, at k, the sum of a byte that k zero bytes follow, so that
// eight bytes are taken at a time (slicing by eight, Kounavis and Berry 2005).
var crcTables = slicedTables()

func slicedTables() *[8]crc64.Table {
	var t [8]crc64.Table
	t[0] = *crc64.MakeTable(jones)
	for i := range t[0] {
		sum := t[0][i]
		for k := 1; k < len(t); k++ {
			sum = t[0][byte(sum)] ^ sum>>8
			t[k][i] = sum
		}
	}
	return &t
}

// CRC64 adds p to a checksum as RDB files and DUMP payloads have it; that of
// nothing is 0.
func CRC64(sum uint64, p []byte) uint64 {
	t := crcTables
	for ; len(p) >= 8; p = p[8:] {
		sum ^= binary.LittleEndian.Uint64(p)
		sum = t[7][byte(sum)] ^ t[6][byte(sum>>8)] ^ t[5][byte(sum>>16)] ^ t[4][byte(sum>>24)] ^
			t[3][byte(sum>>32)] ^ t[2][byte(sum>>40)] ^ t[1][byte(sum>>48)] ^ t[0][sum>>56]
	}
	for _, b := range p {
		sum = t[0][byte(sum)^b] ^ sum>>8
	}
	return sum
}
