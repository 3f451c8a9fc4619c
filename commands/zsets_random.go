package commands

import (
	"math"

	"firn/mvcc"
	"firn/scan"
)

// zrandmember is ZRANDMEMBER key [count [WITHSCORES]].
func zrandmember(c *Call, v *mvcc.View) error {
	if len(c.Args) == 2 {
		return zrandomOne(c, v)
	}
	n, err := parseSampleCount(c.Args[2])
	if err != nil {
		return err
	}
	scores := len(c.Args) > 3
	switch {
	case len(c.Args) > 4 || scores && !c.Is(3, "WITHSCORES"):
		return ErrSyntax
	case scores && (n < -math.MaxInt64/2 || n > math.MaxInt64/2):
		return ErrOutOfRange
	}
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	if !ok || n == 0 {
		c.Out.Array(0)
		return nil
	}
	s := zsample{c, z, zsampler(c, z), scores}
	if n < 0 {
		s.repeated(-n)
	} else {
		s.different(n)
	}
	return nil
}

func zsampler(c *Call, z mvcc.ZSetValue) sampler {
	s := sampler{c: c, size: z.Len()}
	if z.HasExpiries() {
		s.live = func(i int) bool {
			member, _ := z.At(i)
			_, ok := z.Score(member)
			return ok
		}
	}
	return s
}

func zrandomOne(c *Call, v *mvcc.View) error {
	z, ok, err := readZSet(v, c.Args[1])
	if err != nil {
		return err
	}
	if ok {
		s := zsampler(c, z)
		if i, ok := s.one(); ok {
			member, _ := z.At(i)
			c.Out.Bulk(member)
			return nil
		}
	}
	c.Out.Null()
	return nil
}

// A zsample answers ZRANDMEMBER with a count.
type zsample struct {
	c      *Call
	z      mvcc.ZSetValue
	s      sampler
	scores bool
}

func (s *zsample) put(i int) {
	member, score := s.z.At(i)
	s.c.replyScored(member, score, s.scores)
}

// repeated answers n members, any of which may come again. An endless number is
// sent until the client has enough.
func (s *zsample) repeated(n int64) {
	if _, ok := s.s.one(); !ok {
		n = 0
	}
	s.c.beginScored(int(n), s.scores)
	for i := int64(0); i < n; i++ {
		at, _ := s.s.one()
		s.put(at)
		s.c.Out.Spill()
		s.c.pauseAt(int(i % pauseEvery))
	}
}

// different answers up to n members, each once.
func (s *zsample) different(n int64) {
	if s.s.live == nil && n >= int64(s.s.size) {
		s.c.beginScored(s.s.size, s.scores)
		i := 0
		eachRank(&s.z, 0, s.s.size, false, func(member []byte, score float64) {
			s.c.replyScored(member, score, s.scores)
			s.c.listed(&i)
		})
		return
	}
	chosen := s.s.some(int(min(n, int64(s.s.size))))
	s.c.beginScored(len(chosen), s.scores)
	for i, at := range chosen {
		s.put(at)
		s.c.listed(&i)
	}
}

func zscan(c *Call, v *mvcc.View) error {
	cursor, ok := scan.ParseCursor(c.Args[2])
	if !ok {
		return ErrInvalidCursor
	}
	e, ok := v.Get(c.Args[1])
	if !ok {
		return scanEmpty(c)
	}
	z, err := zsetOf(v, &e)
	if err != nil {
		return err
	}
	print := AppendDouble
	if e.EncodingName() == "listpack" {
		print = AppendFloat // a compact value holds its scores as text
	}
	var digits [maxScoreLen]byte
	return scanMembers(c, v, cursor, memberSource{
		small:  z.Small(),
		values: true,
		each: func(yield func(member, value []byte) bool) {
			z.Ascend(0, func(m []byte, score float64) bool { return yield(m, print(digits[:0], score)) })
		},
		from: func(pos uint64, yield func(pos uint64, member, value []byte) bool) {
			z.AscendPos(pos, func(at uint64, m []byte, score float64) bool { return yield(at, m, print(digits[:0], score)) })
		},
	})
}

// maxScoreLen is the longest that a score is printed.
const maxScoreLen = 32
