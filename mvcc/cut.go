package mvcc

// A Cut gives frozen versions of the stores of one database to a reader of many
// keys. It belongs to one command; its holder releases it when the command is
// done.
type Cut interface {
	// Space is the keyspace that the versions are of.
	Space() *Space
	// Now is the instant by which expiry is judged, unix ms.
	Now() int64
	// Version returns the version of one store, frozen when first asked for.
	Version(store int) *Version
	// All returns the versions of all stores, frozen at one instant; it must
	// be the first call if it is made at all.
	All() []*Version
}
