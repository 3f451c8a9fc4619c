package config

import "firn/server/resp"

// splitArgs cuts a line into words. False if its quotes are not balanced.
func splitArgs(line string) ([]string, bool) {
	parts, err := resp.SplitArgs([]byte(line))
	if err != nil {
		return nil, false
	}
	words := make([]string, len(parts))
	for i, part := range parts {
		words[i] = string(part)
	}
	return words, true
}
