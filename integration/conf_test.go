package integration

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"firn/server/config"
)

// firn.conf says of itself that each line that is commented out shows the
// default. Those that cannot (a password, a path of a certificate) are listed.
func TestExampleConfigurationShowsTheDefaults(t *testing.T) {
	examples := map[string]bool{
		"requirepass": true, "rename-command": true, "unixsocket": true, "unixsocketperm": true,
		"tls-cert-file": true, "tls-key-file": true, "tls-ca-cert-file": true,
	}
	text, err := os.ReadFile(filepath.Join(moduleRoot(t), "firn.conf"))
	require.NoError(t, err)
	empty := loadConfig(t, "").Config
	lines := regexp.MustCompile(`(?m)^# ([a-z-]+ [^ \n].*)$`).FindAllSubmatch(text, -1)
	shown := 0
	for _, m := range lines {
		line := string(m[1])
		name := regexp.MustCompile(`^[a-z-]+`).FindString(line)
		if examples[name] || config.Lookup(name) == nil {
			continue // an example, or a sentence
		}
		shown++
		loaded := loadConfig(t, line+"\n")
		require.Empty(t, loaded.Warnings, line)
		require.Equal(t, empty.Text(name), loaded.Config.Text(name), line)
	}
	require.Greater(t, shown, 20, "the options of firn.conf were not found")
	require.Equal(t, string(config.Print(empty)), string(config.Print(loadConfig(t, string(text)).Config)))
}

func loadConfig(t *testing.T, text string) *config.Loaded {
	t.Helper()
	loaded, err := config.Load(config.Sources{
		Args:     []string{"/firn.conf"},
		Dir:      "/",
		ReadFile: func(string) ([]byte, error) { return []byte(text), nil },
	})
	require.NoError(t, err, text)
	return loaded
}
