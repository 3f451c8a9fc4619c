package server

import "firn/commands"

// clusterCommands answer as a Redis does that was started without cluster mode:
// that answer is how clients find out.
var clusterCommands = []commands.Command{
	{Name: "CLUSTER", Arity: -2, Summary: "A container for cluster commands", Subs: []commands.Command{
		{Name: "ADDSLOTS", Arity: -3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Assign new hash slots to receiving node"},
		{Name: "ADDSLOTSRANGE", Arity: -4, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Assign new hash slots to receiving node"},
		{Name: "BUMPEPOCH", Arity: 2, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Advance the cluster config epoch"},
		{Name: "COUNT-FAILURE-REPORTS", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Return the number of failure reports active for a given node"},
		{Name: "COUNTKEYSINSLOT", Arity: 3, Run: onSession(noCluster), Summary: "Return the number of local keys in the specified hash slot"},
		{Name: "DELSLOTS", Arity: -3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Set hash slots as unbound in receiving node"},
		{Name: "DELSLOTSRANGE", Arity: -4, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Set hash slots as unbound in receiving node"},
		{Name: "FAILOVER", Arity: -2, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Forces a replica to perform a manual failover of its master."},
		{Name: "FLUSHSLOTS", Arity: 2, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Delete a node's own slots information"},
		{Name: "FORGET", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Remove a node from the nodes table"},
		{Name: "GETKEYSINSLOT", Arity: 4, Run: onSession(noCluster), Summary: "Return local key names in the specified hash slot"},
		{Name: "HELP", Arity: 2, Run: onSession(noCluster), Flags: commands.Loading, Summary: "Show helpful text about the different subcommands"},
		{Name: "INFO", Arity: 2, Run: onSession(noCluster), Summary: "Provides info about Redis Cluster node state"},
		{Name: "KEYSLOT", Arity: 3, Run: onSession(noCluster), Summary: "Returns the hash slot of the specified key"},
		{Name: "LINKS", Arity: 2, Run: onSession(noCluster), Summary: "Returns a list of all TCP links to and from peer nodes in cluster"},
		{Name: "MEET", Arity: -4, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Force a node cluster to handshake with another node"},
		{Name: "MYID", Arity: 2, Run: onSession(noCluster), Summary: "Return the node id"},
		{Name: "NODES", Arity: 2, Run: onSession(noCluster), Summary: "Get Cluster config for the node"},
		{Name: "REPLICAS", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "List replica nodes of the specified master node"},
		{Name: "REPLICATE", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Reconfigure a node as a replica of the specified master node"},
		{Name: "RESET", Arity: -2, Run: onSession(noCluster), Flags: commands.Admin | commands.NoScript, Summary: "Reset a Redis Cluster node"},
		{Name: "SAVECONFIG", Arity: 2, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Forces the node to save cluster state on disk"},
		{Name: "SET-CONFIG-EPOCH", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Set the configuration epoch in a new node"},
		{Name: "SETSLOT", Arity: -4, Run: onSession(noCluster), Flags: commands.Admin, Summary: "Bind a hash slot to a specific node"},
		{Name: "SHARDS", Arity: 2, Run: onSession(noCluster), Summary: "Get array of cluster slots to node mappings"},
		{Name: "SLAVES", Arity: 3, Run: onSession(noCluster), Flags: commands.Admin, Summary: "List replica nodes of the specified master node"},
		{Name: "SLOTS", Arity: 2, Run: onSession(noCluster), Summary: "Get array of Cluster slot to node mappings"},
	}},
	{Name: "READONLY", Arity: 1, Run: onSession(noCluster), Flags: commands.Loading, Summary: "Enables read queries for a connection to a cluster replica node"},
	{Name: "READWRITE", Arity: 1, Run: onSession(noCluster), Flags: commands.Loading, Summary: "Disables read queries for a connection to a cluster replica node"},
	{Name: "ASKING", Arity: 1, Run: onSession(noCluster), Summary: "Sent by cluster clients after an -ASK redirect"},
}

func noCluster(*commands.Call, *session) error { return commands.ErrClusterOff }
