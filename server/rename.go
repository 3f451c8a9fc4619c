package server

import (
	"errors"
	"slices"

	"firn/commands"
	"firn/server/config"

	"go.uber.org/zap"
)

// RenameCheck returns a check of the rename-command lines of a configuration,
// to be called for each in their order.
func RenameCheck() func(from, to string) error {
	return commands.NewTable(append(commands.Families(), families()...)...).Rename
}

// rename gives commands other names. Those that can't be were refused when the
// configuration was read.
func (srv *Server) rename(all []config.Rename) {
	for _, r := range all {
		if err := srv.table.Rename(r.From, r.To); err != nil {
			srv.log.Warn("rename-command", zap.String("from", r.From), zap.String("to", r.To), zap.Error(err))
		}
	}
}

// CheckUser says whether a user line is what the server does anyway: there are
// no other users yet, and one whose limits are not kept must not be taken.
func CheckUser(words []string) error {
	all := []string{"on", "nopass", "sanitize-payload", "~*", "&*", "+@all", "allkeys", "allchannels", "allcommands"}
	if len(words) == 0 || words[0] != "default" {
		return errUsers
	}
	for _, w := range words[1:] {
		if !slices.Contains(all, w) {
			return errUsers
		}
	}
	return nil
}

var errUsers = errors.New("this version has no users but `default`, with all rights; set requirepass for a password")
