//go:build !fault

package server

import "firn/commands"

// The build tag fault plants mistakes that the tests of whole histories must
// notice (fault_on.go). Without it these are the plain decisions.

func (s *session) repliesFirst(*commands.Call) bool { return false }

// tooLong says whether a command of this cost runs aside.
func tooLong(cost, from int) bool { return cost > from }
