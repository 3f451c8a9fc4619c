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

// names are those of a kind, the oldest first.
func (u *subscriptions) names(kind topicKind) []string {
	all := make([]string, 0, len(u.of[kind]))
	for name := range u.of[kind] {
		all = append(all, name)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Compare(u.of[kind][a], u.of[kind][b]) })
	return all
}

// leaveTopics ends all subscriptions of a session without a word. From anywhere.
func (s *session) leaveTopics(ended bool) {
	u := &s.subs
	u.mu.Lock()
	defer u.mu.Unlock()
	u.ended = u.ended || ended
	for kind := range topicKinds {
		for name := range u.of[kind] {
			s.srv.pubsub.unsubscribe(kind, name, s)
		}
		u.of[kind] = nil
		u.count[kind].Store(0)
	}
}

// leaveTopicsSoon is leaveTopics for a session that is gone: many subscriptions
// end aside.
func (s *session) leaveTopicsSoon() {
	n := int64(0)
	for k := range s.subs.count {
		n += s.subs.count[k].Load()
	}
	if n < manyTopics || !s.srv.shards.Heavy.Go(func() { s.leaveTopics(true) }) {
		s.leaveTopics(true)
	}
}

// manyTopics is how many subscriptions may change at a session's home at once.
const manyTopics = 500

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
