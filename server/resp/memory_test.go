package resp

import (
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func testRand(t testing.TB) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("FIRN_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("FIRN_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// feed gives input to a reader in reads of at most chunk bytes, as a socket would, and tells how many commands came and
// how often the buffer was replaced.
func feed(t *testing.T, r *Reader, lim *Limits, input string, chunk int) (commands, moves int) {
	t.Helper()
	for at := 0; at < len(input); {
		before := r.Cap()
		space := r.Space(min(chunk, 4096))
		if r.Cap() != before {
			moves++
		}
		n := copy(space[:min(chunk, len(space))], input[at:])
		r.Advance(n)
		at += n
		for {
			args, err := r.Next(lim)
			require.NoError(t, err)
			if args == nil {
				break
			}
			commands++
		}
	}
	return commands, moves
}

// H5: no header makes the buffer larger than what was written, doubled, and a constant.
func TestHeadersAllocateNothing(t *testing.T) {
	r := testRand(t)
	numbers := []string{"1", "2", "10", "1048576", "500000000", "536870912", "70000", "4"}
	lim := &Limits{}
	for range 300 {
		var reader Reader
		written := 0
		for range 60 {
			head := "*" + numbers[r.IntN(len(numbers))] + "\r\n"
			if r.IntN(3) > 0 {
				head = "$" + numbers[r.IntN(len(numbers))] + "\r\n" + strings.Repeat("y", r.IntN(3000))
			}
			_, _ = reader.Write([]byte(head))
			written += len(head)
			if _, err := drain(&reader, lim); err != nil {
				break
			}
			require.LessOrEqual(t, reader.Cap(), 2*written+keepBuffer)
			require.LessOrEqual(t, cap(reader.args), 2*written)
		}
	}
}

func TestHugeCountHoldsNothing(t *testing.T) {
	var r Reader
	require.Less(t, testing.AllocsPerRun(1, func() {
		_, _ = r.Write([]byte("*1048576\r\n$500000000\r\n"))
		_, err := r.Next(nil)
		require.NoError(t, err)
	}), 10.0)
	require.LessOrEqual(t, r.Cap(), keepBuffer)
	require.Zero(t, cap(r.args))
}

func TestBigBulkIsNotCopiedAgainAndAgain(t *testing.T) {
	var r Reader
	const size = 32 << 20
	input := "*2\r\n$3\r\nSET\r\n$" + strconv.Itoa(size) + "\r\n" + strings.Repeat("x", size) + "\r\n"
	commands, moves := feed(t, &r, nil, input, 4096)
	require.Equal(t, 1, commands)
	require.LessOrEqual(t, moves, 20)
	require.LessOrEqual(t, r.Cap(), len(input)+mostLeast, "the last argument gets what it needs, not twice that")

	require.LessOrEqual(t, len(r.Space(4096)), keepBuffer, "and it's given back")
	require.Equal(t, keepBuffer, r.Cap())
}

func TestManyArgumentsAreNotCopiedAgainAndAgain(t *testing.T) {
	for _, value := range []int{1, 100, 5_000} {
		var r Reader
		n := 10_000_000 / (value + 10)
		arg := "$" + strconv.Itoa(value) + "\r\n" + strings.Repeat("v", value) + "\r\n"
		input := "*" + strconv.Itoa(n) + "\r\n" + strings.Repeat(arg, n)
		commands, moves := feed(t, &r, nil, input, 1500)
		require.Equal(t, 1, commands)
		require.LessOrEqual(t, moves, 60, "a quarter more each time at worst")
		r.Space(1)
		require.Zero(t, cap(r.handed)+cap(r.args), "the tables are given back")
	}
}

func TestIdleReaderHoldsLittle(t *testing.T) {
	r := testRand(t)
	var reader Reader
	for range 100 {
		size := r.IntN(1 << (3 + r.IntN(18)))
		input := "*2\r\n$4\r\nECHO\r\n$" + strconv.Itoa(size) + "\r\n" + strings.Repeat("x", size) + "\r\n"
		commands, _ := feed(t, &reader, nil, input, 1+r.IntN(16<<10))
		require.Equal(t, 1, commands)
		require.Zero(t, reader.Buffered())
		reader.Space(1 + r.IntN(10_000))
		require.LessOrEqual(t, reader.Cap(), 16<<10)
	}
	reader.Release()
	require.Zero(t, reader.Cap())
	require.Zero(t, cap(reader.handed)+cap(reader.args))
}

func TestReleaseKeepsWhatIsBuffered(t *testing.T) {
	var r Reader
	_, _ = r.Write([]byte("PING\r\n*2\r\n$4\r\nECHO\r\n$5\r\nhe"))
	_, err := r.Next(nil)
	require.NoError(t, err)
	_, err = r.Next(nil)
	require.NoError(t, err)
	r.Release()
	require.Equal(t, r.Buffered(), r.Cap())
	_, _ = r.Write([]byte("llo\r\n"))
	got, err := drain(&r, nil)
	require.NoError(t, err)
	require.Equal(t, []string{`["ECHO" "hello"]`}, got)
}

// H14, the reader's half: a pipeline of any length is read through a buffer of fixed size.
func TestLongPipelineThroughASmallBuffer(t *testing.T) {
	var r Reader
	input := strings.Repeat(pipelined, 20_000)
	commands, moves := feed(t, &r, nil, input, 16<<10)
	require.Equal(t, 20_000, commands)
	require.LessOrEqual(t, moves, 6)
	require.Equal(t, keepBuffer, r.Cap())
}

const pipelined = "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000012345\r\n$5\r\nvalue\r\n"

func BenchmarkPipeline(b *testing.B) {
	for _, depth := range []int{1, 32} {
		b.Run(strconv.Itoa(depth), func(b *testing.B) {
			input := []byte(strings.Repeat(pipelined, depth))
			var r Reader
			lim := &Limits{}
			b.ReportAllocs()
			b.SetBytes(int64(len(input)))
			for b.Loop() {
				r.Advance(copy(r.Space(len(input)), input))
				for {
					args, err := r.Next(lim)
					if err != nil {
						b.Fatal(err)
					}
					if args == nil {
						break
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*depth), "ns/command")
		})
	}
}

func BenchmarkBigBulk(b *testing.B) {
	const size = 16 << 20
	input := "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$" + strconv.Itoa(size) + "\r\n" + strings.Repeat("x", size) + "\r\n"
	b.SetBytes(int64(len(input)))
	for b.Loop() {
		var r Reader
		for at := 0; at < len(input); {
			n := copy(r.Space(4096), input[at:])
			r.Advance(n)
			at += n
			_, _ = r.Next(nil)
		}
	}
}

// Whoever has the buffer grown by somebody else gets the same commands from a buffer of the same size.
func TestGrownAsSpaceGrows(t *testing.T) {
	r := testRand(t)
	var plain, other Reader
	input := ""
	for range 20 {
		n := 1 << r.IntN(21)
		input += "*2\r\n$3\r\nGET\r\n$" + strconv.Itoa(n) + "\r\n" + strings.Repeat(string(rune('a'+r.IntN(26))), n) + "\r\n"
	}
	commands, grown := 0, 0
	for len(input) > 0 {
		if live, size := other.Growth(4096); len(live) > 0 {
			grown++
			to := make([]byte, size)
			copy(to, live)
			other.Grown(to)
		}
		a, b := plain.Space(4096), other.Space(4096)
		require.Equal(t, plain.Cap(), other.Cap())
		n := copy(a, input)
		require.Equal(t, n, copy(b, input))
		plain.Advance(n)
		other.Advance(n)
		input = input[n:]
		for {
			want, err := plain.Next(nil)
			require.NoError(t, err)
			got, err := other.Next(nil)
			require.NoError(t, err)
			require.Equal(t, want, got)
			if got == nil {
				break
			}
			commands++
		}
	}
	require.Equal(t, 20, commands)
	require.Positive(t, grown)
}
