#!/bin/sh
# Entry point of the image, with the conventions of the Redis images:
#
#   docker run firn                              the server
#   docker run firn --maxmemory 1gb              options for the server
#   docker run firn /etc/firn.conf --port 7000   a configuration file, then options
#   docker run firn redis-cli -h other ping      any other program
#
# The server itself reads further options from FIRN_EXTRA_FLAGS and the password
# from the file named by FIRN_PASSWORD_FILE; the command line wins over both.
set -eu

case "${1-}" in
'' | -* | *.conf) set -- firn "$@" ;;
esac

# Run as root (`user: root`), hand /data over and go on as the image's user.
# A chown that fails (NFS, a read-only volume) is no reason not to start:
# the server says itself what it cannot write.
if [ "$(id -u)" = 0 ] && [ "${SKIP_DROP_PRIVS-}" = '' ]; then
	[ -n "${SKIP_FIX_PERMS-}" ] || find . \! -user firn -exec chown firn:firn {} + 2>/dev/null || true
	exec setpriv --reuid=firn --regid=firn --clear-groups "$0" "$@"
fi

umask 0077

case "${1##*/}" in
firn | redis-server) ;;
*) exec "$@" ;;
esac

# Protected mode refuses everybody but localhost, which inside a container is
# nobody; so it is off by default here, whatever a file or an option says
# comes after. The network that a container is put on is what protects it: set
# a password before publishing the port.
export FIRN_DEFAULT_FLAGS="--protected-mode no ${FIRN_DEFAULT_FLAGS-}"

exec "$@"
