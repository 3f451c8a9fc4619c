package commands

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseInt(t *testing.T) {
	f := func(in string, want int64) {
		t.Helper()
		got, ok := ParseInt([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, got)
	}
	refused := func(in string) {
		t.Helper()
		_, ok := ParseInt([]byte(in))
		require.False(t, ok, in)
	}
	f("0", 0)
	f("-1", -1)
	f("9223372036854775807", math.MaxInt64)
	f("-9223372036854775808", math.MinInt64)
	for _, in := range []string{
		"", "-", "+1", "-0", "00", "01", "-01", " 1", "1 ", "1\x00", "1.0", "1e3", "0x1", "1_0",
		"9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616",
		"99999999999999999999", "184467440737095516160", "000000000000000000001", "-99999999999999999999",
	} {
		refused(in)
	}
}

// FuzzParseInt: what ParseInt reads is what strconv reads, if AppendInt prints
// it back unchanged.
func FuzzParseInt(f *testing.F) {
	for _, s := range []string{"0", "-0", "7", "-12", "+3", "9223372036854775808", "-9223372036854775808", " 1"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		want, err := strconv.ParseInt(string(b), 10, 64)
		wantOK := err == nil && bytes.Equal(AppendInt(nil, want), b)
		got, ok := ParseInt(b)
		require.Equal(t, wantOK, ok)
		if ok {
			require.Equal(t, want, got)
		}
	})
}

func TestParseUint(t *testing.T) {
	f := func(in string, want uint64, wantOK bool) {
		t.Helper()
		got, ok := ParseUint([]byte(in))
		require.Equal(t, wantOK, ok, in)
		if ok {
			require.Equal(t, want, got, in)
		}
	}
	f("0", 0, true)
	f("007", 7, true)
	f(" \t+7", 7, true)
	f("18446744073709551615", math.MaxUint64, true)
	f("18446744073709551616", 0, false)
	f("-7", 0, false)
	f("-07", math.MaxUint64-6, true)
	f("", 0, false)
	f(" ", 0, false)
	f("-", 0, false)
	f("7x", 0, false)
}

func TestParseYesNo(t *testing.T) {
	f := func(in string, value, ok bool) {
		t.Helper()
		gotValue, gotOK := ParseYesNo([]byte(in))
		require.Equal(t, value, gotValue, in)
		require.Equal(t, ok, gotOK, in)
	}
	f("yes", true, true)
	f("YES", true, true)
	f("No", false, true)
	f("true", false, false)
	f("", false, false)
	f("ye\u017f", false, false) // a long s, which Unicode folds into s
}

func TestParseFloat(t *testing.T) {
	f := func(in string, want float64) {
		t.Helper()
		got, ok := ParseFloat([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), in)
	}
	f("3.0", 3)
	f("+.5e1", 5)
	f("1.", 1)
	f("-0", math.Copysign(0, -1))
	f("0e99999999999999999999", 0)
	f("InF", math.Inf(1))
	f("-infinity", math.Inf(-1))
	f("0x10", 16)
	f("-0X1.8p+1", -3)
	f("0x.8", 0.5)
	f("1.7976931348623157e308", math.MaxFloat64)
	f("5e-324", math.SmallestNonzeroFloat64)
	for _, in := range refusedFloats {
		_, ok := ParseFloat([]byte(in))
		require.False(t, ok, in)
	}
	for _, in := range []string{"1e309", "-1e309", "1e-325", "0x1p-1075", "1e999999999999999999999"} {
		_, ok := ParseFloat([]byte(in))
		require.False(t, ok, in)
	}
}

// J4, J9: these are no floats of any precision.
var refusedFloats = []string{
	"", " ", " 11", "11 ", "\t1", "nan", "NaN", "-nan", "nan(1)", "infi", "infinityx", "in", "+", "-", ".", "-.", "+-1",
	"1e", "1e+", "e5", ".e5", "1..2", "1.2.3", "1_000", "0x", "0x.", "0x1p", "0x1.8p-", "0xg", "1p3", "1\x00", "--1", "1,5",
}

func TestAppendDouble(t *testing.T) {
	f := func(in float64, reply, stored string) {
		t.Helper()
		require.Equal(t, reply, string(AppendDouble(nil, in)))
		require.Equal(t, stored, string(AppendFloat(nil, in)))
	}
	f(0, "0", "0")
	f(math.Copysign(0, -1), "-0", "-0")
	f(3, "3", "3")
	f(0.1, "0.10000000000000001", "0.10000000000000001")
	f(-1.5, "-1.5", "-1.5")
	f(1e16, "10000000000000000", "10000000000000000")
	f(1e17, "1e+17", "100000000000000000")
	f(-1e18, "-1e+18", "-1000000000000000000")
	f(1<<62, "4.6116860184273879e+18", "4611686018427387904")
	f(1<<63, "9.2233720368547758e+18", "9.2233720368547758e+18")
	f(1e-5, "1.0000000000000001e-05", "1.0000000000000001e-05")
	f(0.0001, "0.0001", "0.0001")
	f(1e300, "1.0000000000000001e+300", "1.0000000000000001e+300")
	f(math.Inf(1), "inf", "inf")
	f(math.Inf(-1), "-inf", "-inf")
	f(math.NaN(), "nan", "nan")
}

// TestDoubleRoundTrip: 17 digits tell any two doubles apart.
func TestDoubleRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 10_000 {
		want := math.Float64frombits(rng.Uint64())
		if math.IsNaN(want) {
			continue
		}
		for _, text := range [][]byte{AppendDouble(nil, want), AppendFloat(nil, want)} {
			got, ok := ParseFloat(text)
			require.True(t, ok, "%s", text)
			require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%s", text)
		}
	}
}
