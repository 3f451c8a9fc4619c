package mvcc

// Append adds a member to a detached set, behind all that are there in the order
// of (position, member): it is not looked for, nor hashed again. The bytes are
// copied.
func (w *SetWriter) Append(pos uint64, member []byte) {
	if w.obj == nil && len(member) > flatMax {
		w.becomeTree()
	}
	if w.obj == nil {
		w.flat = appendElem(w.flat, member)
		w.n++
	} else {
		w.tree().tree.Set(pos, member, nil)
	}
	w.added(member)
}
