package server

import "firn/commands"

// onSession is the handler of a row that touches the session or the server. It
// runs at the session's home with no shard held.
type onSession func(c *commands.Call, s *session) error

// Kind says KindServer.
func (onSession) Kind() commands.Kind { return commands.KindServer }

// families are the rows of this package.
func families() [][]commands.Command {
	return [][]commands.Command{connectionCommands, aclCommands, clientCommands, configCommands, infoCommands, memoryCommands, adminCommands, clusterCommands, debugCommands, slowlogCommands, latencyCommands, pubsubCommands, monitorCommands, transactionCommands, functionCommands, functionCallCommands, evalCommands}
}
