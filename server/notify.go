package server

import (
	"strconv"

	"firn/commands"
	"firn/mvcc"
	"firn/server/config"
)

// Keyspace notifications are messages about what happened to keys. They are
// published while the shards of the key are held, so that those about one key
// come in the order in which things happened to it.

// wantEvents says whether anybody listens to keyspace events.
func (srv *Server) wantEvents() bool {
	return srv.config().NotifyKeyspaceEvents != 0 && !srv.pubsub.quiet()
}

// listenTo makes a command that wants events record those that only the keyspace
// sees: lookups that miss, and keys that are new.
func (srv *Server) listenTo(c *commands.Call, v *mvcc.View) {
	if !c.WantEvents {
		return
	}
	want := srv.config().NotifyKeyspaceEvents
	if want&config.EventKeyMiss != 0 {
		v.Missed = func(key []byte) { c.Notify('m', "keymiss", key) }
	}
	if want&config.EventNew != 0 {
		v.Created = func(db int, key []byte) { c.NotifyIn(db, 'n', "new", key) }
	}
}

// published hands the events of a command on to whoever listens, and returns a
// home that is behind with delivering, if there is one.
func (srv *Server) published(c *commands.Call) (busy home) {
	for _, e := range c.Events() {
		if b := srv.notify(e.Class, e.Name, e.DB, e.Key); b != nil {
			busy = b
		}
	}
	return busy
}

// announce tells of what a command of the session found expired, and then of
// what it did.
func (s *session) announce(c *commands.Call, gone []mvcc.Removed) {
	s.srv.expired(gone)
	if busy := s.srv.published(c); busy != nil && s.atHome() {
		s.giveWay(busy)
	}
}

// expired tells whoever listens of keys, and members, that have expired.
func (srv *Server) expired(gone []mvcc.Removed) {
	if len(gone) == 0 || !srv.wantEvents() {
		return
	}
	for i := range gone {
		switch r := &gone[i]; {
		case r.Member == nil:
			srv.notify('x', "expired", r.DB, r.Key)
		case r.Type == mvcc.Hash:
			srv.notify('h', "hexpired", r.DB, r.Key)
		}
	}
}

// evicted tells whoever listens of a key that had to go for maxmemory.
func (srv *Server) evicted(db int, key []byte) {
	if srv.wantEvents() {
		srv.notify('e', "evicted", db, key)
	}
}

// notify publishes an event, if its class is wanted: to those who listen to the
// key, then to those who listen to the event.
func (srv *Server) notify(class byte, event string, db int, key []byte) (busy home) {
	want := srv.config().NotifyKeyspaceEvents
	if want&config.EventOf(class) == 0 {
		return nil
	}
	if want&config.EventKeyspace != 0 {
		_, busy = srv.pubsub.publish(channelTopic, append(eventChannel("__keyspace@", db), key...), []byte(event))
	}
	if want&config.EventKeyevent != 0 {
		if _, b := srv.pubsub.publish(channelTopic, append(eventChannel("__keyevent@", db), event...), key); b != nil {
			busy = b
		}
	}
	return busy
}

// eventChannel is the beginning of the name of a channel for events.
func eventChannel(kind string, db int) []byte {
	b := make([]byte, 0, 64)
	b = append(b, kind...)
	b = strconv.AppendInt(b, int64(db), 10)
	return append(b, "__:"...)
}
