package commands

import (
	"bytes"
	"math"
	"math/big"
)

// Float80 is a number with the precision and range of x86's long double: 64
// bits of mantissa, 15 of exponent. Redis keeps INCRBYFLOAT and HINCRBYFLOAT in
// one, and people see the difference: 1000 + 0.1 prints 1000.09999999999999998,
// which no double can give.
//
// Every operation is rounded once, to nearest even, from the exact result. Only
// subnormals (below 2^-16382) keep more bits than the hardware would; they all
// print as 0. The zero value is 0. A Float80 is not changed after it was made.
type Float80 struct{ f *big.Float }

const (
	float80Prec   = 64
	float80MaxExp = 16384  // of a mantissa in [0.5, 1)
	float80MinExp = -16445 // the smallest subnormal is 2^-16445, half of it rounds to 0

	// float80MaxLen is the longest text Redis tries to read as a long double.
	float80MaxLen = 5*1024 - 1

	// float80Decimals is how many digits Redis prints after the point before it
	// cuts the zeros.
	float80Decimals = 17
)

// ParseFloat80 reads what Redis accepts as a value or increment of INCRBYFLOAT:
// the grammar of ParseFloat, up to 5119 bytes, in the range of a long double.
func ParseFloat80(b []byte) (Float80, bool) {
	if len(b) > float80MaxLen {
		return Float80{}, false
	}
	lit, ok := scanFloat(b)
	if !ok {
		return Float80{}, false
	}
	if lit.inf {
		return Float80{new(big.Float).SetInf(lit.negative)}, true
	}
	f := new(big.Float).SetPrec(float80Prec)
	if !lit.isZero() && !lit.round(f) {
		return Float80{}, false
	}
	if lit.negative {
		f.Neg(f)
	}
	return Float80{f}, true
}

// round sets f, whose precision is set, to the literal's magnitude; false if
// that is out of a long double's range.
func (l *floatLiteral) round(f *big.Float) bool {
	base, top := 10, 3*(l.exp-l.fraction+len(l.digits))
	exp := l.exp - l.fraction
	if l.hex {
		exp = l.exp - 4*l.fraction
		base, top = 16, exp+4*len(l.digits)
	}
	// The value is at least 2^(top-4), and below 2^top if that is under 1:
	// enough to see that 1e999999999 is not worth computing.
	if top > float80MaxExp+4 || top < float80MinExp {
		return false
	}
	m, _ := new(big.Int).SetString(string(l.digits), base)
	exact := new(big.Float).SetInt(m)
	switch {
	case l.hex:
		f.Set(exact.SetMantExp(exact, exp))
	case exp >= 0:
		f.SetInt(m.Mul(m, pow10(exp)))
	default:
		f.Quo(exact, new(big.Float).SetInt(pow10(-exp)))
	}
	return inFloat80(f)
}

// inFloat80 says whether a long double can hold f, which was just rounded to
// its precision: not too big, and not so small that it would be 0.
func inFloat80(f *big.Float) bool {
	exp := f.MantExp(nil)
	if exp > float80MaxExp || exp < float80MinExp {
		return false
	}
	// Exactly half of the smallest subnormal ties to 0, unless rounding got it there.
	tie := exp == float80MinExp && f.MinPrec() == 1
	return !tie || f.Acc() == big.Below
}

func pow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// Add returns a+b; false if the sum is infinite or not a number.
func (a Float80) Add(b Float80) (Float80, bool) {
	x, y := a.value(), b.value()
	if x.IsInf() || y.IsInf() {
		return Float80{}, false
	}
	sum := new(big.Float).SetPrec(float80Prec).Add(x, y)
	if sum.MantExp(nil) > float80MaxExp {
		return Float80{}, false
	}
	return Float80{sum}, true
}

// IsInf says whether a is infinite, which HINCRBYFLOAT refuses as an increment.
func (a Float80) IsInf() bool { return a.value().IsInf() }

// Append appends a as Redis stores and replies it: up to 17 digits after the
// point, no exponent ever, no zeros at the end, no minus before a zero.
func (a Float80) Append(dst []byte) []byte {
	x := a.value()
	if x.IsInf() {
		return AppendDouble(dst, math.Inf(x.Sign()))
	}
	start := len(dst)
	dst = x.Append(dst, 'f', float80Decimals)
	dst = bytes.TrimRight(dst, "0") // there is always a point to stop at
	dst = bytes.TrimSuffix(dst, []byte("."))
	if string(dst[start:]) == "-0" {
		return append(dst[:start], '0')
	}
	return dst
}

func (a Float80) value() *big.Float {
	if a.f == nil {
		return new(big.Float)
	}
	return a.f
}
