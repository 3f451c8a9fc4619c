package commands

import "math"

// The sines here are those of the nearest double but in one case of thousands,
// as glibc's are: distances are stored and compared with all their digits, and
// the functions of package math err in every fourth.
//
// An angle is a node of a table plus a small rest, so that a short polynomial
// will do, and sums are carried along as two doubles, the second being what the
// first can't hold (T. J. Dekker, "A floating-point technique for extending the
// available precision", 1971).

// A pair is the unevaluated sum of two doubles.
type pair struct{ hi, lo float64 }

// twoSum returns a + b exactly.
func twoSum(a, b float64) pair {
	s := a + b
	t := s - a
	return pair{s, (a - (s - t)) + (b - t)}
}

// twoProduct returns a * b exactly.
func twoProduct(a, b float64) pair {
	p := a * b
	return pair{p, math.FMA(a, b, -p)}
}

func (a pair) add(b pair) pair {
	s := twoSum(a.hi, b.hi)
	return twoSum(s.hi, s.lo+(a.lo+b.lo))
}

func (a pair) mul(b pair) pair {
	p := twoProduct(a.hi, b.hi)
	return twoSum(p.hi, p.lo+(float64(a.hi*b.lo)+float64(a.lo*b.hi)))
}

func (a pair) div(d float64) pair {
	q := a.hi / d
	return twoSum(q, (math.FMA(-q, d, a.hi)+a.lo)/d)
}

// Halves and wholes of pi.
var (
	halfPi = pair{math.Pi / 2, 6.123233995736766e-17}
	onePi  = pair{math.Pi, 1.2246467991473532e-16}
)

const (
	trigNodes = 102 // up to pi/2 and a bit
	trigStep  = 64  // nodes in a radian
	trigTerms = 30  // of the series that makes a node
)

// trigNode is the sine and cosine of i/trigStep.
type trigNode struct{ sin, cos pair }

var trigTable = makeTrigTable()

func makeTrigTable() (t [trigNodes]trigNode) {
	for i := range t {
		x := pair{hi: float64(i) / trigStep}
		term := pair{hi: 1}
		for k := range trigTerms { // term is x^k/k!
			signed := term
			if k%4 >= 2 {
				signed = pair{-term.hi, -term.lo}
			}
			if k%2 == 0 {
				t[i].cos = t[i].cos.add(signed)
			} else {
				t[i].sin = t[i].sin.add(signed)
			}
			term = term.mul(x).div(float64(k + 1))
		}
	}
	return t
}

// sinPair returns the sine of an angle, which lies in [0, pi/2].
func sinPair(a pair) pair {
	i := int(a.hi*trigStep + 0.5)
	n := &trigTable[i]
	return aroundNode(n.sin, n.cos, a.hi-float64(i)/trigStep, a.lo)
}

// cosPair returns the cosine of an angle, which lies in [0, pi/2].
func cosPair(a pair) pair {
	i := int(a.hi*trigStep + 0.5)
	n := &trigTable[i]
	return aroundNode(n.cos, pair{-n.sin.hi, -n.sin.lo}, a.hi-float64(i)/trigStep, a.lo)
}

// aroundNode returns f at a small distance h + dh from a node, where f is a sine
// or a cosine and d its derivative.
func aroundNode(f, d pair, h, dh float64) pair {
	hh := h * h
	even := hh * (-1.0/2 + hh*(1.0/24-hh*(1.0/720)))      // cos h - 1
	odd := h * hh * (-1.0/6 + hh*(1.0/120-hh*(1.0/5040))) // sin h - h
	slope := twoProduct(d.hi, h)
	s := twoSum(f.hi, slope.hi)
	return pair{s.hi, s.lo + (slope.lo + f.lo + d.lo*h + d.hi*dh + f.hi*even + d.hi*odd)}
}

// sine of an angle in [-pi, pi].
func sine(x float64) float64 {
	a := pair{hi: math.Abs(x)}
	if a.hi > halfPi.hi {
		a = onePi.add(pair{hi: -a.hi})
	}
	s := sinPair(a)
	return math.Copysign(s.hi+s.lo, x)
}

// cosine of an angle in [-pi/2, pi/2].
func cosine(x float64) float64 {
	c := cosPair(pair{hi: math.Abs(x)})
	return c.hi + c.lo
}

// arcsine of x in [0, 1]: a step of Newton's method from a close guess.
func arcsine(x float64) float64 {
	if x < 0.75 {
		y := math.Asin(x)
		return y + arcsineRest(pair{hi: x}, y)
	}
	if x >= 1 {
		return halfPi.hi
	}
	// Here the sine is flat: take the arc whose sine is the cosine.
	c := twoProduct(1-x, 1+x)
	c.lo += (1 - x) * twoSum(1, x).lo
	root := math.Sqrt(c.hi)
	s := pair{root, (math.FMA(-root, root, c.hi) + c.lo) / (2 * root)}
	y := math.Atan2(root, x)
	rest := arcsineRest(s, y)
	top := twoSum(halfPi.hi, -y)
	return top.hi + (top.lo + (halfPi.lo - rest))
}

// arcsineRest is how much y is less than the arc with that sine.
func arcsineRest(sine pair, y float64) float64 {
	got := sinPair(pair{hi: y})
	return ((sine.hi - got.hi) + (sine.lo - got.lo)) / math.Cos(y)
}
