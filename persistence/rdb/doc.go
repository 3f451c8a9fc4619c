// Package rdb says in bytes what a value is, as RDB files and the payloads of
// DUMP do: bytes in, bytes out, no disk. What it writes is what redis-server 7.0
// loads (RDB 10); it reads what any Redis up to 7.4 wrote (RDB 1 to 12), but for
// the values of modules.
//
// Nothing that is read is trusted: every length is bounded by the bytes that are
// there, every part is checked to its end before the value is handed out, and a
// broken one is an *Error with its offset. Refused, as Redis does when it
// sanitizes, are also empty collections, members that come twice, scores that
// are no number, and stream entries or pending lists that contradict each other.
//
// # Members that expire
//
// RDB 10 has no word for them. A hash of which fields expire is written as
// Redis 7.4 does, as type 24 (HASH_METADATA, RDB 12): the earliest expiry in
// eight bytes (unix ms, low byte first), the number of fields, and for each its
// expiry (a length: 0 for never, else 1 + ms after the earliest), field, value.
// Sets and sorted sets have the same under types of our own, which every Redis
// refuses by the number alone and so can't misread:
//
//	0xC1  set:        earliest, count, and for each: expiry, member
//	0xC2  sorted set: earliest, count, and for each: expiry, member, score (binary)
//
// # Ownership
//
// An Encoder or Decoder belongs to one goroutine at a time.
package rdb
