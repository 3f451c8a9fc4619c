//go:build !invariants

package mvcc

// spareFrom is the number of entries of a ptree from which it keeps spare pages,
// which are a tenth of all its pages then.
const spareFrom = 1 << 14

// reuseFrom is the number of nodes that are retired between two sweeps of an index.
const reuseFrom = 16

func scrap([]byte) {}

func scrapLeaf(*leaf) {}

func (v *Version) seal() {}

func (v *Version) verify() {}
