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
