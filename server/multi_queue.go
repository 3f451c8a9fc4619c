package server

import (
	"encoding/binary"

	"firn/commands"
)

// A lineQueue keeps copies of command lines in the order in which they came. It
// has no pointers for each of them, and grows by the piece: half a million lines
// would keep the collector busy, and make whoever waits for the next one wait for
// the copying of all before.
type lineQueue struct {
	lines [][]queuedLine // pieces, all but the last full
	texts [][]byte       // pieces, with the arguments behind their lengths
	n     int            // lines
	bytes int64          // of all arguments
	room  int64          // of all pieces
	args  [][]byte       // of the line that is looked at
}

// A queuedLine is a command line whose text is in a piece.
type queuedLine struct {
	row, argc, piece, at uint32
	pos                  uint64 // request.pos
}

const (
	queuedSize = 24       // bytes of a queuedLine
	keepLines  = 64       // lines for which an empty queue keeps room
	mostLines  = 4 << 10  // lines of a piece
	firstText  = 4 << 10  // bytes of the first piece of text
	mostText   = 64 << 10 // bytes of a later piece, unless a line is longer
)

// add copies a command line.
func (q *lineQueue) add(r *request) {
	n := 0
	for _, a := range r.args {
		q.bytes += int64(len(a))
		n += binary.MaxVarintLen64 + len(a)
	}
	piece, text := q.text(n)
	at := len(*text)
	for _, a := range r.args {
		*text = binary.AppendUvarint(*text, uint64(len(a)))
		*text = append(*text, a...)
	}
	line := queuedLine{row: uint32(r.row.Index()), argc: uint32(len(r.args)), piece: uint32(piece), at: uint32(at), pos: r.pos}
	last := len(q.lines) - 1
	if last < 0 || len(q.lines[last]) == cap(q.lines[last]) {
		size := keepLines
		if last >= 0 {
			size = min(4*cap(q.lines[last]), mostLines)
		}
		q.lines = append(q.lines, make([]queuedLine, 0, size))
		q.room += int64(size) * queuedSize
		last++
	}
	q.lines[last] = append(q.lines[last], line)
	q.n++
}

// text returns a piece with room for n bytes.
func (q *lineQueue) text(n int) (piece int, text *[]byte) {
	last := len(q.texts) - 1
	if last < 0 || cap(q.texts[last])-len(q.texts[last]) < n {
		size := firstText
		if last >= 0 {
			size = min(4*cap(q.texts[last]), mostText)
		}
		size = max(size, n)
		q.texts = append(q.texts, make([]byte, 0, size))
		q.room += int64(size)
		last++
	}
	return last, &q.texts[last]
}

// each yields the lines until yield says false. A line's arguments are valid
// until the next one.
func (q *lineQueue) each(t *commands.Table, yield func(r *request) bool) {
	for _, piece := range q.lines {
		for i := range piece {
			l := &piece[i]
			r := request{row: t.ByIndex(int(l.row)), pos: l.pos, args: q.read(l)}
			if !yield(&r) {
				return
			}
		}
	}
}

func (q *lineQueue) read(l *queuedLine) [][]byte {
	text := q.texts[l.piece][l.at:]
	q.args = q.args[:0]
	for range l.argc {
		n, w := binary.Uvarint(text)
		end := uint64(w) + n
		q.args = append(q.args, text[w:end:end])
		text = text[end:]
	}
	return q.args
}

// reset empties the queue, and keeps a little room.
func (q *lineQueue) reset() {
	kept := lineQueue{lines: q.lines[:0], texts: q.texts[:0]}
	if len(q.lines) > 0 {
		kept.lines = append(kept.lines, q.lines[0][:0])
		kept.room += keepLines * queuedSize
	}
	if len(q.texts) > 0 && cap(q.texts[0]) == firstText {
		kept.texts = append(kept.texts, q.texts[0][:0])
		kept.room += firstText
	}
	clear(q.args)
	if cap(q.args) <= keepLines {
		kept.args = q.args[:0]
	}
	for i := len(kept.lines); i < len(q.lines); i++ {
		q.lines[i] = nil
	}
	for i := len(kept.texts); i < len(q.texts); i++ {
		q.texts[i] = nil
	}
	if cap(kept.lines) > keepLines || cap(kept.texts) > keepLines {
		kept.lines, kept.texts, kept.room = nil, nil, 0
	}
	*q = kept
}
