package server

const (
	// Version is Firn's own.
	Version = "0.1.0"
	// redisVersion is what clients are told: they decide by it what they may use.
	redisVersion = "7.2.4"
)
