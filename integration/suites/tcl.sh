#!/usr/bin/env bash
# Redis' own test suite against a server binary.
#
#   tcl.sh [-o OUT] [-w] BINARY [UNIT...]
#
#   -o OUT  where logs and lists go (default out/tcl under the repository)
#   -w      write what passes of these units into expected.txt: BINARY is then
#           redis-server itself
#   -a      run the tests of skipped.txt too, and name those that pass
#
# The suite is that of Debian's source package of Redis 7.0.15, fetched once
# into a cache. A unit runs as units.txt says: `external` against a server
# that is started for it, or `spawn`, where the suite starts BINARY itself, as
# src/redis-server. Every test that redis-server passes (expected.txt) must
# pass, but for those in skipped.txt: unit, test and reason, with a tab between.
#
# Needs tclsh 8.6, redis-cli and, for the first run, apt-get.
# Exit status: 0 all is as expected, 1 not, 2 bad usage or no suite.
set -euo pipefail
export LC_ALL=C TERM=dumb

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out=$(dirname "$(dirname "$here")")/out/tcl write= all=
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//;p}' "$0" >&2; exit 2; }
while getopts o:wah opt; do
  case $opt in o) out=$OPTARG ;; w) write=1 ;; a) all=1 ;; *) usage ;; esac
done
shift $((OPTIND - 1))
[ $# -ge 1 ] || usage
binary=$(realpath -s "$(command -v "$1")")
shift
tclsh=$(command -v tclsh8.6) || { echo "tclsh8.6 is missing (Debian: tcl8.6)" >&2; exit 2; }
cli=$(command -v redis-cli) || { echo "redis-cli is missing (Debian: redis-tools)" >&2; exit 2; }

mkdir -p "$out"
out=$(cd "$out" && pwd)
rm -f "$out"/*.log "$out"/*.txt "$out"/*.tsv
work=$(mktemp -d)
server=
stop() {
  [ -n "$server" ] || return 0
  kill "$server" 2>/dev/null || true
  for _ in $(seq 50); do kill -0 "$server" 2>/dev/null || break; sleep 0.1; done
  kill -9 "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=
}
trap 'stop; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# The source package comes from wherever this machine gets its packages; its
# settings are read, and asked for sources, but not changed.
fetch() {
  local cache=$1 apt=$work/apt f
  mkdir -p "$apt/parts" "$apt/lists/partial" "$cache"
  for f in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -f "$f" ] || sed -n 's/^deb /deb-src /p' "$f" > "$apt/parts/$(basename "$f")"
  done
  for f in /etc/apt/sources.list.d/*.sources; do
    [ ! -f "$f" ] || sed 's/^Types:.*/Types: deb-src/' "$f" > "$apt/parts/$(basename "$f")"
  done
  chmod -R a+rX "$work"
  local options=(-q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists" -o APT::Sandbox::User=root)
  apt-get "${options[@]}" update || true # one dead source among several is no matter
  (cd "$work" && apt-get "${options[@]}" source --download-only redis)
  tar -xzf "$work"/redis_7.0.15.orig.tar.gz -C "$cache"
}
cache=${FIRN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/firn}
suite=$cache/redis-7.0.15
[ -f "$suite/tests/test_helper.tcl" ] || fetch "$cache" > "$out/fetch.log" 2>&1 ||
  { echo "cannot get the source package of redis 7.0.15:" >&2; tail -n 5 "$out/fetch.log" >&2; exit 2; }

# A private copy: the suite writes below itself and wants its programs in src/.
mkdir -p "$work/suite/src"
cp -r "$suite/tests" "$suite/redis.conf" "$work/suite/"
mkdir -p "$work/suite/tests/tmp"
for f in redis-cli redis-benchmark redis-check-rdb redis-check-aof; do
  f=$(command -v "$f") && ln -s "$f" "$work/suite/src/" || true
done
ln -s "$binary" "$work/suite/src/redis-server"
cd "$work/suite"

free_port() {
  local port
  while port=$((20000 + RANDOM % 10000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

start() {
  rm -rf "$work/data" && mkdir "$work/data"
  (cd "$work/data" && exec "$binary" --port "$1" --bind 127.0.0.1 --save '' --enable-protected-configs yes \
    --enable-debug-command yes --enable-module-command yes) > "$2" 2>&1 < /dev/null &
  server=$!
  for _ in $(seq 100); do
    [ "$("$cli" -p "$1" ping 2>/dev/null)" != PONG ] || return 0
    sleep 0.1
  done
  return 1
}

# One unit; its verdicts go to all.tsv: ok, err, or skip, then unit and test.
run() {
  local how=$1 unit=$2 log=$out/${2//\//-}.log port args
  args=(--single "$unit" --durable --timeout 180 --baseport $((22000 + RANDOM % 9000)) --skipfile "$work/skip")
  : > "$work/skip"
  [ -n "$all$write" ] || awk -F'\t' -v u="$unit" '$1 == u && $3 !~ /^may fail/ {print $2}' "$here/skipped.txt" > "$work/skip"
  if [ "$how" = external ]; then
    port=$(free_port)
    start "$port" "$out/${unit//\//-}.server.log" || { printf 'err\t%s\t(the server does not start)\n' "$unit" >> "$out/all.tsv"; stop; return; }
    args+=(--host 127.0.0.1 --port "$port")
  else
    args+=(--clients 1)
  fi
  timeout -k 10 900 "$tclsh" tests/test_helper.tcl "${args[@]}" > "$log" 2>&1 < /dev/null || true
  if [ "$how" = external ] && [ "$(timeout 5 "$cli" -p "$port" ping 2>&1)" != PONG ]; then
    printf 'err\t%s\t(the server is gone at the end)\n' "$unit" >> "$out/all.tsv"
  fi
  stop
  awk -v OFS='\t' -v unit="$unit" '
    { sub(/\r$/, "") }
    /^ *The End$/   { ended = 1 }
    /^\[ok\]: /     { s = substr($0, 7); sub(/ \([0-9]+ ms\)$/, "", s); print "ok", unit, s }
    /^\[err\]: /    { s = substr($0, 8); if (!sub(/ in tests\/[^ ]*\.tcl$/, "", s)) s = "(outside a test)"; print "err", unit, s }
    /^\[exception\]: / { print "err", unit, "(unit abandoned)" }
    / => \(IN PROGRESS\) / { s = $0; sub(/^.* => \(IN PROGRESS\) /, "", s); print "err", unit, s }
    /^\[skip\]: /   { print "skip", unit, substr($0, 9) }
    END { if (!ended) print "err", unit, "(the run has no end)" }' "$log" >> "$out/all.tsv"
}

: > "$out/all.tsv"
: > "$out/ran.txt"
while read -r how unit; do
  case $how in '' | '#'*) continue ;; esac
  if [ $# -gt 0 ] && [[ " $* " != *" $unit "* ]]; then continue; fi
  began=$(date +%s)
  run "$how" "$unit"
  echo "$unit" >> "$out/ran.txt"
  awk -F'\t' -v u="$unit" -v s=$(($(date +%s) - began)) '$2 == u {n[$1]++}
    END {printf "%-24s %4d ok %4d err %4d skipped %4d s\n", u, n["ok"], n["err"], n["skip"], s}' "$out/all.tsv"
done < "$here/units.txt"
[ -s "$out/ran.txt" ] || { echo "no such unit in units.txt" >&2; exit 2; }

if [ -n "$write" ]; then
  awk -F'\t' 'NR == FNR {ran[$1] = 1; next} !($1 in ran)' "$out/ran.txt" "$here/expected.txt" > "$work/expected"
  awk -F'\t' -v OFS='\t' '$1 == "ok" {print $2, $3}' "$out/all.tsv" >> "$work/expected"
  cp "$work/expected" "$here/expected.txt"
fi

# A name may stand for several tests of a unit, so names are counted. A line
# of skipped.txt that fits no expected test is a fault of ours.
awk -F'\t' -v all="$all" '
  FILENAME ~ /ran.txt$/      { ran[$1] = 1; next }
  FILENAME ~ /skipped.txt$/  { if (NF >= 3 && $1 in ran) may[$1 FS $2] = 1; else if (NF && NF < 3 && $0 !~ /^#/) { print "skipped.txt: no reason: " $0; bad++ }; next }
  FILENAME ~ /expected.txt$/ { if ($1 in ran) want[$1 FS $2]++; next }
  $1 == "ok"  { ok++; seen[$2 FS $3]++; if (all && ($2 FS $3) in may) print "passes now:  " $2 "  " $3; next }
  $1 == "err" { seen[$2 FS $3]++; if (($2 FS $3) in may) skipped++; else { bad++; print "failed:      " $2 "  " $3 }; next }
  END {
    for (k in want) {
      lost = want[k] - seen[k]
      if (lost <= 0) continue
      if (k in may) skipped += lost
      else { bad += lost; split(k, p, FS); print "never ran:   " p[1] "  " p[2] }
    }
    for (k in may) if (!(k in want) && k !~ /\t\(/) { bad++; split(k, p, FS); print "skipped.txt: no such test: " p[1] "  " p[2] }
    printf "%d passed, %d failed, %d skipped\n", ok, bad, skipped
    exit bad > 0
  }' "$out/ran.txt" "$here/skipped.txt" "$here/expected.txt" "$out/all.tsv" | tee "$out/verdict.txt"
