//go:build fault

package shard

import (
	"os"
	"sync"
	"time"

	"firn/mvcc"
)

// planted names the mistake that this process makes:
//
//	stale-version  a freeze hands out what an earlier one has frozen
//	torn-cut       several shards are frozen one after the other
//	no-splice      freezes see a long write that is under way
//	no-lock        commands on the keys of a long write or a store don't wait for it
var planted = os.Getenv("FIRN_FAULT")

// staleUses is how many freezes get the same version.
const staleUses = 4

// tearing is how long the shards go on changing in the middle of a torn cut.
const tearing = 300 * time.Microsecond

// staleVersions keeps what freezes to come will get, by shard and database.
type staleVersions struct {
	mu sync.Mutex
	of map[staleKey][]*mvcc.Version
}

type staleKey struct {
	shard *Shard
	db    int
}

var stale = &staleVersions{of: map[staleKey][]*mvcc.Version{}}

// freeze is called with the shard held.
func (sh *Shard) freeze(db int) *mvcc.Version {
	if planted != "stale-version" {
		return sh.store.Freeze(db)
	}
	return stale.take(staleKey{sh, db})
}

func (s *staleVersions) take(k staleKey) *mvcc.Version {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.of[k]) == 0 {
		for range staleUses {
			s.of[k] = append(s.of[k], k.shard.store.Freeze(k.db)) // a pin for each use
		}
	}
	v := s.of[k][0]
	s.of[k] = s.of[k][1:]
	return v
}

// torn freezes shard by shard, so that what moves from one to another meanwhile
// is seen twice or never.
func (c *Cut) torn() bool {
	if planted != "torn-cut" {
		return false
	}
	for i := range c.versions {
		c.Version(i)
		time.Sleep(tearing / time.Duration(len(c.versions)))
	}
	return true
}

// torn does the same for the shards that are held.
func (h *Hold) torn(c *Cut) bool {
	if planted != "torn-cut" || len(h.held) < 2 {
		return false
	}
	h.each((*sync.Mutex).Unlock)
	for _, i := range h.held {
		c.Version(i)
		time.Sleep(tearing / time.Duration(len(h.held)))
	}
	h.each((*sync.Mutex).Lock)
	return true
}

func (h *Hold) each(do func(*sync.Mutex)) {
	for _, i := range h.held {
		do(&h.set.shards[i].mu)
	}
}

func (sh *Shard) addLock(l *Lock) {
	if planted != "no-lock" {
		sh.locks = append(sh.locks, l)
	}
}

func (sh *Shard) splice(l *Lock, dbs []int) {
	sh.addLock(l)
	for _, db := range dbs {
		if planted != "no-splice" {
			sh.store.BeginSplice(db)
		}
	}
}
