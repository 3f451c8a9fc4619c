#!/bin/sh
# Makes default.pgo, by which the compiler decides what to inline: the CPU
# profiles of a server under redis-benchmark and under scanners, merged.
#
#   bench/pgo.sh FIRN OUT
set -eu
out=$2
dir=$(mktemp -d)
cp "$1" "$dir/firn"
firn=$dir/firn
port=17379
server=
stop() {
	[ -z "$server" ] || kill "$server" 2>/dev/null || true
	[ -z "$server" ] || wait "$server" || true
	server=
}
trap 'stop; rm -rf "$dir"' EXIT

# profile NAME, then one load a line of standard input
profile() {
	FIRN_CPUPROFILE=$dir/$1.prof "$firn" --port $port --bind 127.0.0.1 --save '' --dir "$dir" >"$dir/log" 2>&1 &
	server=$!
	until redis-cli -p $port ping >/dev/null 2>&1; do sleep 0.1; done
	while read -r load; do
		set -f
		# shellcheck disable=SC2086 # a load is several arguments
		redis-benchmark -p $port -r 1000000 -q $load >/dev/null
		set +f
	done
	stop
}

profile strings <<'END'
-n 3000000 -P 32 -c 20 -t set
-n 3000000 -P 32 -c 20 -t get
-n 300000 -t get
-n 300000 -t set
-n 200000 -P 16 -t mset
-n 1500000 -P 16 -t incr
END
profile lists <<'END'
-n 2000000 -P 16 -t lpush
-n 2000000 -P 16 -t rpush
-n 1500000 -P 16 -t lpop
-n 1500000 -P 16 -t rpop
-n 200000 -t lpush
END
profile ranges <<'END'
-n 100000 -t lpush
-n 200000 -P 16 -t lrange_100
-n 60000 -P 16 -t lrange_300
-n 30000 -P 16 -t lrange_600
END
profile members <<'END'
-n 1500000 -P 16 -t sadd
-n 1500000 -P 16 -t hset
-n 700000 -P 16 -t zadd
-n 700000 -P 16 -t spop
-n 700000 -P 16 -t zpopmin
-n 100000 -t sadd
-n 100000 -t zadd
END
profile streams <<'END'
-n 2000000 -P 16 xadd stream * field value
END
profile scans <<'END'
-n 2000000 -P 32 -t set
-n 20000 -c 10 scan 0 match *22* count 1000
-n 20 -c 2 keys *22*
END

# The profile names the program's place; another name of the same length there
# keeps it a profile.
go tool pprof -proto "$dir"/*.prof >"$dir/merged"
other=$(echo "$firn" | sed 's/./-/g')
gunzip -c <"$dir/merged" | LC_ALL=C sed "s|$firn|$other|g" | gzip -9n >"$out"
