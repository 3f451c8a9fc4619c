// Package integration tests Firn from outside: the house rules over its
// source, and the built server under real clients (clients/), under other
// projects' suites (suites/), under crashes and under a checker of histories.
//
// Nothing imports it. A test that can fail for its reason in a package of its
// own belongs there, not here.
package integration
