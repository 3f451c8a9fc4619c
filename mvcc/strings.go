package mvcc

import (
	"encoding/binary"
	"math"
)

// SetPlain sets the key to a string as SetString does, but keeps the bytes even
// of a decimal integer (OBJECT ENCODING embstr or raw, never int), as
// INCRBYFLOAT leaves its result. The value is copied.
func (tx *Tx) SetPlain(key, value []byte, expire int64) {
	tx.setBytes(key, value, plainEncoding(value), expire)
}

func plainEncoding(value []byte) Encoding {
	if len(value) <= embstrMax {
		return Embstr
	}
	return Raw
}

// Overwrite does what Lookup and then SetString without expiry do. The lookup
// is left out when it can't tell anything: no key of the store is due, and
// access clocks don't depend on the old one.
func (tx *Tx) Overwrite(key, value []byte) {
	p, access := tx.place(key), tx.space.Access()
	if access.LFU || p.k.overdue(tx.Now) || len(value) > maxInline || tx.Created != nil {
		tx.Lookup(key)
		tx.SetString(key, value, 0)
		return
	}
	tx.Changes++
	f := fields{typ: String, enc: Int, clock: access.first(tx.Now)}
	if n, ok := canonicalInt(value); ok {
		binary.LittleEndian.PutUint64(p.k.put(p.pos, key, f, 8), uint64(n))
		return
	}
	f.enc = plainEncoding(value)
	copy(p.k.put(p.pos, key, f, len(value)), value)
}

// overdue says whether some key has expired and was not removed yet.
func (k *keyspace) overdue(now int64) bool {
	d, ok := k.expires.Min()
	return ok && d.at <= now
}

// canonicalInt says whether the bytes are the decimal form of a 64-bit integer,
// exactly as it would be printed. It never allocates, as strconv's errors do.
func canonicalInt(b []byte) (int64, bool) {
	digits, limit := b, uint64(math.MaxInt64)
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		digits, limit = b[1:], limit+1
	}
	if len(digits) == 0 || len(digits) > 19 || digits[0] == '0' && len(b) > 1 {
		return 0, false
	}
	var v uint64 // 19 digits fit
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		v = v*10 + d
	}
	if v > limit {
		return 0, false
	}
	if negative {
		return int64(-v), true
	}
	return int64(v), true
}
