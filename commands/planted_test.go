package commands

import (
	"bytes"
	"testing"

	"firn/commands/transcript"
	"firn/mvcc"

	"github.com/stretchr/testify/require"
)

// TestHarnessFindsPlantedFaults gives the harness rows with one fault each: a
// harness that lets its plant through would let everything through.
func TestHarnessFindsPlantedFaults(t *testing.T) {
	for name, plant := range map[string]Handler{
		"panics": OnConn(func(*Call) error { panic("planted") }),
		"answers twice": OnConn(func(c *Call) error {
			c.Out.OK()
			c.Out.OK()
			return nil
		}),
		"doesn't answer": OnConn(func(*Call) error { return nil }),
		"is two-faced": OnView(func(c *Call, v *mvcc.View) error {
			c.Out.Bool(v.Frozen())
			return nil
		}),
		"writes and fails": OnOwner(func(c *Call, tx *mvcc.Tx) error {
			tx.SetInt([]byte("k"), 1, 0)
			return ErrSyntax
		}),
		"keeps a secret": OnOwner(func(c *Call, tx *mvcc.Tx) error {
			tx.SetInt([]byte("k"), 1, 0)
			c.PropagateNothing()
			c.Out.OK()
			return nil
		}),
		"tells what wasn't": OnOwner(func(c *Call, tx *mvcc.Tx) error {
			c.Propagate([]byte("SET"), []byte("k"), []byte("v"))
			c.Out.OK()
			return nil
		}),
		"propagates a time of its own": OnOwner(func(c *Call, tx *mvcc.Tx) error {
			tx.SetInt([]byte("k"), 1, c.Now+1000)
			c.Out.OK()
			return nil
		}),
		"leaves a pin": OnCut(func(c *Call, cut mvcc.Cut) error {
			cut.Space().Stores[0].Freeze(0)
			c.Out.OK()
			return nil
		}),
		"lends its argument": OnConn(func(c *Call) error {
			c.Out.BulkHeader(int64(len(c.Args[1])))
			c.Out.Keep(c.Args[1])
			c.Out.Raw([]byte("\r\n"))
			return nil
		}),
		"notifies of a failure": OnConn(func(c *Call) error {
			c.Notify('$', "set", []byte("k"))
			return ErrSyntax
		}),
	} {
		t.Run(name, func(t *testing.T) {
			row := Command{Name: "PLANT", Arity: 2, Run: plant, Summary: "Be wrong"}
			require.Error(t, runPlant(newHarness(4, 1, row)))
		})
	}
}

func runPlant(h *harness) error {
	raw, err := h.Do("main", [][]byte{[]byte("PLANT"), bytes.Repeat([]byte{'x'}, 100_000)})
	if err != nil {
		return err
	}
	if _, err := transcript.ReadAll(raw); err != nil {
		return err
	}
	return h.verify()
}

// TestHarnessTrustsGoodRows shows that the plants are found for their faults.
func TestHarnessTrustsGoodRows(t *testing.T) {
	for _, run := range []Handler{
		OnConn(func(c *Call) error { return ErrSyntax }),
		OnOwner(func(c *Call, tx *mvcc.Tx) error {
			tx.SetString([]byte("k"), c.Args[1], c.Now+1000)
			c.Propagate([]byte("SET"), []byte("k"), c.Args[1], []byte("PXAT"), AppendInt(nil, c.Now+1000))
			c.Out.OK()
			return nil
		}),
	} {
		require.NoError(t, runPlant(newHarness(4, 1, Command{Name: "PLANT", Arity: 2, Run: run, Summary: "Be right"})))
	}
}
