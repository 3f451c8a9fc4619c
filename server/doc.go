// Package server takes connections, reads requests, runs commands in order and
// writes replies. It knows nothing of how a value is stored.
//
// # The way of a command
//
// A front end (loop_linux.go: an epoll loop for many plain sockets; conn.go: a
// goroutine for one TLS connection) feeds bytes to a session and writes what
// the session appends. session.go turns bytes into commands, batch.go reads a
// pipeline ahead and warms the caches for its keys; dispatch.go takes
// a command through lookup, permission, routing, execution, journal and reply,
// top to bottom; aside.go runs what is long on the heavy pool. In a transaction
// commands are kept instead (multi.go), and EXEC has inside.go run them all with
// everything held that they need (multi_exec.go); eval_run.go does the same for a
// script or function, whose interpreter is package script. A command that finds
// nothing to pop leaves its session waiting (blocking.go) until package shard
// serves it. pubsub.go carries messages and keyspace events to sessions, each at
// its home. The cmd_*.go files hold the rows whose commands touch the session or
// the server.
//
// # Ownership
//
//	what                          owner
//	session, its reader and reply  its home: the loop or goroutine that serves it
//	what others see of a session   atomics and a small lock in clientInfo
//	Server.cfg                     published whole through an atomic pointer
//	Server.clients                 a lock of its own
//	Server.functions               published whole through an atomic pointer
//
// Another goroutine that wants something of a session posts a function to its
// home.
package server
