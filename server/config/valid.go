package config

import "strings"

func validDBFilename(name string) error {
	if strings.ContainsAny(name, `/\`) {
		return errDBFilename
	}
	return nil
}

func validAOFName(name string) error {
	if name == "" {
		return errAOFNameEmpty
	}
	if strings.ContainsAny(name, `/\`) {
		return errAOFNamePath
	}
	return nil
}

func validAOFDir(name string) error {
	if name == "" {
		return errAOFDirEmpty
	}
	if strings.ContainsAny(name, `/\`) {
		return errAOFDirPath
	}
	return nil
}

func validHostname(name string) error {
	if len(name) >= 256 {
		return errHostnameLength
	}
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (r < '0' || r > '9') && r != '-' && r != '.' {
			return errHostname
		}
	}
	return nil
}

// validProcTitle wants known {variables}, closed braces and a title that isn't empty when {title} and {server-mode} are.
func validProcTitle(template string) error {
	shown := ""
	for template != "" {
		before, after, found := strings.Cut(template, "{")
		shown += before
		if !found {
			break
		}
		if rest, ok := strings.CutPrefix(after, "{"); ok {
			shown += "{"
			template = rest
			continue
		}
		variable, rest, closed := strings.Cut(after, "}")
		if !closed {
			return errProcTitle
		}
		switch variable {
		case "title", "server-mode":
		case "listen-addr", "config-file", "port", "tls-port", "unixsocket":
			shown += "x"
		default:
			return errProcTitle
		}
		template = rest
	}
	if strings.Trim(shown, " ") == "" {
		return errProcTitle
	}
	return nil
}
