// Package transcript reads, plays and rewrites transcripts: text files of
// command lines with the replies they must get, as redis-cli prints them.
//
//	# A comment; it stays where it is when the file is rewritten.
//	> SET greeting "hello\n" EX 10
//	OK
//	> GET greeting
//	"hello\n"
//
// A line that begins with "> " is a command line, with redis-cli's quoting.
// The lines up to the next blank line, comment, command line or word of the
// list below are its reply: status and errors `OK`, `(error) ERR …`, strings
// quoted, `(integer) 1`, `(nil)`, arrays `1) "a"` with nested ones indented,
// `(empty array)`; after HELLO 3 also maps `1# "k" => "v"`, sets `1~ "m"`,
// `(double) 1.5`, `(true)`, `(false)`. In two places redis-cli's form would hide
// something or run over several lines, so there is one of our own:
// `(verbatim txt) "…"` and `(status) ""`.
//
// Other lines are:
//
//	client NAME      the lines below are sent by this client (at first: main)
//	advance 150ms    let time pass: ms, s, m, h or d (days)
//	unordered        before a command: the order within its arrays is free
//	approx           before a command: whole numbers may differ by 2 or by 2 %,
//	                 others in the last digits
//	ignore           before a command: any well-formed reply will do; none
//	                 need be written
//
// The package knows nothing of commands or servers: a Player answers.
package transcript
