"""Drives redis-py. What is checked is told in run.sh.

Environment: FIRN_ADDR host:port, FIRN_KEYS how many keys stay (20000).
"""

import os
import threading

import redis

HOST, PORT = os.environ.get("FIRN_ADDR", "127.0.0.1:6379").split(":")
KEYS = int(os.environ.get("FIRN_KEYS", "20000"))
COUNT = 1000 if KEYS > 100_000 else None
BATCH = 1000


def connect():
    return redis.Redis(host=HOST, port=int(PORT))


def basics(r):
    value = "snö\r\n\0 ☃".encode()
    assert r.set("basics:py", value) is True
    assert r.get("basics:py") == value
    assert r.get("basics:py:missing") is None
    with r.pipeline(transaction=False) as p:
        p.incr("basics:py:n").incr("basics:py:n").get("basics:py").delete("basics:py:n", "basics:py")
        assert p.execute() == [1, 2, value, 2]
    try:
        r.execute_command("GET")
    except redis.ResponseError as err:
        assert "wrong number of arguments" in str(err)
    else:
        raise AssertionError("GET without a key was answered")


def messages(r):
    """Subscribes, hears what is published and what happens to keys, and stops."""
    old = r.config_get("notify-keyspace-events")["notify-keyspace-events"]
    r.config_set("notify-keyspace-events", "KEA")
    with r.pubsub(ignore_subscribe_messages=True) as p:
        p.subscribe("news:py")
        p.psubscribe("__keyevent@*__:expire*")
        while len(r.pubsub_channels("news:py")) == 0 or r.pubsub_numpat() == 0:
            pass
        assert r.publish("news:py", "hello") == 1
        assert r.set("basics:py:gone", 1, px=1) is True
        heard = []
        while len(heard) < 3:
            m = p.get_message(timeout=10)
            if m is not None:
                heard.append((m["type"], m["channel"], m["data"]))
        assert heard == [
            ("message", b"news:py", b"hello"),
            ("pmessage", b"__keyevent@0__:expire", b"basics:py:gone"),
            ("pmessage", b"__keyevent@0__:expired", b"basics:py:gone"),
        ], heard
    r.config_set("notify-keyspace-events", old)


def collections(r):
    """Fills one of each type and walks it with redis-py's iterators, while other members come and go."""
    stay = {b"m%d" % i: i for i in range(2000)}
    hash, set, zset, list, stream = keys = ["basics:py:" + t for t in ("hash", "set", "zset", "list", "stream")]
    assert r.hset(hash, mapping=stay) == r.sadd(set, *stay) == r.zadd(zset, stay) == r.rpush(list, *stay) == len(stay)
    assert r.hgetall(hash) == {m: b"%d" % i for m, i in stay.items()}
    assert r.smembers(set) == stay.keys()
    assert r.zrange(zset, 0, -1, withscores=True) == [(m, float(i)) for m, i in stay.items()]
    assert r.lrange(list, 0, -1) == [*stay] and r.lpop(list, 2) == [b"m0", b"m1"]
    ids = [r.xadd(stream, {"a": i, "b": ""}) for i in range(3)]
    assert r.xrange(stream) == [(id, {b"a": b"%d" % i, b"b": b""}) for i, id in enumerate(ids)]
    walks = {
        "hash": (r.hscan_iter(hash), lambda m: r.hset(hash, m, "x"), lambda m: r.hdel(hash, m)),
        "set": (r.sscan_iter(set), lambda m: r.sadd(set, m), lambda m: r.srem(set, m)),
        "zset": (r.zscan_iter(zset), lambda m: r.zadd(zset, {m: -1}), lambda m: r.zrem(zset, m)),
    }
    for name, (walk, add, remove) in walks.items():
        seen = []
        for i, item in enumerate(walk):
            seen.append(item if name == "set" else item[0])
            add("go%d" % i)
            remove("go%d" % (i - 20))
        assert sorted(m for m in seen if m in stay) == sorted(stay), name
    assert r.delete(*keys) == len(keys)


def load(r):
    if r.get("loaded") == str(KEYS).encode():
        return
    for i in range(0, KEYS, BATCH):
        with r.pipeline(transaction=False) as p:
            for j in range(i, min(i + BATCH, KEYS)):
                p.set("stay:%d" % j, "value:%d" % j)
            p.execute()
    r.set("loaded", KEYS)


class Writer(threading.Thread):
    """Adds keys and deletes them again until it is told to stop."""

    def __init__(self):
        super().__init__()
        self.done = threading.Event()
        self.writes = 0

    def run(self):
        r = connect()
        while not self.done.is_set():
            r.set("go:py:%d" % self.writes, "x")
            r.delete("go:py:%d" % (self.writes - 100))
            self.writes += 1
        for i in range(self.writes - 101, self.writes):
            r.delete("go:py:%d" % i)


def scan(r):
    seen = bytearray(KEYS)
    for key in r.scan_iter(count=COUNT):
        if key.startswith(b"stay:"):
            i = int(key[5:])
            seen[i] = min(seen[i] + 1, 255)
    missing = seen.count(0)
    once = seen.count(1)
    assert once == KEYS, "missing %d, more than once %d" % (missing, KEYS - once - missing)


def main():
    r = connect()
    basics(r)
    messages(r)
    collections(r)
    load(r)
    writer = Writer()
    writer.start()
    try:
        scan(r)
    finally:
        writer.done.set()
        writer.join()
    assert writer.writes > 0, "nothing was written during the scan"
    print("redis-py %s: %d keys, each once, beside %d writes" % (redis.__version__, KEYS, writer.writes))


main()
