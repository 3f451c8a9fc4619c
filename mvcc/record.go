package mvcc

import "encoding/binary"

// Type is the type of a value, as TYPE answers it.
type Type byte

// The types of values. The numbers are part of the record format.
const (
	String Type = iota
	List
	Set
	ZSet
	Hash
	Stream
)

// String names the type as the TYPE command does.
func (t Type) String() string {
	return [...]string{"string", "list", "set", "zset", "hash", "stream"}[t]
}

// Encoding says how the value lies in its record.
type Encoding byte

// Encodings of a record's value. The numbers are part of the record format.
const (
	Raw       Encoding = iota // the bytes; they were edited or are longer than 44
	Embstr                    // the bytes, at most 44 and never edited
	Int                       // a 64-bit little-endian integer, printed in decimal
	Object                    // the 8-byte id of an object in the keyspace's second tree
	Flat                      // the elements of a small collection, of which OBJECT ENCODING says listpack or intset
	FlatTable                 // the same, of which it says hashtable or skiplist
)

// A record is, in this order:
//
//	kind    1  type in the low four bits, encoding in the high four
//	flags   1  flagExpire
//	clock   3  access clock (LRU seconds or LFU), the owner's alone
//	klen    uvarint
//	vlen    uvarint
//	expire  8  unix ms, if flagExpire
//	key, value
const (
	flagExpire  = 1
	clockOffset = 2
	klenOffset  = 5

	maxInline = 64 << 10 // a longer value becomes an object
	growLimit = 4 << 10  // an edited string that grows past this becomes an object
	embstrMax = 44       // OBJ_ENCODING_EMBSTR_SIZE_LIMIT of Redis
)

// record is a decoded record header over the segment's bytes.
type record struct {
	buf        []byte // from the record's first byte on
	koff, voff int
	vlen       int
	expire     int64
}

func (r *record) typ() Type          { return Type(r.buf[0] & 15) }
func (r *record) encoding() Encoding { return Encoding(r.buf[0] >> 4) }
func (r *record) size() int          { return r.voff + r.vlen }
func (r *record) key() []byte        { return r.buf[r.koff:r.voff:r.voff] }
func (r *record) value() []byte      { return r.buf[r.voff : r.voff+r.vlen : r.voff+r.vlen] }
func (r *record) clock() uint32 {
	c := r.buf[clockOffset:klenOffset]
	return uint32(c[0]) | uint32(c[1])<<8 | uint32(c[2])<<16
}

func (r *record) setClock(c uint32) {
	b := r.buf[clockOffset:klenOffset]
	b[0], b[1], b[2] = byte(c), byte(c>>8), byte(c>>16)
}

// decode reads the record header at the start of b. The bytes are the
// keyspace's own, so a broken header is a bug and may panic.
func decode(b []byte) record {
	i := klenOffset
	klen, n := uvarint(b[i:])
	i += n
	vlen, n := uvarint(b[i:])
	i += n
	r := record{buf: b, vlen: vlen}
	if b[1]&flagExpire != 0 {
		r.expire = int64(binary.LittleEndian.Uint64(b[i:]))
		i += 8
	}
	r.koff, r.voff = i, i+klen
	return r
}

// uvarint is binary.Uvarint with the one-byte case in line.
func uvarint(b []byte) (v, n int) {
	if b[0] < 0x80 {
		return int(b[0]), 1
	}
	u, n := binary.Uvarint(b)
	return int(u), n
}

// uvarintLen is the number of bytes that AppendUvarint would write.
func uvarintLen(n int) int {
	l := 1
	for ; n >= 0x80; n >>= 7 {
		l++
	}
	return l
}

// recordSize is the number of bytes that putRecord will write.
func recordSize(klen, vlen int, expire int64) int {
	n := klenOffset + uvarintLen(klen) + uvarintLen(vlen) + klen + vlen
	if expire != 0 {
		n += 8
	}
	return n
}

// putRecord writes a record to the start of b but for its value, and returns
// where the value goes.
func putRecord(b []byte, t Type, e Encoding, clock uint32, expire int64, key []byte, vlen int) []byte {
	b[0], b[1] = byte(t)|byte(e)<<4, 0
	b[2], b[3], b[4] = byte(clock), byte(clock>>8), byte(clock>>16)
	i := klenOffset + binary.PutUvarint(b[klenOffset:], uint64(len(key)))
	i += binary.PutUvarint(b[i:], uint64(vlen))
	if expire != 0 {
		b[1] = flagExpire
		binary.LittleEndian.PutUint64(b[i:], uint64(expire))
		i += 8
	}
	i += copy(b[i:], key)
	return b[i : i+vlen]
}
