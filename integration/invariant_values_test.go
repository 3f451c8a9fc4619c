package integration

import (
	"fmt"
	"strconv"
)

const (
	bigSets    = 4
	setMembers = 3000 // of all sets together: union and difference of them run aside
	setMovers  = 2
)

// moved: members go from one big set to another by SMOVE, and never are in two
// or in none; who counts them with one command, in place, aside or by a stored
// result, finds each once.
func moved(addr string) *party {
	p := &party{addr: addr}
	sets := names("big:", bigSets)
	member := func(i int) string { return fmt.Sprint("member:", i) }
	p.before = func(w *wire) error {
		for n := range bigSets {
			line := []string{"SADD", sets[n]}
			for i := n; i < setMembers; i += bigSets {
				line = append(line, member(i))
			}
			if err := w.expect(fmt.Sprint(":", setMembers/bigSets), line...); err != nil {
				return err
			}
		}
		return nil
	}
	for m := range setMovers {
		n := 0
		p.add(func(w *wire) error { // each has members of its own, so it knows where they are
			i, round := (n*setMovers+m)%setMembers, (n*setMovers+m)/setMembers
			n++
			from, to := sets[(i+round)%bigSets], sets[(i+round+1)%bigSets]
			return w.expect(":1", "SMOVE", from, to, member(i))
		})
	}
	all := strconv.Itoa(setMembers)
	p.add(func(w *wire) error {
		reply, err := w.do(with("SUNION", sets...)...)
		if n := len(elements(reply)); err == nil && n != setMembers {
			err = broken("SUNION sees %d members", n)
		}
		return err
	})
	p.add(func(w *wire) error { return w.expect(":0", "SINTERCARD", "2", sets[0], sets[1]) })
	p.add(func(w *wire) error {
		if err := w.expect(":"+all, with("SUNIONSTORE", append([]string{"union"}, sets...)...)...); err != nil {
			return err
		}
		if err := w.expect(":"+all, "SCARD", "union"); err != nil {
			return err
		}
		return w.expect("[]", with("SDIFF", append(sets[:1:1], sets...)...)...)
	})
	p.add(func(w *wire) error {
		if err := w.expect(":0", "SINTERSTORE", "both", sets[2], sets[3]); err != nil {
			return err
		}
		return w.expect(":"+all, with("ZUNIONSTORE", append([]string{"ranked", strconv.Itoa(bigSets)}, sets...)...)...)
	})
	return p
}
