package commands

// replyInfo appends what COMMAND INFO says of a row. Lists without order are
// sets, except where Redis makes them arrays.
func replyInfo(out *Reply, r *Command) {
	p := r.page()
	out.Array(10)
	out.BulkString(r.full)
	out.Int(int64(p.Arity))
	replyFlags(out, p.Flags)
	for _, n := range p.Keys {
		out.Int(int64(n))
	}
	out.Set(len(p.Categories))
	for _, c := range p.Categories {
		out.Simple("@" + c)
	}
	out.Set(len(p.Tips))
	for _, tip := range p.Tips {
		out.BulkString(tip)
	}
	out.Set(len(p.KeySpecs))
	for i := range p.KeySpecs {
		p.KeySpecs[i].reply(out)
	}
	replySubs(out, r)
}

func replyFlags(out *Reply, flags []string) {
	out.Set(len(flags))
	for _, f := range flags {
		out.Simple(f)
	}
}

func replySubs(out *Reply, r *Command) {
	subs := subRows(r)
	if len(subs) == 0 {
		out.Set(0)
		return
	}
	out.Array(len(subs))
	for _, sub := range subs {
		replyInfo(out, sub)
	}
}

func (s *keySpec) reply(out *Reply) {
	fields := 3
	if s.Notes != "" {
		fields++
	}
	out.Map(fields)
	replyText(out, "notes", s.Notes)
	out.BulkString("flags")
	replyFlags(out, s.Flags)
	out.BulkString("begin_search")
	switch {
	case s.Index > 0:
		replySpec(out, "index", specField{"index", s.Index})
	case s.Keyword != "":
		replySpec(out, "keyword", specField{"keyword", s.Keyword}, specField{"startfrom", s.StartFrom})
	default:
		replySpec(out, "unknown")
	}
	out.BulkString("find_keys")
	switch f := s.Keynum; {
	case s.Range != nil:
		f = s.Range
		replySpec(out, "range", specField{"lastkey", f[0]}, specField{"keystep", f[1]}, specField{"limit", f[2]})
	case f != nil:
		replySpec(out, "keynum", specField{"keynumidx", f[0]}, specField{"firstkey", f[1]}, specField{"keystep", f[2]})
	default:
		replySpec(out, "unknown")
	}
}

// A specField is a number or a word of a key specification.
type specField struct {
	name  string
	value any
}

func replySpec(out *Reply, kind string, fields ...specField) {
	out.Map(2)
	replyText(out, "type", kind)
	out.BulkString("spec")
	out.Map(len(fields))
	for _, f := range fields {
		out.BulkString(f.name)
		switch v := f.value.(type) {
		case int:
			out.Int(int64(v))
		case string:
			out.BulkString(v)
		}
	}
}

// replyText appends a field of a map, unless it is empty.
func replyText(out *Reply, name, value string) {
	if value != "" {
		out.BulkString(name)
		out.BulkString(value)
	}
}

// replyDocs appends what COMMAND DOCS says of a row.
func replyDocs(out *Reply, r *Command) {
	p := r.page()
	subs := subRows(r)
	out.Map(countTrue(p.Summary != "", p.Since != "", p.Group != "", p.Complexity != "", p.DocFlags != nil,
		p.DeprecatedSince != "", p.ReplacedBy != "", p.History != nil, p.Arguments != nil, len(subs) > 0))
	replyText(out, "summary", p.Summary)
	replyText(out, "since", p.Since)
	replyText(out, "group", p.Group)
	replyText(out, "complexity", p.Complexity)
	if p.DocFlags != nil {
		out.BulkString("doc_flags")
		replyFlags(out, p.DocFlags)
	}
	replyText(out, "deprecated_since", p.DeprecatedSince)
	replyText(out, "replaced_by", p.ReplacedBy)
	replyHistory(out, p.History)
	if p.Arguments != nil {
		out.BulkString("arguments")
		replyArguments(out, p.Arguments)
	}
	if len(subs) > 0 {
		out.BulkString("subcommands")
		out.Map(len(subs))
		for _, sub := range subs {
			out.BulkString(sub.full)
			replyDocs(out, sub)
		}
	}
}

func replyHistory(out *Reply, history [][2]string) {
	if history == nil {
		return
	}
	out.BulkString("history")
	out.Set(len(history))
	for _, h := range history {
		out.Array(2)
		out.BulkString(h[0])
		out.BulkString(h[1])
	}
}

func replyArguments(out *Reply, args []argument) {
	out.Array(len(args))
	for i := range args {
		args[i].reply(out)
	}
}

func (a *argument) reply(out *Reply) {
	out.Map(2 + countTrue(a.KeySpec != nil, a.Token != nil, a.Summary != "", a.Since != "",
		a.DeprecatedSince != "", a.Flags != nil, a.Arguments != nil))
	replyText(out, "name", a.Name)
	replyText(out, "type", a.Type)
	if a.KeySpec != nil {
		out.BulkString("key_spec_index")
		out.Int(int64(*a.KeySpec))
	}
	if a.Token != nil {
		out.BulkString("token")
		out.BulkString(*a.Token)
	}
	replyText(out, "summary", a.Summary)
	replyText(out, "since", a.Since)
	replyText(out, "deprecated_since", a.DeprecatedSince)
	if a.Flags != nil {
		out.BulkString("flags")
		replyFlags(out, a.Flags)
	}
	if a.Arguments != nil {
		out.BulkString("arguments")
		replyArguments(out, a.Arguments)
	}
}

// countTrue returns how many of the conditions hold.
func countTrue(conditions ...bool) (n int) {
	for _, c := range conditions {
		if c {
			n++
		}
	}
	return n
}
