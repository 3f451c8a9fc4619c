// Package integration tests Firn from outside: the house rules over its
// source, and the built server under real clients (clients/), under other
// projects' suites (suites/), under crashes and under a checker of histories.
//
// # Histories
//
// linear_test.go records what clients asked, when, and what they were told, and
// asks a checker (porcupine) whether one order explains all of it: for each key
// alone, and for the whole keyspace with KEYS, DBSIZE and MGET among the
// commands. invariant_test.go has longer runs in which every reader knows what
// it must see. metamorphic_test.go wants the same replies from every number of
// shards, loops and threads. All three must find the mistakes that the build tag
// fault plants in a server; BUGS.md tells what they have found besides.
//
//	-seed N              repeat what was generated (not the timing)
//	FIRN_TEST_TIME=1h    how long each run goes on
//	FIRN_RACE=1          build the servers with -race
//
// Nothing imports it. A test that can fail for its reason in a package of its
// own belongs there, not here.
package integration
