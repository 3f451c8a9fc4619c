package server

import (
	"cmp"
	"slices"
	"sync"
	"sync/atomic"

	"firn/server/config"
)

// subscriptions are what one session is subscribed to. They change at the
// session's home, or aside while it waits for that.
type subscriptions struct {
	mu    sync.Mutex // the session may end while a transaction of it subscribes
	ended bool
	next  int64
	of    [topicKinds]map[string]int64 // names, and when they were added: in order
	count *[topicKinds]atomic.Int64    // their number, in the session's info
}

// shown is the number that an answer to a change of the kind tells: channels and
// patterns are counted together.
func (u *subscriptions) shown(kind topicKind) int64 {
	if kind == shardTopic {
		return u.count[shardTopic].Load()
	}
	return u.count[channelTopic].Load() + u.count[patternTopic].Load()
}

// add notes a name, and returns it as it is kept; false if it was there or the
// session has ended.
func (u *subscriptions) add(kind topicKind, name []byte) (kept string, fresh bool) {
	if _, has := u.of[kind][string(name)]; has || u.ended {
		return "", false
	}
	if u.of[kind] == nil {
		u.of[kind] = map[string]int64{}
	}
	kept = string(name)
	u.next++
	u.of[kind][kept] = u.next
	u.count[kind].Add(1)
	return kept, true
}

// remove forgets a name, and says whether it was there.
func (u *subscriptions) remove(kind topicKind, name string) bool {
	if _, has := u.of[kind][name]; !has {
		return false
	}
	delete(u.of[kind], name)
	u.count[kind].Add(-1)
	return true
}

// names are those of a kind, the oldest first unless they are many: Redis has no
// order among channels, and sorting would take its time.
func (u *subscriptions) names(kind topicKind) []string {
	all := make([]string, 0, len(u.of[kind]))
	for name := range u.of[kind] {
		all = append(all, name)
	}
	if len(all) > manyTopics {
		return all
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(u.of[kind][a], u.of[kind][b]) })
	return all
}

// leaveSome ends at most so many subscriptions of a session without a word, and
// says whether some are left. From anywhere.
func (s *session) leaveSome(n int, ended bool) (more bool) {
	u := &s.subs
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = u.ended || ended
	for kind := range topicKinds {
		for name := range u.of[kind] {
			if n == 0 {
				return true
			}
			n--
			u.remove(kind, name)
			s.srv.pubsub.unsubscribe(kind, name, s)
		}
	}
	return false
}

// leaveTopics ends the subscriptions of a session that is gone; others have their
// turn between some and some. From anywhere.
func (s *session) leaveTopics() {
	for s.leaveSome(manyTopics, true) {
		if s.home.later(s.leaveTopics) {
			return
		}
	}
}

// subscribed says whether the client is subscribed to anything. From anywhere.
func (i *clientInfo) subscribed() bool {
	for k := range i.topics {
		if i.topics[k].Load() > 0 {
			return true
		}
	}
	return false
}

// class is by which of the output limits the client goes. Redis takes a monitor
// for a normal client, whose output has no limit, and one that was forgotten
// takes all memory.
func (i *clientInfo) class() int {
	if i.subscribed() || i.monitor.Load() {
		return config.ClassPubSub
	}
	return config.ClassNormal
}
