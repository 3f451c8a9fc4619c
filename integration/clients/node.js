// Drives one Node.js client library: node node.js ioredis5|ioredis6|redis4|redis5|redis6
//
// Environment: FIRN_ADDR host:port, FIRN_KEYS how many keys stay (20000).
// What is checked is told in run.sh. Exit status 0 if all of it held.
'use strict';
const assert = require('node:assert/strict');

const library = process.argv[2];
const [host, port] = (process.env.FIRN_ADDR || '127.0.0.1:6379').split(':');
const keys = Number(process.env.FIRN_KEYS || 20000);
const count = keys > 100000 ? 1000 : 10;
const batch = 1000;

// The two families, reduced to the few calls that the check makes.
const families = {
  ioredis: {
    open: async () => {
      const { Redis } = require(library);
      const c = new Redis({ host, port: Number(port) });
      await c.ping();
      return c;
    },
    pipeline: async (c, commands) => {
      const p = c.pipeline();
      for (const [name, ...args] of commands) p.call(name, ...args);
      return (await p.exec()).map(([err, reply]) => { if (err) throw err; return reply; });
    },
    scan: (c) => c.scanStream({ count }),
    // members yields those of a hash (h), set (s) or sorted set (z).
    members: async function* (c, type, key) {
      for await (const page of c[`${type}scanStream`](key)) {
        for (let i = 0; i < page.length; i += type === 's' ? 1 : 2) yield page[i];
      }
    },
    fields: (c, key) => c.hgetall(key),
    close: (c) => c.quit(),
  },
  redis: {
    open: async () => {
      const c = require(library).createClient({ socket: { host, port: Number(port) } });
      c.on('error', (err) => { console.error(err); process.exit(1); });
      await c.connect();
      return c;
    },
    pipeline: (c, commands) => Promise.all(commands.map((command) => c.sendCommand(command))),
    scan: (c) => c.scanIterator({ COUNT: count }),
    members: async function* (c, type, key) {
      for await (const page of c[`${type}ScanIterator`](key)) {
        for (const item of Array.isArray(page) ? page : [page]) yield type === 's' ? item : item.field ?? item.value;
      }
    },
    fields: (c, key) => c.hGetAll(key),
    close: (c) => (c.close ? c.close() : c.quit()),
  },
};

async function basics(f, c) {
  const key = `basics:${library}`;
  const value = 'snö\r\n\0 ☃';
  assert.equal(await c.set(key, value), 'OK');
  assert.equal(await c.get(key), value);
  assert.equal(await c.get(`${key}:missing`), null);
  const many = [['INCR', `${key}:n`], ['INCR', `${key}:n`], ['GET', key], ['DEL', `${key}:n`, key]];
  assert.deepEqual(await f.pipeline(c, many), [1, 2, value, 2]);
  await assert.rejects(f.pipeline(c, [['GET']]), /wrong number of arguments/);
}

// Fills one of each type and walks it with the library's iterators, while other
// members come and go.
async function collections(f, c) {
  const key = (type) => `basics:${library}:${type}`;
  const stay = Array.from({ length: 2000 }, (_, i) => `m${i}`);
  const add = { h: (m, i) => ['HSET', key('h'), m, `${i}`], s: (m) => ['SADD', key('s'), m], z: (m, i) => ['ZADD', key('z'), `${i}`, m] };
  const remove = { h: 'HDEL', s: 'SREM', z: 'ZREM' };
  for (const type of ['h', 's', 'z']) {
    assert.deepEqual(await f.pipeline(c, stay.map(add[type])), stay.map(() => 1));
    const seen = [];
    for await (const member of f.members(c, type, key(type))) {
      seen.push(member);
      await f.pipeline(c, [add[type](`go${seen.length}`, -1), [remove[type], key(type), `go${seen.length - 20}`]]);
    }
    assert.deepEqual(seen.filter((m) => m.startsWith('m')).sort(), [...stay].sort(), type);
  }
  await f.pipeline(c, [['DEL', key('h')], ['HSET', key('h'), 'a', '1', 'b', ''], ['RPUSH', key('l'), ...stay]]);
  assert.deepEqual({ ...await f.fields(c, key('h')) }, { a: '1', b: '' });
  const [, , items, id] = await f.pipeline(c, [['LPOP', key('l'), '2'], ['RPOP', key('l')], ['LRANGE', key('l'), '0', '-1'], ['XADD', key('x'), '*', 'a', '1']]);
  assert.deepEqual(items, stay.slice(2, -1));
  assert.deepEqual(await f.pipeline(c, [['XRANGE', key('x'), '-', '+']]), [[[id, ['a', '1']]]]);
  assert.deepEqual(await f.pipeline(c, [['DEL', ...['h', 's', 'z', 'l', 'x'].map(key)]]), [5]);
}

async function load(f, c) {
  if (await c.get('loaded') === String(keys)) return;
  for (let i = 0; i < keys; i += batch) {
    const commands = [];
    for (let j = i; j < Math.min(i + batch, keys); j++) commands.push(['SET', `stay:${j}`, `value:${j}`]);
    await f.pipeline(c, commands);
  }
  await c.set('loaded', String(keys));
}

// Adds keys and deletes them again until it is told to stop.
async function write(f, c, state) {
  while (!state.done) {
    const name = `go:${library}:${state.writes++}`;
    const old = `go:${library}:${state.writes - 100}`;
    await f.pipeline(c, [['SET', name, 'x'], ['DEL', old]]);
  }
  for (let i = state.writes - 101; i < state.writes; i++) await c.del(`go:${library}:${i}`);
}

async function scan(f, c, state) {
  const seen = new Uint8Array(keys);
  for await (const page of f.scan(c)) {
    for (const key of Array.isArray(page) ? page : [page]) {
      if (key.startsWith('stay:')) seen[Number(key.slice(5))]++;
    }
  }
  state.done = true;
  const missing = seen.filter((n) => n === 0).length;
  const twice = seen.filter((n) => n > 1).length;
  assert.deepEqual({ missing, twice }, { missing: 0, twice: 0 });
  assert.ok(state.writes > 0, 'nothing was written during the scan');
}

async function main() {
  const f = families[library.replace(/\d+$/, '')];
  const [reader, writer] = [await f.open(), await f.open()];
  await basics(f, reader);
  await collections(f, reader);
  await load(f, reader);
  const state = { done: false, writes: 0 };
  const writing = write(f, writer, state);
  await scan(f, reader, state);
  await writing;
  await f.close(reader);
  await f.close(writer);
  console.log(`${library}: ${keys} keys, each once, beside ${state.writes} writes`);
}

main().catch((err) => { console.error(`${library}:`, err); process.exit(1); });
