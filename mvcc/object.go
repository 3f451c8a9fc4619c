package mvcc

const objectCost = 160 // bytes of headers and tree slot

// An object is a value too big for a record. The stub record in the index
// holds its id. After a freeze the first write to an object copies its header
// (object.mutable), never what hangs below it.
type object struct {
	epoch uint64 // of the keyspace at the last header copy
	pos   uint64 // of the key; the owner's alone
	due   int64  // what the keyspace's members tree has for it; the owner's alone
	val   value
}

// value is what hangs below an object: a bigString, a collection, a bigList or
// a bigStream, by the type of the stub record.
type value interface {
	// bytes is the memory that the value takes: O(1).
	bytes() int64
	// count is the number of elements.
	count() int
	// clone copies the header: O(1). What hangs below is shared, and copied
	// by whichever of the two writes to it first.
	clone() value
	// check verifies the value's own invariants.
	check() error
}

func (o *object) bytes() int64 { return objectCost + o.val.bytes() }

// str is the value of a string object.
func (o *object) str() *bigString { return o.val.(*bigString) }

// mutable returns the object to write to under the epoch: itself, or a copy of
// its header if a version may hold it.
func (o *object) mutable(epoch uint64) *object {
	if o.epoch == epoch {
		return o
	}
	return &object{epoch: epoch, pos: o.pos, due: o.due, val: o.val.clone()}
}

// mutableCopy returns a second object with the same value, for a keyspace in
// that epoch. Both sides copy what they write from here on.
func (o *object) mutableCopy(epoch uint64) *object {
	o.epoch = 0 // no keyspace has it: the next write copies the header
	return &object{epoch: epoch, val: o.val.clone()}
}

// nextDue is when the first of the object's members expires, unix ms; 0: never.
func (o *object) nextDue() int64 {
	if c, ok := o.val.(*collection); ok && c.ttl != nil {
		return c.ttl.next()
	}
	return 0
}
