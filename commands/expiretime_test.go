package commands

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Rows I2 and I3 of the reports: times that 64 bits can't hold.
func TestExpireAt(t *testing.T) {
	c := &Call{Row: &Command{full: "expire"}}
	const now = 1_700_000_000_000
	invalid := ErrInvalidExpire("expire")
	for _, tc := range []struct {
		u     unit
		value string
		base  int64
		want  int64
		err   error
		set   error // what SET makes of it
	}{
		{seconds, "10", now, now + 10_000, nil, nil},
		{milliseconds, "10", now, now + 10, nil, nil},
		{seconds, "1700000000", 0, now, nil, nil},
		{seconds, "0", now, now, nil, invalid},
		{seconds, "-1", now, now - 1000, nil, invalid},
		{seconds, "-9223372036854775", 0, -9223372036854775000, nil, invalid},
		{seconds, "9223372036854775", 0, 9223372036854775000, nil, nil},
		{seconds, "9223372036854775", now, 0, invalid, invalid},
		{seconds, "9223372036854776", 0, 0, invalid, invalid},
		{seconds, "-9223372036854776", 0, 0, invalid, invalid},
		{seconds, "9223372036854775807", 0, 0, invalid, invalid},
		{milliseconds, "9223372036854775807", 0, 9223372036854775807, nil, nil},
		{milliseconds, "9223372036854775807", now, 0, invalid, invalid},
		{milliseconds, "-9223372036854775808", now, -9223372036854775808 + now, nil, invalid},
		{seconds, "9223372036854775808", 0, 0, ErrNotInteger, ErrNotInteger},
		{seconds, "1.5", now, 0, ErrNotInteger, ErrNotInteger},
		{seconds, "", now, 0, ErrNotInteger, ErrNotInteger},
	} {
		got, err := expireAt(c, tc.u, []byte(tc.value), tc.base)
		require.Equal(t, tc.err, err, "%q", tc.value)
		require.Equal(t, tc.want, got, "%q", tc.value)
		_, err = futureExpireAt(c, tc.u, []byte(tc.value), tc.base)
		require.Equal(t, tc.set, err, "SET with %q", tc.value)
	}
}
