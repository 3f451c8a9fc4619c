// Package commands holds what every command means: one family a file, one row
// and one function a command.
//
// A row (Command) says all that is known of a command before it runs; its
// function parses the arguments, reads or writes the keyspace through the one
// argument that its kind allows, and appends exactly one reply to a Reply. The
// table built from the rows is read-only after the program has started, and
// the functions keep no state of their own, so any number of goroutines may
// run them.
//
// A command that stores what it computes from other keys (SINTERSTORE, BITOP,
// RESTORE) is in two parts, OnStore: the first reads, aside and over frozen
// versions when that is much, and what it returns writes, in O(1).
//
// Besides the families the package owns what all of them share: the error
// texts a client can see (errors.go), how numbers are read and printed
// (number.go, float80.go) and the reply's encoding in both protocols
// (reply.go). It knows nothing of connections, goroutines or disk; clock and
// chance are handed in.
package commands
