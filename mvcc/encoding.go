package mvcc

// Count returns the number of elements of a collection, and 1 for a string.
func (e *Entry) Count() int {
	switch {
	case e.obj != nil:
		return e.obj.val.count()
	case e.Type() == Hash:
		return flatCount(e.rec.value(), 2)
	case e.Type() == Set:
		return flatCount(e.rec.value(), 1)
	case e.Type() == ZSet:
		return flatZCount(e.rec.value())
	case e.Type() == List:
		return flatListCount(e.rec.value())
	}
	return 1
}

// EncodingName names the value's encoding as OBJECT ENCODING of Redis 7.0 does.
// Of a collection it says what Redis would make of it, not how it lies here.
func (e *Entry) EncodingName() string {
	switch e.Type() {
	case String:
		return e.stringEncoding()
	case List:
		return "quicklist"
	case Stream:
		return "stream"
	}
	general, packed := "hashtable", "listpack"
	if e.Type() == Set {
		packed = "intset"
	}
	if e.Type() == ZSet {
		general = "skiplist"
	}
	if e.packed() {
		return packed
	}
	return general
}

func (e *Entry) stringEncoding() string {
	switch e.Encoding() {
	case Int:
		return "int"
	case Embstr:
		return "embstr"
	}
	return "raw"
}

// packed says whether a hash, set or sorted set still has the name of a packed
// encoding.
func (e *Entry) packed() bool {
	if e.obj != nil {
		return e.obj.val.(*collection).packed
	}
	return e.rec.encoding() == Flat
}
