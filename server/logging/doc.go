// Package logging makes the logger that the edges of Firn log to: zap with Redis' line format, or a JSON object a line.
//
//	4711:M 30 Nov 2026 09:10:11.123 * Ready to accept connections port=6379
//
// That is the process, its role, the local time, the level as one character, the message, and the fields as key=value. A value
// with blanks, quotes or control characters is quoted, so that a line is one entry whatever a client sent.
//
// zap has no level between Debug and Info. Redis' four levels are therefore the constants of this package: zap's Debug method logs
// at LevelVerbose, and LevelDebug is reached by Log(logging.LevelDebug, …).
//
// As in redis-server, a log file is opened for each line, so that it may be renamed by logrotate at any time without telling the
// server.
package logging
