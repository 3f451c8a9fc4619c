package rdb

import "fmt"

// Version is what is written: the newest that redis-server 7.0 loads. Values of
// which members expire can't be said in it, and need VersionTTL.
const (
	Version    = 10
	VersionTTL = 12 // Redis 7.4's
	newest     = VersionTTL
)

// The bytes that say how a value is laid out.
const (
	typeString         = 0
	typeList           = 1
	typeSet            = 2
	typeZSet           = 3 // scores as text
	typeHash           = 4
	typeZSet2          = 5 // scores in binary
	typeHashZipmap     = 9
	typeListZiplist    = 10
	typeSetIntset      = 11
	typeZSetZiplist    = 12
	typeHashZiplist    = 13
	typeListQuicklist  = 14 // of ziplists
	typeStream         = 15
	typeHashListpack   = 16
	typeZSetListpack   = 17
	typeListQuicklist2 = 18 // of listpacks
	typeStream2        = 19 // with first ID, tombstone, entries ever added
	typeSetListpack    = 20
	typeStream3        = 21 // with the active time of consumers
	typeHashTTL        = 24 // with the expiry of each field
	typeHashListpackEx = 25 // the same, small

	// Firn's own, see the package's doc.
	typeSetTTL  = 0xC1
	typeZSetTTL = 0xC2
)

// IsValue says whether the byte is the type of a value that is read here.
func IsValue(t byte) bool {
	return t <= typeZSet2 || t >= typeHashZipmap && t <= typeStream3 ||
		t == typeHashTTL || t == typeHashListpackEx || t == typeSetTTL || t == typeZSetTTL
}

// VersionOf is the version that a payload or file needs which holds a value of
// that type.
func VersionOf(t byte) uint16 {
	if t == typeHashTTL || t == typeSetTTL || t == typeZSetTTL {
		return VersionTTL
	}
	return Version
}

// The two top bits of a length, and what follows them in the special form.
const (
	len6       = 0 << 6
	len14      = 1 << 6
	len32      = 0x80 // four bytes, the high one first
	len64      = 0x81 // eight
	lenSpecial = 3 << 6

	special8   = 0 // an integer of a byte, the low one first in the longer
	special16  = 1
	special32  = 2
	specialLZF = 3
)

// An Error says what is wrong with the bytes that are read, and where.
type Error struct {
	Offset int64 // of the element that is wrong, in bytes from the start
	What   string
}

func (e *Error) Error() string { return fmt.Sprintf("%s at offset %d", e.What, e.Offset) }
