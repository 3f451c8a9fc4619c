package mvcc

// SetPlain sets the key to a string as SetString does, but keeps the bytes even
// of a decimal integer (OBJECT ENCODING embstr or raw, never int), as
// INCRBYFLOAT leaves its result. The value is copied.
func (tx *Tx) SetPlain(key, value []byte, expire int64) {
	enc := Raw
	if len(value) <= embstrMax {
		enc = Embstr
	}
	tx.setBytes(key, value, enc, expire)
}
