package commands

import "firn/mvcc"

func zunionstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeAlgebra(c, v, opUnion, "zunionstore")
}

func zinterstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeAlgebra(c, v, opInter, "zinterstore")
}

func zdiffstore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	return storeAlgebra(c, v, opDiff, "zdiffstore")
}

func storeAlgebra(c *Call, v *mvcc.View, op setOp, event string) (func(*mvcc.Tx) error, error) {
	a := zalgebra{op: op, store: true}
	if err := a.parse(c, v, 2); err != nil {
		return nil, err
	}
	b := mvcc.NewZSetBuilder(v.Space(), false)
	a.run(c, func(member []byte, score float64) bool {
		b.Add(member, score+0) // -0 becomes 0, as it does in Redis' compact results
		return true
	})
	return storeZSet(c, b.Finish(c.Pause), event), nil
}

// zrangestore is ZRANGE with its result under the key that stands first.
func zrangestore(c *Call, v *mvcc.View) (func(*mvcc.Tx) error, error) {
	r, err := parseZrange(c, storedRange)
	if err != nil {
		return nil, err
	}
	z, ok, err := readZSet(v, c.Args[2])
	if err != nil {
		return nil, err
	}
	b := mvcc.NewZSetBuilder(v.Space(), true)
	if ok {
		c.ByResult = c.ByResult || z.HasExpiries()
		lo, hi := r.ranks(&z)
		i := 0
		eachRank(&z, lo, hi, false, func(member []byte, score float64) {
			b.Add(member, score+0)
			c.pauseAt(i)
			i++
		})
	}
	return storeZSet(c, b.Finish(c.Pause), "zrangestore"), nil
}

var storedRange = zrangeForm{at: 2, store: true}

func zrangestoreCost(c *Call, v *mvcc.View) int {
	return spanCost(v, c.Args[2], func() (zspan, bool) {
		r, err := parseZrange(c, storedRange)
		return r.zspan, err == nil
	})
}

// storeZSet puts a result under the command's first key, and replies its size.
func storeZSet(c *Call, w *mvcc.ZSetWriter, event string) func(*mvcc.Tx) error {
	key, n := c.Args[1], int64(w.Len())
	if n == 0 {
		return deleteDest(c, key)
	}
	if c.ByResult {
		tellZSet(c, key, w.Value())
	}
	return func(tx *mvcc.Tx) error {
		tx.Expire(key)
		tx.PutValue(key, w, 0)
		c.Notify('z', event, key)
		c.Out.Int(n)
		return nil
	}
}

// toldAtOnce is how many elements one effect may carry.
const toldAtOnce = 512

// tellZSet makes the sorted set the command's effects.
func tellZSet(c *Call, key []byte, z mvcc.ZSetValue) {
	c.Propagate([]byte("DEL"), key)
	var args [][]byte
	i := 0
	z.Ascend(0, func(member []byte, score float64) bool {
		c.pauseAt(i)
		i++
		if args == nil {
			args = append(args, []byte("ZADD"), key)
		}
		args = append(args, AppendDouble(nil, score), member)
		if len(args) > 2*toldAtOnce {
			c.Propagate(args...)
			args = nil
		}
		return true
	})
	if args != nil {
		c.Propagate(args...)
	}
}
