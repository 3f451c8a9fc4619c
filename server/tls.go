package server

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"firn/server/config"
)

// tlsConfig loads certificate, key and authorities.
func tlsConfig(c *config.TLS) (*tls.Config, error) {
	cert, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("tls: %w", err)
	}
	out := &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12}
	if strings.Contains(strings.ToLower(c.Protocols), "tlsv1.3") && !strings.Contains(strings.ToLower(c.Protocols), "tlsv1.2") {
		out.MinVersion = tls.VersionTLS13
	}
	switch c.AuthClients {
	case config.TLSAuthYes:
		out.ClientAuth = tls.RequireAndVerifyClientCert
	case config.TLSAuthOptional:
		out.ClientAuth = tls.VerifyClientCertIfGiven
	}
	out.ClientCAs, err = authorities(c)
	return out, err
}

func authorities(c *config.TLS) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	files, _ := filepath.Glob(filepath.Join(c.CACertDir, "*"))
	if c.CACertDir == "" {
		files = nil
	}
	if c.CACertFile != "" {
		files = append(files, c.CACertFile)
	}
	for _, f := range files {
		pem, err := os.ReadFile(f)
		if err != nil {
			return nil, fmt.Errorf("tls: %w", err)
		}
		if !pool.AppendCertsFromPEM(pem) && f == c.CACertFile {
			return nil, fmt.Errorf("tls: no certificate in %s", f)
		}
	}
	return pool, nil
}
