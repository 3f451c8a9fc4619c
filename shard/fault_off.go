//go:build !fault

package shard

import "firn/mvcc"

// The build tag fault plants mistakes that the tests of whole histories must
// notice (fault_on.go). Without it these are the plain operations.

func (sh *Shard) freeze(db int) *mvcc.Version { return sh.store.Freeze(db) }

func (c *Cut) torn() bool { return false }

func (h *Hold) torn(*Cut) bool { return false }

func (sh *Shard) addLock(l *Lock) { sh.locks = append(sh.locks, l) }

func (sh *Shard) splice(l *Lock, dbs []int) {
	sh.addLock(l)
	for _, db := range dbs {
		sh.store.BeginSplice(db)
	}
}
