package transcript

import (
	"crypto/rand"
	"errors"
	"math/big"
	"net"
	"strconv"
)

// The kernel takes the ports of clients from 32768 on (net.ipv4.ip_local_port_range):
// one that was free there may be a client's by the time that a server asks for it.
const (
	firstPort = 10_000
	endPort   = 32_000
)

// FreeAddr returns an address of the loopback interface at which a server can be
// started. It fails if it finds none.
func FreeAddr() (string, error) {
	for range 100 {
		n, err := rand.Int(rand.Reader, big.NewInt(endPort-firstPort))
		if err != nil {
			return "", err
		}
		addr := net.JoinHostPort("127.0.0.1", strconv.FormatInt(firstPort+n.Int64(), 10))
		l, err := net.Listen("tcp", addr)
		if err == nil {
			return addr, l.Close()
		}
	}
	return "", errors.New("transcript: no free port")
}
