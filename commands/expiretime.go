package commands

import "math"

// A unit is how many milliseconds one of a time argument stands for.
type unit int64

const (
	milliseconds unit = 1
	seconds      unit = 1000
)

// expireAt reads the time argument of EXPIRE and its family and returns the
// instant it stands for, unix ms. base is what it counts from: c.Now, or 0 for
// an instant. A negative time is an instant in the past; one that 64 bits can't
// hold is refused in the name of the command.
func expireAt(c *Call, u unit, value []byte, base int64) (int64, error) {
	t, ok := ParseInt(value)
	if !ok {
		return 0, ErrNotInteger
	}
	if t > math.MaxInt64/int64(u) || t < math.MinInt64/int64(u) {
		return 0, ErrInvalidExpire(c.Row.full)
	}
	t *= int64(u)
	if t > math.MaxInt64-base {
		return 0, ErrInvalidExpire(c.Row.full)
	}
	return t + base, nil
}

// futureExpireAt is expireAt for SET and GETEX, which also refuse a time that
// is not positive.
func futureExpireAt(c *Call, u unit, value []byte, base int64) (int64, error) {
	if t, ok := ParseInt(value); ok && t <= 0 {
		return 0, ErrInvalidExpire(c.Row.full)
	}
	return expireAt(c, u, value, base)
}
