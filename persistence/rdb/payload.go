package rdb

import (
	"encoding/binary"
)

// A payload is what DUMP returns: the type, the value, the version (2 bytes, low
// one first) and the checksum of all before it (8).
const footer = 2 + 8

// OpenPayload returns what stands before the footer of a payload, and says false
// if its version is too new or its checksum wrong.
func OpenPayload(p []byte) (body []byte, ok bool) {
	if len(p) < footer {
		return nil, false
	}
	at := len(p) - footer
	version := binary.LittleEndian.Uint16(p[at:])
	sum := binary.LittleEndian.Uint64(p[at+2:])
	return p[:at], version <= newest && CRC64(0, p[:at+2]) == sum
}

// AppendFooter appends the footer of a payload of a value of that type; sum is
// the checksum of the type and the value.
func AppendFooter(dst []byte, t byte, sum uint64) []byte {
	start := len(dst)
	dst = binary.LittleEndian.AppendUint16(dst, VersionOf(t))
	return binary.LittleEndian.AppendUint64(dst, CRC64(sum, dst[start:]))
}
