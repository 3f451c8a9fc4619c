package integration

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/anishathalye/porcupine"
)

// never is the return time of an operation whose connection was lost.
const never = math.MaxInt64

// checkTimeout is how long the checker may think about one history.
const checkTimeout = 20 * time.Second

// A load says how a round of clients behaves. Each round has a database to
// itself, so that what a lost connection left behind disturbs nobody.
type load struct {
	clients  int
	ops      int // of one client in one round
	depth    int // commands sent with one write, at most
	leaving  int // a client leaves without its replies once in so many batches
	generate func(r *rand.Rand) call
	model    porcupine.Model
}

// databases is how many rounds a server gets before the first database is used
// again.
const databases = 256

// A violation is a history that the checker does not accept.
type violation struct {
	verdict porcupine.CheckResult
	model   porcupine.Model
	info    porcupine.LinearizationInfo
	round   int
}

func (v *violation) Error() string {
	return fmt.Sprintf("round %d: the checker says %s", v.round, v.verdict)
}

// run lets rounds of clients loose on a server until the time is over or the
// checker rejects a history, which it returns as a violation. It says how many
// operations were checked.
func (l *load) run(addr string, seed uint64, d time.Duration) (ops int, err error) {
	for round, end := 0, time.Now().Add(d); time.Now().Before(end); round++ {
		history, err := l.round(addr, seed, round)
		if err != nil {
			return ops, err
		}
		ops += len(history)
		verdict, info := porcupine.CheckOperationsVerbose(l.model, history, checkTimeout)
		if verdict != porcupine.Ok {
			return ops, &violation{verdict, l.model, info, round}
		}
	}
	return ops, nil
}

// round runs all clients once and returns their history.
func (l *load) round(addr string, seed uint64, round int) ([]porcupine.Operation, error) {
	db := round % databases
	w, err := openWire(addr, db)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	if _, err := w.do("FLUSHDB"); err != nil {
		return nil, err
	}
	histories := make([][]porcupine.Operation, l.clients)
	var ids atomic.Int64
	start := time.Now()
	err = together(l.clients, func(i int) error {
		c := &recorder{load: l, r: newRand(seed, round*1000+i), clock: func() int64 { return int64(time.Since(start)) }, ids: &ids}
		err := c.run(addr, db)
		histories[i] = c.history
		return err
	})
	var all []porcupine.Operation
	for _, h := range histories {
		all = append(all, h...)
	}
	return all, err
}

// A recorder is one client, which notes what it does.
type recorder struct {
	*load
	r       *rand.Rand
	clock   func() int64 // monotonic, the same for all
	ids     *atomic.Int64
	history []porcupine.Operation
}

// run sends the client's commands, over more than one connection if it leaves.
func (c *recorder) run(addr string, db int) error {
	for left := c.ops; left > 0; {
		w, err := openWire(addr, db)
		if err != nil {
			return err
		}
		// A client of the history has one open operation: each place in the
		// pipeline is one, and after a loss they are never used again.
		id := int(c.ids.Add(int64(c.depth))) - c.depth
		for stays := true; stays && left > 0; {
			n := min(1+c.r.IntN(c.depth), left)
			left -= n
			if stays, err = c.batch(w, id, n); err != nil {
				break
			}
		}
		_ = w.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// batch sends n commands and notes how each ended; it says whether the client
// has stayed for all replies.
func (c *recorder) batch(w *wire, id, n int) (stays bool, err error) {
	commands, lines := make([]call, n), [][]string(nil)
	for i := range commands {
		commands[i] = c.generate(c.r)
		lines = append(lines, commands[i].lines()...)
	}
	awaited := n
	if c.r.IntN(c.leaving) == 0 {
		awaited = c.r.IntN(n)
	}
	sent := c.clock()
	if err := w.send(lines); err != nil {
		return false, err
	}
	for i, args := range commands {
		op := porcupine.Operation{ClientId: id + i, Input: args, Call: sent, Output: result{unknown: true}, Return: never}
		if i < awaited {
			reply, err := args.read(w)
			if err != nil {
				return false, err
			}
			if slices.Contains([]string{"KEYS", "HGETALL", "SMEMBERS", "SUNION", "SDIFF"}, args[0]) {
				reply = sorted(reply)
			}
			op.Output, op.Return = result{reply: reply}, c.clock()
		} else if op.Input.(call).reads() {
			continue
		}
		c.history = append(c.history, op)
	}
	return awaited == n, nil
}
