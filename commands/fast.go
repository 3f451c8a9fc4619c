package commands

// Fast says whether the reference calls the command fast: its time does not
// depend on how much data there is (the flag "fast" of COMMAND INFO).
func (r *Command) Fast() bool { return r.page().has("fast") }
