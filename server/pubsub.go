package server

import (
	"hash/maphash"
	"slices"
	"sync"
	"sync/atomic"
)

// A pubsub knows who listens to what. It may be used from anywhere, also with
// shards held.
//
// How a message travels. PUBLISH finds the channel's topic in one of some
// stripes, and posts one letter to each home where subscribers live: the letter
// names them all and has the message, encoded once. The homes write it out. The
// home of the publisher gets its letter in the same way, and reads it before it
// ends its turn.
//
// What is promised. The stripe stays locked until the letters are posted, and a
// home reads its letters in the order in which they came. So all subscribers of
// a channel get its messages in one order, those of one publisher in his, and a
// message whose PUBLISH was answered before another's began comes before it,
// whatever the channels. Whoever subscribes writes the answer first and is
// registered after; whoever unsubscribes is taken out first, then reads the
// letters that are there, and answers last. A PUBLISH counts exactly those who
// get the message, unless they are gone before it reaches them.
//
// What was not done. Lists of subscribers that are replaced whole at each change
// (so that PUBLISH takes no lock at all) cost a copy a SUBSCRIBE and lose the one
// order; a stripe that nobody else is at costs 20 ns.
type pubsub struct {
	kinds    [2]topics // by channelTopic and shardTopic
	patterns patterns
	memory   atomic.Int64 // bytes that subscriptions take, about
}

// A topicKind says what a client subscribes to.
type topicKind int

const (
	channelTopic topicKind = iota
	shardTopic
	patternTopic
	topicKinds
)

const stripes = 128

// topics are the channels, of one kind, that have subscribers.
type topics struct {
	seed    maphash.Seed
	count   atomic.Int64
	stripes [stripes]stripe
}

type stripe struct {
	mu   sync.Mutex
	byID map[string]*topic
}

// A topic is a channel or a pattern with its subscribers.
type topic struct {
	name      string
	listeners int
	audiences []audience
}

// An audience is the subscribers of a topic at one home. Letters share the
// sessions: only what is behind their end may be written.
type audience struct {
	home     home
	sessions []*session
}

// add adds a subscriber.
func (t *topic) add(s *session) {
	t.listeners++
	for i := range t.audiences {
		if a := &t.audiences[i]; a.home == s.home {
			a.sessions = append(a.sessions, s)
			return
		}
	}
	t.audiences = append(t.audiences, audience{s.home, []*session{s}})
}

// remove takes a subscriber out, and says whether none is left.
func (t *topic) remove(s *session) (empty bool) {
	i := slices.IndexFunc(t.audiences, func(a audience) bool { return a.home == s.home })
	a := &t.audiences[i]
	at := slices.Index(a.sessions, s)
	t.listeners--
	if len(a.sessions) == 1 {
		t.audiences = slices.Delete(t.audiences, i, i+1)
		return len(t.audiences) == 0
	}
	a.sessions = append(slices.Clone(a.sessions[:at]), a.sessions[at+1:]...)
	return false
}

func newPubsub() *pubsub {
	p := &pubsub{patterns: newPatterns()}
	for k := range p.kinds {
		t := &p.kinds[k]
		t.seed = maphash.MakeSeed()
		for i := range t.stripes {
			t.stripes[i].byID = map[string]*topic{}
		}
	}
	return p
}

func (t *topics) stripe(name []byte) *stripe {
	return &t.stripes[maphash.Bytes(t.seed, name)%stripes]
}

// subscriptionSize is about what a subscription takes besides its name.
const subscriptionSize = 200

// subscribe registers a session that is not subscribed yet.
func (p *pubsub) subscribe(kind topicKind, name string, s *session) {
	p.memory.Add(int64(len(name)) + subscriptionSize)
	if kind == patternTopic {
		p.patterns.add(name, s)
		return
	}
	t := &p.kinds[kind]
	st := t.stripe([]byte(name))
	st.mu.Lock()
	defer st.mu.Unlock()
	to := st.byID[name]
	if to == nil {
		to = &topic{name: name}
		st.byID[name] = to
		t.count.Add(1)
	}
	to.add(s)
}

// unsubscribe takes a session out that is subscribed.
func (p *pubsub) unsubscribe(kind topicKind, name string, s *session) {
	p.memory.Add(-int64(len(name)) - subscriptionSize)
	if kind == patternTopic {
		p.patterns.remove(name, s)
		return
	}
	t := &p.kinds[kind]
	st := t.stripe([]byte(name))
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.byID[name].remove(s) {
		delete(st.byID, name)
		t.count.Add(-1)
	}
}

// quiet says whether nobody would get a message of any channel.
func (p *pubsub) quiet() bool {
	return p.kinds[channelTopic].count.Load() == 0 && p.patterns.count.Load() == 0
}

// publish sends a message to the subscribers of a channel and, unless it is a
// shard's, of the patterns that match it. It returns how many they are, and a
// home that has more to deliver than is good, if there is one. The arguments are
// copied.
func (p *pubsub) publish(kind topicKind, channel, message []byte) (n int, busy home) {
	t := &p.kinds[kind]
	matching := kind == channelTopic && p.patterns.count.Load() > 0
	if !matching && t.count.Load() == 0 {
		return 0, nil
	}
	m := mailing{kind: kind, channel: channel, message: message}
	st := t.stripe(channel)
	st.mu.Lock()
	defer st.mu.Unlock()
	if to := st.byID[string(channel)]; to != nil {
		m.send(to, false)
	}
	if matching {
		p.patterns.mu.RLock()
		defer p.patterns.mu.RUnlock()
		p.patterns.match(channel, func(to *topic) { m.send(to, true) })
	}
	return m.sent, m.busy
}

// listeners is how many subscribers a channel has.
func (p *pubsub) listeners(kind topicKind, channel []byte) int {
	st := p.kinds[kind].stripe(channel)
	st.mu.Lock()
	defer st.mu.Unlock()
	if to := st.byID[string(channel)]; to != nil {
		return to.listeners
	}
	return 0
}

// each calls yield with the names of all channels of a kind, one stripe after
// the other: each stripe is as it is at an instant of its own.
func (p *pubsub) each(kind topicKind, yield func(name string)) {
	var names []string
	for i := range p.kinds[kind].stripes {
		st := &p.kinds[kind].stripes[i]
		st.mu.Lock()
		for name := range st.byID {
			names = append(names, name)
		}
		st.mu.Unlock()
		for _, name := range names {
			yield(name)
		}
		names = names[:0]
	}
}

// A mailing is the posting of one message.
type mailing struct {
	kind             topicKind
	channel, message []byte
	body             []byte // the message as it ends the letter, shared by all
	sent             int
	busy             home
}

// send posts the message to the subscribers of a topic.
func (m *mailing) send(to *topic, byPattern bool) {
	l := letter{parts: 3}
	switch {
	case byPattern:
		l.parts = 4
		l.head = appendBulk(appendBulk(nil, "pmessage"), to.name)
	case m.kind == shardTopic:
		l.head = appendBulk(nil, "smessage")
	default:
		l.head = appendBulk(nil, "message")
	}
	if m.body == nil {
		m.body = appendBulk(nil, m.message)
	}
	l.head, l.body = appendBulk(l.head, m.channel), m.body
	for i := range to.audiences {
		a := &to.audiences[i]
		l.to = a.sessions
		m.sent += len(a.sessions)
		if a.home.mail(l) {
			m.busy = a.home
		}
	}
}
