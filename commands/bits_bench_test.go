package commands

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// BenchmarkBits runs the commands that go through whole strings, on 16 MB.
func BenchmarkBits(b *testing.B) {
	const size = 16 << 20
	r := rand.New(rand.NewPCG(1, 2))
	space := mvcc.NewSpace(1, 1, mvcc.Seed{1, 2}.Hasher())
	var tx mvcc.Tx
	tx.Begin(space, 0, harnessStart)
	tx.SetRaw([]byte("a"), noise(r, size), 0)
	tx.SetRaw([]byte("b"), noise(r, size), 0)
	tx.SetRaw([]byte("full"), bytes.Repeat([]byte{0xff}, size), 0)
	tx.SetRaw([]byte("short"), noise(r, 100), 0)
	table := NewTable(Families()...)
	for _, line := range []string{"GETBIT a 99999", "SETBIT a 99999 1", "GETBIT short 99", "SETBIT short 99 1",
		"SETBIT none 99 1", "BITFIELD short GET u8 9 INCRBY i13 20 77", "BITOP AND r short short", "BITCOUNT a", "BITPOS full 0", "BITOP AND r a b", "BITOP OR r a b", "BITOP XOR r a b", "BITOP NOT r a"} {
		b.Run(line, func(b *testing.B) {
			var out Reply
			c := Call{Out: &out, Table: table, MaxBulk: 512 << 20, Now: harnessStart}
			args := bytes.Fields([]byte(line))
			for b.Loop() {
				tx.Begin(space, 0, harnessStart)
				c.Begin(table.Lookup(args[0]), args)
				out.Reset()
				if c.Row.Run.Kind() == KindView {
					require.NoError(b, RunView(&c, &tx.View))
					continue
				}
				require.NoError(b, RunOwner(&c, &tx))
			}
		})
	}
}
