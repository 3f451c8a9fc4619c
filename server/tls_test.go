package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A certificate made for a test, which is its own authority.
type certificate struct {
	cert, key string // files
	pool      *x509.CertPool
	pair      tls.Certificate
}

func newCertificate(t *testing.T) *certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	from := time.Now().Add(-time.Hour)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "firn"}, NotBefore: from, NotAfter: from.Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	secret, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	dir := t.TempDir()
	c := &certificate{cert: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), pool: x509.NewCertPool()}
	require.NoError(t, os.WriteFile(c.cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(c.key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), 0o600))
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	c.pool.AddCert(parsed)
	c.pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	require.NoError(t, err)
	return c
}

// serveTLS starts a server that speaks TLS only.
func serveTLS(t *testing.T, c *certificate, options ...string) *testServer {
	port := freePort(t)
	s := serveWith(t, append([]string{"--port", "0", "--tls-port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "",
		"--tls-cert-file", c.cert, "--tls-key-file", c.key, "--tls-ca-cert-file", c.cert}, options...)...)
	s.addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return s
}

func (s *testServer) dialTLS(c *certificate) *testClient {
	nc, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: c.pool, Certificates: []tls.Certificate{c.pair}})
	require.NoError(s.t, err)
	return client(s.t, nc)
}

func TestTLS(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	a, b := s.dialTLS(cert), s.dialTLS(cert)
	require.Equal(t, "+OK", a.do("CLIENT SETNAME a"))
	require.Equal(t, "+OK", b.do("SET k "+strings.Repeat("x", 1<<20)))
	require.Equal(t, "$1048576\r\n"+strings.Repeat("x", 1<<20), a.do("GET k"))
	require.NotEqual(t, "0", field(t, a.text("CLIENT INFO"), "fd"))
	b.write(strings.Repeat(encode("STRLEN k"), 20_000))
	for range 20_000 {
		require.Equal(t, ":1048576", b.reply())
	}
	require.Equal(t, ":1", a.do("CLIENT KILL LADDR "+s.addr))
	require.Empty(t, b.closed())
	eventually(t, func() bool { return s.clients.count.Load() == 1 }, "killed, but there")
}

// A killed client that does not read can't keep its connection, nor the killer.
func TestKillATLSClientThatDoesNotRead(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	a, b := s.dialTLS(cert), s.dialTLS(cert)
	require.Equal(t, "+OK", a.do("SET k "+strings.Repeat("x", 16<<20)))
	b.send("GET k", "GET k")
	eventually(t, func() bool { return s.stats.netOut.Load() > 100_000 }, "nothing is sent")
	start := time.Now()
	require.Equal(t, ":1", a.do("CLIENT KILL LADDR "+s.addr))
	require.Less(t, time.Since(start), 5*time.Second)
	require.Equal(t, int64(1), s.clients.count.Load())
}

func TestTLSPause(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	a, b := s.dialTLS(cert), s.dialTLS(cert)
	require.Equal(t, "+OK", a.do("CLIENT PAUSE 100000 WRITE"))
	b.send("SET k v", "GET k")
	eventually(t, func() bool { return s.pause.length() == 1 }, "the write does not wait")
	require.Equal(t, "+OK", a.do("CLIENT UNPAUSE"))
	require.Equal(t, "+OK", b.reply())
	require.Equal(t, "$1\r\nv", b.reply())
}

func TestTLSWithoutACertificate(t *testing.T) {
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	nc, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: cert.pool})
	if err == nil { // the refusal comes after the client's side of the handshake
		_, err = client(t, nc).r.ReadByte()
	}
	require.Error(t, err)
	open := serveTLS(t, cert, "--tls-auth-clients", "no")
	nc, err = tls.Dial("tcp", open.addr, &tls.Config{RootCAs: cert.pool})
	require.NoError(t, err)
	require.Equal(t, "+PONG", client(t, nc).do("PING"))
	plain := open.dial()
	plain.send("PING")
	require.NotContains(t, plain.closed(), "PONG")
	require.Equal(t, "+PONG", client(t, mustTLS(t, open, cert)).do("PING"))
}

func mustTLS(t *testing.T, s *testServer, c *certificate) net.Conn {
	nc, err := tls.Dial("tcp", s.addr, &tls.Config{RootCAs: c.pool})
	require.NoError(t, err)
	return nc
}

func TestTLSWithRedisCLI(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	if err != nil {
		t.Skip("no redis-cli")
	}
	cert := newCertificate(t)
	s := serveTLS(t, cert)
	_, port, err := net.SplitHostPort(s.addr)
	require.NoError(t, err)
	out, err := exec.Command(cli, "-h", "127.0.0.1", "-p", port, "--tls", "--cacert", cert.cert, "--cert", cert.cert, "--key", cert.key, "ECHO", "hello").CombinedOutput()
	if strings.Contains(string(out), "Unrecognized option") {
		t.Skip("this redis-cli has no TLS")
	}
	require.NoError(t, err, "%s", out)
	require.Equal(t, "hello\n", string(out))
}
