#!/usr/bin/env bash
# Real, unmodified clients against a running server: run.sh HOST PORT [CLIENT...]
#
# THE SERVER'S DATA IS LOST: it starts with FLUSHALL.
#
# Each client connects, sets, gets, pipelines, gets an error as an error, fills
# collections and walks them with its own iterators (python: hears messages and
# keyspace events too), and walks the keyspace with its own iterator while a second connection adds and
# deletes other keys: the FIRN_KEYS keys (default 20000; 5000000 in a long run)
# that stayed must come, each exactly once.
#
# Clients: cli (redis-cli and redis-benchmark), python (Debian's
# python3-redis), ioredis5, ioredis6, redis4, redis5, redis6 (npm),
# go (go-redis v9, rueidis, redigo).
# A client whose program is not installed is a failure, not a pass.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
host=$1 port=$2
shift 2
[ $# -gt 0 ] || set -- cli python ioredis5 ioredis6 redis4 redis5 redis6 go
export FIRN_ADDR=$host:$port FIRN_KEYS=${FIRN_KEYS:-20000}
cd "$(dirname "${BASH_SOURCE[0]}")"

run() {
  case $1 in
  cli) ./cli.sh "$host" "$port" ;;
  # Debian's Python, whatever else is first in PATH: its python3-redis is meant.
  python) /usr/bin/python3 redis_py.py ;;
  ioredis* | redis*)
    [ -d node_modules/"$1" ] || npm ci --ignore-scripts --no-audit --no-fund > /dev/null
    node node.js "$1"
    ;;
  go) (cd ../.. && go test -tags clients -count=1 -timeout 30m -run TestGoClients ./integration) ;;
  *) echo "no such client: $1" >&2; return 2 ;;
  esac
}

redis-cli -h "$host" -p "$port" flushall > /dev/null
passed=0 failed=0
for client; do
  if run "$client"; then passed=$((passed + 1)); else
    failed=$((failed + 1))
    echo "FAILED: $client" >&2
  fi
done
echo "clients: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
