#!/usr/bin/env bash
# Drives redis-cli and redis-benchmark: cli.sh HOST PORT
# FIRN_KEYS keys must be there (the other clients leave them: see run.sh).
set -euo pipefail
host=$1 port=$2 keys=${FIRN_KEYS:-20000}
cli() { redis-cli -h "$host" -p "$port" "$@"; }
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# check NAME PATTERN: what was printed last has a line like this
check() {
  # Progress is drawn over itself with carriage returns.
  tr '\r' '\n' < "$out" | grep -E "$2" > /dev/null || { echo "redis-cli $1: no line like '$2' in:" >&2; tail -n 20 "$out" >&2; exit 1; }
  echo "redis-cli $1: ok"
}

[ "$(cli set basics:cli 'a b')" = OK ]
[ "$(cli get basics:cli)" = 'a b' ]
[ "$(cli -3 get basics:cli)" = 'a b' ]
[ "$(cli -n 3 dbsize)" = 0 ]
[ "$(cli del basics:cli)" = 1 ]
echo "redis-cli set, get: ok"

# Mass insertion, which ends with an ECHO of random bytes.
awk -v n="$keys" 'BEGIN { for (i = 0; i < n; i++) { k = "stay:" i; v = "value:" i
  printf "*3\r\n$3\r\nSET\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", length(k), k, length(v), v } }' | cli --pipe > "$out" 2>&1
check --pipe "errors: 0, replies: $keys"

# One of each type: a command a line does for --pipe as well.
for i in $(seq 1000); do
  echo "HSET basics:cli:h f$i $i"; echo "RPUSH basics:cli:l $i"; echo "SADD basics:cli:s m$i"
  echo "ZADD basics:cli:z $i m$i"; echo "XADD basics:cli:x $i-0 a $i"
done | cli --pipe > "$out" 2>&1
check '--pipe of collections' 'errors: 0, replies: 5000'
[ "$(cli hget basics:cli:h f7; cli lindex basics:cli:l -1; cli sismember basics:cli:s m7; cli -3 zscore basics:cli:z m7; cli xlen basics:cli:x)" = $'7\n1000\n1\n7\n1000' ]
echo "redis-cli collections: ok"

cli --scan --pattern 'stay:*' | sort | uniq -c > "$out"
if [ "$(wc -l < "$out")" != "$keys" ] || grep -Evq '^ *1 ' "$out"; then
  echo "redis-cli --scan: $(wc -l < "$out") different keys of $keys, more than once: $(grep -Evc '^ *1 ' "$out")" >&2
  exit 1
fi
echo "redis-cli --scan: ok"

cli --bigkeys > "$out" 2>&1
check --bigkeys '[0-9]+ strings with [0-9]+ bytes'
for type in '1 lists with 1000 items' '1 hashs with 1000 fields' '1 streams with 1000 entries' '1 sets with 1000 members' '1 zsets with 1000 members'; do
  check --bigkeys "$type"
done
cli --memkeys > "$out" 2>&1
check --memkeys '[0-9]+ strings with [0-9]+ bytes'
check --memkeys '1 hashs with [0-9]+ bytes'
[ "$(cli del basics:cli:h basics:cli:l basics:cli:s basics:cli:z basics:cli:x)" = 5 ]

# These run until they are stopped.
timeout 3 redis-cli -h "$host" -p "$port" --raw --latency -i 1 > "$out" 2>&1 || [ $? -eq 124 ]
check --latency '^[0-9]+ [0-9]+ [0-9.]+ [0-9]+'
timeout 2 stdbuf -oL redis-cli -h "$host" -p "$port" --stat -i 0.2 > "$out" 2>&1 || [ $? -eq 124 ]
check --stat "^$(cli dbsize) "

redis-benchmark -h "$host" -p "$port" -q -t set,get -n 20000 -c 20 > "$out" 2>&1
check benchmark '(^| )GET: [0-9.]+ requests per second'
redis-benchmark -h "$host" -p "$port" -q -t set,get -n 100000 -c 20 -P 32 -r 10000 > "$out" 2>&1
check "benchmark -P 32" '(^| )GET: [0-9.]+ requests per second'
redis-benchmark -h "$host" -p "$port" -q -t lpush,rpush,lpop,rpop,sadd,hset,spop,zadd,zpopmin,lrange_100 -n 5000 -c 20 -P 16 > "$out" 2>&1
check "benchmark of collections" '(^| )LRANGE_100 .*: [0-9.]+ requests per second'
redis-benchmark -3 -h "$host" -p "$port" -q -t set,get -n 20000 -c 20 > "$out" 2>&1
check "benchmark -3" '(^| )GET: [0-9.]+ requests per second'
if grep -Ei 'error|warning' "$out"; then exit 1; fi
