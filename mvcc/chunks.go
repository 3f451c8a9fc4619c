package mvcc

import "fmt"

// ChunkSize is the length in bytes of the chunks in which a big string is
// kept, and the longest string that lies in one piece.
const ChunkSize = chunkSize

// SetChunks sets the key to a string of size bytes (OBJECT ENCODING raw)
// without expiry. Chunk i holds the bytes from i*ChunkSize on, all ChunkSize of
// them but in the last chunk; a nil chunk reads as zeros and takes no memory.
// The chunks become the keyspace's: nothing is copied. It panics if they do not
// make up the size.
func (tx *Tx) SetChunks(key []byte, size int64, chunks [][]byte) {
	tx.Changes++
	s := &bigString{}
	s.resize(size)
	if len(chunks) != len(s.chunks) {
		panic(fmt.Sprintf("mvcc: %d chunks for %d bytes", len(chunks), size))
	}
	for i, b := range chunks {
		if want := min(size-int64(i)*chunkSize, chunkSize); b != nil && int64(len(b)) != want {
			panic(fmt.Sprintf("mvcc: chunk %d of %d bytes is %d long", i, size, len(b)))
		}
		s.chunks[i].b = b
		s.alloc += int64(cap(b))
	}
	tx.putObject(key, String, &object{epoch: tx.place(key).k.epoch, val: s}, 0)
}
