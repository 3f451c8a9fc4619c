// Package resp reads requests: bytes in, commands out, within limits. It does not touch a socket, and what a command means
// is none of its business.
//
// A [Reader] is fed by its owner and remembers how far it has come, so no byte is looked at twice however the network cuts
// a request. One goroutine owns it, with everything it hands out:
//
//	n, err := conn.Read(r.Space(4096))
//	r.Advance(n)
//	for {
//		args, err := r.Next(&limits)
//		if err != nil { … reply to a ProtocolError, close … }
//		if args == nil { break } // more bytes are needed
//		… run args; they are valid until the next Space, Write or Release …
//	}
//
// # Guarantees
//
// The grammar and the error texts are those of Redis 7.0.15 (networking.c), for RESP and for inline requests. So is what
// Redis does not look at: the bytes after a bulk and after a header's CR are skipped without being compared, and a line
// with a NUL byte in it never ends.
//
// A header allocates nothing. Memory follows the bytes that have arrived: a buffer of at most twice what is buffered, plus
// the first 16 KiB, and for each argument received 16 bytes, and 24 more when the command is complete. Copies of received
// bytes cost O(1) a byte over any sequence of reads.
//
// What a request is parsed to does not depend on how it was cut. That needs one rule Redis does not have: a line is too
// long when its end isn't among its first 64 KiB, even if a single read brought it whole.
package resp
