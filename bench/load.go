package main

import "math/rand/v2"

// load is what a group of connections asks; see startLoad.
type load struct {
	conns  int
	depth  int // commands in flight on each connection
	keys   int // drawn from the first so many, uniformly
	getSet int // GETs for one SET; 0 is SET only, -1 is GET only
	value  int // bytes
	seed   uint64
}

// mixDriver draws GETs and SETs.
type mixDriver struct {
	load
	rng   *rand.Rand
	value []byte
	key   []byte
}

func newMixDriver(l load, id int) *mixDriver {
	value := make([]byte, l.value)
	for i := range value {
		value[i] = 'a' + byte(i%26)
	}
	return &mixDriver{load: l, rng: rand.New(rand.NewPCG(l.seed, uint64(id))), value: value}
}

func (m *mixDriver) request(dst []byte) ([]byte, int) {
	for range m.depth {
		m.key = appendKey(m.key[:0], m.rng.Uint64N(uint64(m.keys)))
		if m.isGet() {
			dst = append(dst, "*2\r\n$3\r\nGET\r\n"...)
			dst = appendArg(dst, m.key)
			continue
		}
		dst = appendSet(dst, m.key, m.value)
	}
	return dst, m.depth
}

func (m *mixDriver) isGet() bool {
	return m.getSet < 0 || m.getSet > 0 && m.rng.IntN(m.getSet+1) > 0
}

func (m *mixDriver) token(token)   {}
func (m *mixDriver) answered(bool) {}

func startLoad(addr string, l load, w *window) (*group, error) {
	return startGroup(addr, l.conns, w, func(i int) driver { return newMixDriver(l, i) })
}
