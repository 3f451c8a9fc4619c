package script

// lrand48 is the generator of drand48(3), which math.random draws from: 48 bits,
// linear congruential, the same sequence everywhere.
type lrand48 uint64

const (
	randMul  = 0x5DEECE66D
	randAdd  = 0xB
	randMask = 1<<48 - 1
	randMax  = 1<<31 - 1
	// randStart is the state before any seed.
	randStart lrand48 = 0x1234ABCD330E
)

// next returns 31 bits.
func (r *lrand48) next() int32 {
	*r = (*r*randMul + randAdd) & randMask
	return int32(*r >> 17)
}

// seed begins the sequence of a seed.
func (r *lrand48) seed(v int32) { *r = lrand48(uint32(v))<<16 | 0x330E }

// float returns a number in [0, 1).
func (r *lrand48) float() float64 { return float64(r.next()%randMax) / randMax }
