package commands

import (
	"math"

	"firn/mvcc"
)

// hrandfield is HRANDFIELD key [count [WITHVALUES]].
func hrandfield(c *Call, v *mvcc.View) error {
	if len(c.Args) == 2 {
		return randomField(c, v)
	}
	n, err := parseSampleCount(c.Args[2])
	if err != nil {
		return err
	}
	values := len(c.Args) > 3
	switch {
	case len(c.Args) > 4 || values && !c.Is(3, "withvalues"):
		return ErrSyntax
	case values && (n < -math.MaxInt64/2 || n > math.MaxInt64/2):
		return ErrOutOfRange
	}
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	if !ok || n == 0 {
		c.Out.Array(0)
		return nil
	}
	f := fieldSample{c, h, sampler{c: c, size: h.Len(), live: liveField(h)}, values}
	if n < 0 {
		f.repeated(-n)
	} else {
		f.different(n)
	}
	return nil
}

// liveField tells a sampler which fields have not expired; nil: all.
func liveField(h mvcc.HashValue) func(i int) bool {
	if !h.HasExpiries() {
		return nil
	}
	return func(i int) bool {
		field, _ := h.At(i)
		_, ok := h.Get(field)
		return ok
	}
}

func randomField(c *Call, v *mvcc.View) error {
	h, ok, err := hashAt(c, v)
	if err != nil {
		return err
	}
	if ok {
		s := sampler{c: c, size: h.Len(), live: liveField(h)}
		if i, ok := s.one(); ok {
			field, _ := h.At(i)
			c.Out.Bulk(field)
			return nil
		}
	}
	c.Out.Null()
	return nil
}

// A fieldSample answers HRANDFIELD with a count.
type fieldSample struct {
	c      *Call
	h      mvcc.HashValue
	s      sampler
	values bool
}

// header begins a reply of n fields: RESP3 gets pairs.
func (f *fieldSample) header(n int64) {
	if f.values && f.c.Out.Proto() == RESP2 {
		n *= 2
	}
	f.c.Out.Array(int(n))
}

func (f *fieldSample) put(field, value []byte) {
	if f.values && f.c.Out.Proto() == RESP3 {
		f.c.Out.Array(2)
	}
	f.c.Out.Bulk(field)
	if f.values {
		f.c.Out.Bulk(value)
	}
}

// repeated answers n fields, any of which may come again. An endless number is
// sent until the client has enough.
func (f *fieldSample) repeated(n int64) {
	if _, ok := f.s.one(); !ok {
		f.header(0)
		return
	}
	f.header(n)
	for i := int64(0); i < n; i++ {
		at, _ := f.s.one()
		f.put(f.h.At(at))
		f.c.Out.Spill()
		f.c.pauseAt(int(i % pauseEvery))
	}
}

// different answers up to n fields, each once.
func (f *fieldSample) different(n int64) {
	if f.s.live == nil && n >= int64(f.s.size) {
		f.header(int64(f.s.size))
		i := 0
		f.h.Each(func(field, value []byte) bool {
			f.put(field, value)
			f.c.listed(&i)
			return true
		})
		return
	}
	chosen := f.s.some(int(min(n, int64(f.s.size))))
	f.header(int64(len(chosen)))
	for i, at := range chosen {
		f.put(f.h.At(at))
		f.c.listed(&i)
	}
}
