// Package config holds everything about configuration as pure data: the table of options, their values, how they are read
// from a redis.conf, a command line or CONFIG SET, and how CONFIG REWRITE writes them back. It opens no file by itself
// (RewriteFile apart), logs nothing and keeps no global state.
//
// How to use it. Load gives the configuration a process starts with. A *Config that was published is never changed: CONFIG SET
// calls Set, which works on a copy and returns it together with the names that changed; the server puts the changes into effect
// (listens on the new port, switches the append-only file on) and publishes the copy, or drops it when that failed, so nothing
// has to be rolled back. The hot path reads plain fields: c.MaxMemory, c.ProtoMaxBulkLen.
//
// How it works. Each option is one row of a table: its names, its kind, its default, its bounds and where its value lies. Reading,
// printing, rewriting and checking follow from the row. A row without a field of its own keeps its value in Config.spare: it is an
// option that other servers have and that means nothing here. It is accepted, printed back, and named once in Loaded.Warnings
// with the reason when it is set to something other than its default.
//
// The error texts of CONFIG SET are Redis' own and live in errors.go of this package, because it imports nothing of firn but the splitter in resp.
//
// Deviations from redis-server 7.0.15: a size that does not fit into 64 bits is taken as the largest instead of
// wrapping around; maxmemory above 2^63-1 is kept as 2^63-1; the `n` of notify-keyspace-events survives next to `A`
// (as in 7.2); an error in the configuration names the file or says that it came from the command line, and all of them are
// reported, not only the first.
package config
