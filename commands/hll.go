package commands

import (
	"encoding/binary"
	"slices"

	"firn/mvcc"
)

var hllCommands = []Command{
	{Name: "PFADD", Arity: -2, Keys: oneKey, Run: OnOwner(pfadd), Cost: pfaddCost, Flags: DenyOOM,
		Summary: "Adds the specified elements to the specified HyperLogLog."},
	{Name: "PFCOUNT", Arity: -2, Keys: allArgs, Run: OnOwner(pfcount), Cost: hllCost,
		Summary: "Return the approximated cardinality of the set(s) observed by the HyperLogLog at key(s)."},
	{Name: "PFMERGE", Arity: -2, Keys: allArgs, Dest: oneKey, Run: OnStore(pfmerge), Cost: hllCost, Flags: DenyOOM,
		Summary: "Merge N different HyperLogLogs into a single one."},
	{Name: "PFDEBUG", Arity: 3, Keys: Keys{First: 2, Last: 2, Step: 1}, Run: OnOwner(pfdebug), Flags: DenyOOM | Admin,
		Summary: "Internal commands for debugging HyperLogLog values"},
	{Name: "PFSELFTEST", Arity: 1, Run: OnConn(pfselftest), Flags: Admin,
		Summary: "An internal command for testing HyperLogLog values"},
}

const (
	hllBulk       = 32 // elements from which on a copy is edited as a whole
	hllPerUnit    = 4  // elements that are added in a microsecond, at least
	hllDenseCost  = 6  // units that reading a dense sketch takes
	hllSparseCost = 3  // the same of a sparse one
)

// hllOf returns the bytes of a sketch, the keyspace's own; the error is for a
// value that is none.
func hllOf(e *mvcc.Entry) ([]byte, error) {
	if e.Type() != mvcc.String {
		return nil, ErrWrongType
	}
	switch size := e.Len(); {
	case e.Encoding() == mvcc.Int || size < hllHeader:
		return nil, ErrNotHLL
	case !hllHead(e):
		return nil, ErrNotHLL
	case size > sparseMaxSize:
		return nil, ErrCorruptHLL
	}
	return wholeString(e), nil
}

// hllHead says whether a string of at least 16 bytes begins as a sketch of its
// length does.
func hllHead(e *mvcc.Entry) bool {
	var room [hllHeader]byte
	head := e.AppendRange(room[:0], 0, hllHeader)
	if string(head[:hllFormAt]) != hllMagic {
		return false
	}
	return head[hllFormAt] == hllSparse || head[hllFormAt] == hllDense && e.Len() == hllDenseSize
}

// wholeString returns the bytes of a string of at most one chunk, without
// copying them if they lie together.
func wholeString(e *mvcc.Entry) (b []byte) {
	if !e.Big() {
		return e.Bytes(nil)
	}
	e.Pieces(0, e.Len(), func(p []byte) bool { b = p; return false })
	if int64(len(b)) < e.Len() {
		return e.Bytes(nil)
	}
	return b
}

func pfaddCost(c *Call, _ *mvcc.View) int { return (len(c.Args) - 2) / hllPerUnit }

func pfadd(c *Call, tx *mvcc.Tx) error {
	key := c.Args[1]
	e, ok := tx.Lookup(key)
	if !ok {
		return pfaddWhole(c, tx, nil, nil)
	}
	b, err := hllOf(&e)
	switch {
	case err != nil:
		return err
	case b[hllFormAt] == hllDense && len(c.Args) < hllBulk:
		pfaddDense(c, tx, key, b)
		return nil
	}
	return pfaddWhole(c, tx, &e, b)
}

// pfaddWhole edits a copy of the sketch b of the entry, or a new one if there is
// none.
func pfaddWhole(c *Call, tx *mvcc.Tx, e *mvcc.Entry, b []byte) error {
	s := sketch{b: b, max: c.MaxSparse}
	var expire int64
	if e != nil {
		expire = e.Expire()
	} else {
		s.b, s.own = newSparse(), true
	}
	changed, err := s.add(c, c.Args[2:])
	if err != nil {
		return err
	}
	if changed += toInt(e == nil); changed > 0 {
		s.b[hllStaleAt] |= hllStaleBit
		putSketch(tx, c.Args[1], s.b, expire)
		c.Notify('$', "pfadd", c.Args[1])
	} else {
		keepEdited(tx, c.Args[1], e)
	}
	tx.Changes = changed
	c.Out.Int(min(changed, 1))
	return nil
}

// add adds elements and returns how many of them changed a register.
func (s *sketch) add(c *Call, elements [][]byte) (changed int64, err error) {
	if len(elements) >= hllBulk {
		s.edit() // what is not the keyspace's stays through a pause
	}
	for i, element := range elements {
		at, rank := hllPattern(element)
		switch s.raise(at, rank) {
		case wasRaised:
			changed++
		case corrupt:
			return 0, ErrCorruptHLL
		}
		c.pauseAt(i)
	}
	return changed, nil
}

// putSketch stores a sketch in the key's place. A dense one becomes the
// keyspace's, as a chunk, where a register is set without moving all.
func putSketch(tx *mvcc.Tx, key, b []byte, expire int64) {
	if b[hllFormAt] == hllSparse {
		tx.SetRaw(key, b, expire)
		return
	}
	tx.SetChunks(key, int64(len(b)), [][]byte{b})
	if expire != 0 {
		tx.SetExpire(key, expire)
	}
}

// pfaddDense adds a few elements to a dense sketch where it lies: an element
// seldom changes more than two bytes of it.
func pfaddDense(c *Call, tx *mvcc.Tx, key, b []byte) {
	changed := int64(0)
	for _, element := range c.Args[2:] {
		at, rank := hllPattern(element)
		if denseGet(b, at) >= rank {
			continue
		}
		changed++
		i, shift := denseAt(at)
		var pair [2]byte
		p := pair[:copy(pair[:], b[i:])]
		densePut(p, shift, rank)
		b = writeInto(tx, key, i, p)
	}
	if changed > 0 {
		if b[hllStaleAt]&hllStaleBit == 0 {
			writeInto(tx, key, hllStaleAt, []byte{b[hllStaleAt] | hllStaleBit})
		}
		c.Notify('$', "pfadd", key)
	}
	tx.Changes = changed
	c.Out.Int(min(changed, 1))
}

// writeInto overwrites a part of a sketch and returns where it lies now.
func writeInto(tx *mvcc.Tx, key []byte, at int, p []byte) []byte {
	tx.WriteAt(key, int64(at), p)
	e, _ := tx.Peek(key)
	return wholeString(&e)
}

// hllCost is for the commands that read every sketch named.
func hllCost(c *Call, v *mvcc.View) (units int) {
	if len(c.Args) == 2 {
		return 0
	}
	for _, key := range c.Args[1:] {
		units++
		if e, ok := v.Peek(key); ok && e.Type() == mvcc.String {
			if e.Len() < hllDenseSize {
				units += hllSparseCost
			} else {
				units += hllDenseCost
			}
		}
	}
	return units
}

func pfcount(c *Call, tx *mvcc.Tx) error {
	if len(c.Args) > 2 {
		return pfcountUnion(c, tx)
	}
	key := c.Args[1]
	e, ok := tx.Get(key)
	if !ok {
		c.Out.Int(0)
		return nil
	}
	b, err := hllOf(&e)
	if err != nil {
		return err
	}
	if b[hllStaleAt]&hllStaleBit == 0 {
		c.Out.Int(int64(binary.LittleEndian.Uint64(b[hllCachedAt:])))
		keepEdited(tx, key, &e)
		return nil
	}
	n, ok := countSketch(b)
	if !ok {
		return ErrCorruptHLL
	}
	var cached [8]byte
	binary.LittleEndian.PutUint64(cached[:], uint64(n))
	tx.WriteAt(key, hllCachedAt, cached[:])
	c.Out.Int(n)
	return nil
}

// countSketch is false for an invalid sketch.
func countSketch(b []byte) (int64, bool) {
	if b[hllFormAt] == hllSparse {
		n, ok := sparseHistogram(b)
		if !ok {
			return 0, false
		}
		return n.cardinality(), true
	}
	var r hllCounters
	r.raiseDense(b)
	n := r.histogram()
	return n.cardinality(), true
}

func pfcountUnion(c *Call, tx *mvcc.Tx) error {
	var r hllCounters
	if _, err := r.union(c, &tx.View); err != nil {
		return err
	}
	n := r.histogram()
	c.Out.Int(n.cardinality())
	return nil
}

// union takes the maximum of each register over the sketches of all arguments,
// and says whether one of them is dense.
func (r *hllCounters) union(c *Call, v *mvcc.View) (dense bool, err error) {
	for _, key := range c.Args[1:] {
		e, ok := v.Get(key)
		if !ok {
			continue
		}
		b, err := hllOf(&e)
		if err != nil {
			return false, err
		}
		if b[hllFormAt] == hllDense {
			dense = true
			r.raiseDense(b)
		} else if !r.raiseSparse(b) {
			return false, ErrCorruptHLL
		}
		if c.Pause != nil {
			c.Pause()
		}
	}
	return dense, nil
}

// pfmerge reads the destination too: it keeps its expiry, and a sparse one stays
// in its place, because the bytes depend on how it was made.
func pfmerge(c *Call, v *mvcc.View) (commit func(*mvcc.Tx) error, err error) {
	var r hllCounters
	dense, err := r.union(c, v)
	if err != nil {
		return nil, err
	}
	key := c.Args[1]
	old, err := destSketch(v, key)
	if err != nil {
		return nil, err
	}
	b := old
	if dense {
		b = r.pack()
		copy(b[hllFormAt+1:], old[hllFormAt+1:hllHeader])
		b[hllStaleAt] |= hllStaleBit
	} else if b, err = r.mergeSparse(old, c.MaxSparse); err != nil {
		return nil, err
	}
	if c.ByResult {
		c.Propagate([]byte("SET"), key, b, []byte("KEEPTTL"))
	}
	return func(tx *mvcc.Tx) error {
		e, _ := tx.Lookup(key)
		putSketch(tx, key, b, e.Expire())
		tx.Changes = 1
		c.Notify('$', "pfadd", key)
		c.Out.OK()
		return nil
	}, nil
}

// destSketch returns the destination's sketch, an empty one if it is not there.
func destSketch(v *mvcc.View, key []byte) ([]byte, error) {
	if e, ok := v.Peek(key); ok {
		return hllOf(&e)
	}
	return newSparse(), nil
}

// mergeSparse raises the registers of a copy of a sparse sketch.
func (r *hllCounters) mergeSparse(old []byte, limit int64) ([]byte, error) {
	s := sketch{b: slices.Clone(old), own: true, max: limit, mark: spot{hllHeader, 0}}
	for at, value := range r {
		if value > 0 && s.raiseNext(at, value) == corrupt {
			return nil, ErrCorruptHLL
		}
	}
	s.b[hllStaleAt] |= hllStaleBit
	return s.b, nil
}
