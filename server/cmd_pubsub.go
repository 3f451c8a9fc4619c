package server

import (
	"slices"

	"firn/commands"
	"firn/scan"
)

const (
	pubsubFlags    = commands.PubSub | commands.Loading
	subscribeFlags = pubsubFlags | commands.NoScript
)

var pubsubCommands = []commands.Command{
	{Name: "PUBLISH", Arity: 3, Run: publishing(channelTopic), Flags: pubsubFlags, Summary: "Post a message to a channel"},
	{Name: "SPUBLISH", Arity: 3, Run: publishing(shardTopic), Flags: pubsubFlags, Summary: "Post a message to a shard channel"},
	{Name: "SUBSCRIBE", Arity: -2, Run: subscribing(channelTopic, "subscribe"), Flags: subscribeFlags, Summary: "Listen for messages published to the given channels"},
	{Name: "PSUBSCRIBE", Arity: -2, Run: subscribing(patternTopic, "psubscribe"), Flags: subscribeFlags, Summary: "Listen for messages published to channels matching the given patterns"},
	{Name: "SSUBSCRIBE", Arity: -2, Run: subscribing(shardTopic, "ssubscribe"), Flags: subscribeFlags, Summary: "Listen for messages published to the given shard channels"},
	{Name: "UNSUBSCRIBE", Arity: -1, Run: unsubscribing(channelTopic, "unsubscribe"), Flags: subscribeFlags, Summary: "Stop listening for messages posted to the given channels"},
	{Name: "PUNSUBSCRIBE", Arity: -1, Run: unsubscribing(patternTopic, "punsubscribe"), Flags: subscribeFlags, Summary: "Stop listening for messages posted to channels matching the given patterns"},
	{Name: "SUNSUBSCRIBE", Arity: -1, Run: unsubscribing(shardTopic, "sunsubscribe"), Flags: subscribeFlags, Summary: "Stop listening for messages posted to the given shard channels"},
	{Name: "PUBSUB", Arity: -2, Summary: "A container for Pub/Sub commands", Subs: []commands.Command{
		{Name: "CHANNELS", Arity: -2, Run: listing(channelTopic), Flags: pubsubFlags, Summary: "List active channels"},
		{Name: "NUMSUB", Arity: -2, Run: counting(channelTopic), Flags: pubsubFlags, Summary: "Get the count of subscribers for channels"},
		{Name: "NUMPAT", Arity: 2, Run: onSession(pubsubNumPat), Flags: pubsubFlags, Summary: "Get the count of unique patterns pattern subscriptions"},
		{Name: "SHARDCHANNELS", Arity: -2, Run: listing(shardTopic), Flags: pubsubFlags, Summary: "List active shard channels"},
		{Name: "SHARDNUMSUB", Arity: -2, Run: counting(shardTopic), Flags: pubsubFlags, Summary: "Get the count of subscribers for shard channels"},
		{Name: "HELP", Arity: 2, Run: onSession(pubsubHelp), Flags: helpFlags, Summary: "Show helpful text about the different subcommands"},
	}},
}

// publishing is the handler that sends a message to a kind of channel.
func publishing(kind topicKind) onSession {
	return func(c *commands.Call, s *session) error {
		n, busy := s.srv.pubsub.publish(kind, c.Args[1], c.Args[2])
		if s.atHome() {
			s.giveWay(busy)
			if s.subs.next > 0 && s.reply == replyOn {
				s.home.readMail() // its own messages come before the answer
			}
		}
		c.Out.Int(int64(n))
		return nil
	}
}

// giveWay makes the session wait before its next command if a home, which may
// be its own, is behind with delivering.
func (s *session) giveWay(busy home) {
	if busy == nil {
		return
	}
	s.spent += turn + 1
	if busy != s.home {
		s.behind = busy
	}
}

// atHome says whether the present command runs at the session's home, and not
// within a transaction.
func (s *session) atHome() bool { return s.flow == nil && s.nest.hold == nil }

// subscribing is the handler that subscribes to a kind of topic.
func subscribing(kind topicKind, verb string) onSession {
	return func(c *commands.Call, s *session) error {
		if kind == shardTopic && !s.atHome() {
			return commands.ErrSubscribeBlocking("SSUBSCRIBE")
		}
		s.change(c, c.Args[1:], func(name []byte) { s.subscribe(c.Out, kind, verb, name) })
		return nil
	}
}

// unsubscribing is the handler that ends subscriptions of a kind, all of them if
// none is named.
func unsubscribing(kind topicKind, verb string) onSession {
	return func(c *commands.Call, s *session) error {
		s.change(c, s.leaving(kind, c.Args[1:]), func(name []byte) { s.unsubscribe(c.Out, kind, verb, name) })
		return nil
	}
}

// manyTopics is how many subscriptions change at a home at once.
const manyTopics = 500

// change changes subscriptions by their names; if they are many, others have
// their turn between some and some. The client gets its answers even if it wants
// no replies: they are messages. (Not on the heavy pool: its threads come last,
// and one that has a stripe would hold up those who publish.)
func (s *session) change(c *commands.Call, names [][]byte, do func(name []byte)) {
	if len(names) <= manyTopics || !s.atHome() {
		s.unasked = s.unasked || s.atHome()
		for _, name := range names {
			do(name)
		}
		return
	}
	call := s.call
	s.waiting = true
	s.changeSome(&call, names, do, 0)
}

// changeSome changes the next subscriptions of a command, which has taken so many
// nanoseconds.
func (s *session) changeSome(c *commands.Call, names [][]byte, do func(name []byte), spent int64) {
	if s.closed {
		return
	}
	began := s.srv.monotonic()
	n := min(len(names), manyTopics)
	for _, name := range names[:n] {
		do(name)
	}
	s.peer.flush()
	spent += s.srv.monotonic() - began
	if n < len(names) {
		s.home.post(func() { s.changeSome(c, names[n:], do, spent) })
		return
	}
	s.waiting, s.unasked = false, true
	s.finish(c, s.srv.monotonic()-spent, s.out.Mark(), nil)
	s.goOn()
}

// subscribe subscribes to one topic. The answer is there before the first
// message can be.
func (s *session) subscribe(out *commands.Reply, kind topicKind, verb string, name []byte) {
	u := &s.subs
	u.mu.Lock()
	defer u.mu.Unlock()
	kept, fresh := u.add(kind, name)
	answerTopic(out, verb, name, u.shown(kind))
	if fresh {
		s.srv.pubsub.subscribe(kind, kept, s)
	}
}

// unsubscribe ends one subscription; nil stands for none. The messages that have
// been sent by then come before the answer.
func (s *session) unsubscribe(out *commands.Reply, kind topicKind, verb string, name []byte) {
	u := &s.subs
	u.mu.Lock()
	was := u.remove(kind, string(name))
	if was {
		s.srv.pubsub.unsubscribe(kind, string(name), s)
	}
	n := u.shown(kind)
	u.mu.Unlock()
	if was && s.atHome() {
		s.home.readMail()
	}
	answerTopic(out, verb, name, n)
}

// leaving is what an unsubscription names: all topics of the kind if it names
// none, and nil if there are none.
func (s *session) leaving(kind topicKind, named [][]byte) [][]byte {
	if len(named) > 0 {
		return named
	}
	s.subs.mu.Lock()
	defer s.subs.mu.Unlock()
	for _, name := range s.subs.names(kind) {
		named = append(named, []byte(name))
	}
	if len(named) == 0 {
		return [][]byte{nil}
	}
	return named
}

func answerTopic(out *commands.Reply, verb string, name []byte, n int64) {
	out.Push(3)
	out.BulkString(verb)
	if name == nil {
		out.Null()
	} else {
		out.Bulk(name)
	}
	out.Int(n)
}

// whileSubscribed is what a RESP2 client may send that is subscribed: to others
// it could not tell the reply from a message.
var whileSubscribed = []string{"ping", "subscribe", "ssubscribe", "psubscribe", "unsubscribe", "sunsubscribe", "punsubscribe", "quit", "reset"}

// permitSubscriber says whether a client that is, or was, subscribed may run the
// row now.
func (s *session) permitSubscriber(row *commands.Command) error {
	s.call.Subscribed = s.info.subscribed()
	if s.call.Subscribed && s.out.Proto() == commands.RESP2 && !slices.Contains(whileSubscribed, row.FullName()) {
		return commands.ErrPubSubOnly(row.FullName())
	}
	return nil
}

// listing is the handler that names the channels of a kind that have
// subscribers. They may be many: they are looked through aside.
func listing(kind topicKind) onSession {
	return func(c *commands.Call, s *session) error {
		if len(c.Args) > 3 {
			return subcommandSyntax(c)
		}
		list := func(c *commands.Call) error {
			s.srv.pubsub.list(c, kind)
			return nil
		}
		if s.srv.pubsub.kinds[kind].count.Load() < manyTopics || !s.atHome() {
			return list(c)
		}
		s.aside(list)
		return nil
	}
}

// list answers with the channels of a kind that match the pattern in the third
// argument, if there is one.
func (p *pubsub) list(c *commands.Call, kind topicKind) {
	matches := func(string) bool { return true }
	if len(c.Args) == 3 {
		matches = scan.Compile(c.Args[2]).MatchString
	}
	var names []string
	p.each(kind, func(name string) {
		if matches(name) {
			names = append(names, name)
		}
	})
	c.Out.Array(len(names))
	for _, name := range names {
		c.Out.BulkString(name)
		c.Out.Spill()
	}
}

// counting is the handler that tells how many subscribers each channel has.
func counting(kind topicKind) onSession {
	return func(c *commands.Call, s *session) error {
		c.Out.Array(2 * (len(c.Args) - 2))
		for _, name := range c.Args[2:] {
			c.Out.Bulk(name)
			c.Out.Int(int64(s.srv.pubsub.listeners(kind, name)))
		}
		return nil
	}
}

func pubsubNumPat(c *commands.Call, s *session) error {
	c.Out.Int(s.srv.pubsub.patterns.count.Load())
	return nil
}

func pubsubHelp(c *commands.Call, _ *session) error {
	c.Out.Help("PUBSUB",
		"CHANNELS [<pattern>]",
		"    Return the currently active channels matching a <pattern> (default: '*').",
		"NUMPAT",
		"    Return number of subscriptions to patterns.",
		"NUMSUB [<channel> ...]",
		"    Return the number of subscribers for the specified channels, excluding",
		"    pattern subscriptions(default: no channels).",
		"SHARDCHANNELS [<pattern>]",
		"    Return the currently active shard level channels matching a <pattern> (default: '*').",
		"SHARDNUMSUB [<shardchannel> ...]",
		"    Return the number of subscribers for the specified shard level channel(s)",
	)
	return nil
}
