package rdb

import (
	"encoding/binary"
	"errors"
	"math"
	"strconv"
)

// A Decoder reads what an Encoder writes, and what Redis does, from bytes that
// nobody vouches for. It never panics, and allocates no more than the bytes
// that are there can mean. It belongs to one goroutine at a time.
type Decoder struct {
	// More returns rest with as many bytes behind it as make it at least n
	// long, or an error if there are not so many. Nil: there are no more. It
	// must not change what it returned before (a new buffer each time).
	More func(rest []byte, n int) ([]byte, error)
	// Pause lets others have their turn, between elements. Nil: no need.
	Pause func()
	// Longest is how many bytes a string may have, also one that was packed; 0:
	// as many as it says.
	Longest int64

	in     []byte
	offset int64 // of in[0]
	steps  int
	nums   [4][20]byte // the texts of integers, in turn
	num    int
}

// NewDecoder reads from p, which must stay as it is.
func NewDecoder(p []byte) *Decoder { return &Decoder{in: p} }

// Offset is how many bytes have been read.
func (d *Decoder) Offset() int64 { return d.offset }

// Rest returns the bytes at hand that have not been read.
func (d *Decoder) Rest() []byte { return d.in }

func (d *Decoder) fail(what string) error { return &Error{d.offset, what} }

// take returns the next n bytes.
func (d *Decoder) take(n int) ([]byte, error) {
	if n > len(d.in) {
		if d.More == nil {
			return nil, d.fail("unexpected end")
		}
		in, err := d.More(d.in, n)
		if err != nil {
			return nil, err
		}
		d.in = in
	}
	p := d.in[:n:n]
	d.in = d.in[n:]
	d.offset += int64(n)
	return p, nil
}

// step is called between elements.
func (d *Decoder) step() {
	if d.steps++; d.steps%pauseEvery == 0 && d.Pause != nil {
		d.Pause()
	}
}

// pauseEvery is after how many elements others have their turn.
const pauseEvery = 256

// Byte reads one byte.
func (d *Decoder) Byte() (byte, error) {
	p, err := d.take(1)
	if err != nil {
		return 0, err
	}
	return p[0], nil
}

// Uint64 reads eight bytes, the low one first.
func (d *Decoder) Uint64() (uint64, error) {
	p, err := d.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(p), nil
}

// Double reads a number of the binary form.
func (d *Decoder) Double() (float64, error) {
	n, err := d.Uint64()
	return math.Float64frombits(n), err
}

// OldDouble reads a number of the form of old files: text, its length before it.
func (d *Decoder) OldDouble() (float64, error) {
	n, err := d.Byte()
	if err != nil {
		return 0, err
	}
	switch n {
	case 255:
		return math.Inf(-1), nil
	case 254:
		return math.Inf(1), nil
	case 253:
		return math.NaN(), nil
	}
	p, err := d.take(int(n))
	if err != nil {
		return 0, err
	}
	f, ok := parseScore(p)
	if !ok {
		return 0, d.fail("a number that is none")
	}
	return f, nil
}

// parseScore reads what C prints for a number.
func parseScore(p []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(p), 64)
	if errors.Is(err, strconv.ErrRange) {
		err = nil // infinity, as C reads it
	}
	return f, err == nil
}

// Len reads a length, or whatever number is written like one.
func (d *Decoder) Len() (uint64, error) {
	n, special, err := d.length()
	if err == nil && special {
		err = d.fail("an encoded string where a length should be")
	}
	return n, err
}

func (d *Decoder) length() (n uint64, special bool, err error) {
	b, err := d.Byte()
	if err != nil {
		return 0, false, err
	}
	switch {
	case b&0xC0 == len6:
		return uint64(b), false, nil
	case b&0xC0 == len14:
		low, err := d.Byte()
		return uint64(b&0x3F)<<8 | uint64(low), false, err
	case b&0xC0 == lenSpecial:
		return uint64(b & 0x3F), true, nil
	case b == len32:
		p, err := d.take(4)
		if err != nil {
			return 0, false, err
		}
		return uint64(binary.BigEndian.Uint32(p)), false, nil
	case b == len64:
		p, err := d.take(8)
		if err != nil {
			return 0, false, err
		}
		return binary.BigEndian.Uint64(p), false, nil
	}
	return 0, false, d.fail("an unknown form of length")
}

// String reads a string. The bytes may be a part of what is read from, and are
// valid until three more strings have been read.
func (d *Decoder) String() ([]byte, error) {
	n, special, err := d.length()
	if err != nil {
		return nil, err
	}
	if !special {
		return d.bytes(n)
	}
	switch n {
	case special8, special16, special32:
		return d.smallInt(1 << n)
	case specialLZF:
		return d.compressed()
	}
	return nil, d.fail("an unknown encoding of a string")
}

func (d *Decoder) bytes(n uint64) ([]byte, error) {
	if d.Longest > 0 && n > uint64(d.Longest) {
		return nil, d.fail("a string that is too long")
	}
	if n > math.MaxInt32 && (n > math.MaxInt64/2 || d.More == nil && n > uint64(len(d.in))) {
		return nil, d.fail("a string that is longer than all")
	}
	return d.take(int(n))
}

func (d *Decoder) smallInt(size int) ([]byte, error) {
	p, err := d.take(size)
	if err != nil {
		return nil, err
	}
	return d.text(littleInt(p)), nil
}

// text is the decimal of an integer, valid until three more are asked for.
func (d *Decoder) text(n int64) []byte {
	d.num = (d.num + 1) % len(d.nums)
	return strconv.AppendInt(d.nums[d.num][:0], n, 10)
}

// littleInt reads a signed integer of one to eight bytes, the low one first.
func littleInt(p []byte) int64 {
	var n uint64
	for i, b := range p {
		n |= uint64(b) << (8 * i)
	}
	shift := 64 - 8*len(p)
	return int64(n<<shift) >> shift
}

func (d *Decoder) compressed() ([]byte, error) {
	packed, err := d.Len()
	if err != nil {
		return nil, err
	}
	n, err := d.Len()
	if err != nil {
		return nil, err
	}
	at := d.offset
	p, err := d.bytes(packed)
	if err != nil {
		return nil, err
	}
	if n > packed*lzfExpansion || d.Longest > 0 && n > uint64(d.Longest) {
		return nil, &Error{at, "a packed string that would be too long"}
	}
	out := make([]byte, n)
	if !decompress(out, p) {
		return nil, &Error{at, "a packed string that can't be unpacked"}
	}
	return out, nil
}
