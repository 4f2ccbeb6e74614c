/** Each promise of docs/board.md about safety, broken on purpose. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { EngineDescription } from '#sardonyx/board/protocol/replies.js';
import { Access } from '#sardonyx/board/server/access.js';
import { RateLimit } from '#sardonyx/board/server/board-server.js';
import { BoardProcess } from '../support/board-process.js';

/** A guard that is missing must not leave a test waiting for ever. */
const LIMITED = { timeout: 900_000 };

let board: BoardProcess;
let cookie: string;
/** The path of the page, with a slash at both ends. */
let place: string;

before(async () => {
  board = await BoardProcess.start();
  ({ cookie, place } = await board.fetchSession());
});

after(async () => {
  await board.stop();
});

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** Not fetch, which forbids to set Host and tidies paths up. */
async function get(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  const sent = request({ port: board.port, host: '127.0.0.1', path, method, headers });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

/** @returns the status with which the handshake is refused; 101 when it is not */
function shakeHands(headers: Record<string, string>, path = `${place}engine`): Promise<number> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${board.port}${path}`, { headers });
    socket.on('open', () => {
      socket.terminate();
      resolve(101);
    });
    socket.on('unexpected-response', (_, response) => resolve(response.statusCode ?? 0));
    socket.on('error', () => undefined);
  });
}

test('it listens on 127.0.0.1 alone', async () => {
  assert.equal(new URL(board.url).hostname, '127.0.0.1');
  const socket = connect(board.port, '127.0.0.2');
  const [event] = await Promise.race([
    once(socket, 'error').then(() => ['refused']),
    once(socket, 'connect').then(() => ['connected']),
  ]);
  socket.destroy();
  assert.equal(event, 'refused');
});

test('the token is exchanged for a cookie that scripts and other sites cannot use, and leaves the address', async () => {
  const { status, headers } = await get(new URL(board.url).pathname + new URL(board.url).search);
  assert.equal(status, 303);
  const location = headers.location ?? '';
  assert.doesNotMatch(location, /token/);
  assert.deepEqual((await get(location, { Cookie: cookie })).headers.location, place);
  assert.match((await get(location)).text, /keeps no cookies of 127\.0\.0\.1:\d+: allow them/);
  assert.equal(headers['referrer-policy'], 'no-referrer');
  assert.equal(headers['cache-control'], 'no-store');
  const [set = ''] = headers['set-cookie'] ?? [];
  assert.match(set, /HttpOnly/);
  assert.match(set, /SameSite=Strict/);
  // A server on another port would get a cookie of every path.
  assert.match(set, new RegExp(`; Path=${place};`));
  assert.match(place, /^\/[\w-]{32}\/$/);
  const token = new URL(board.url).searchParams.get('token') ?? '';
  assert.ok(token.length >= 32);
  assert.ok(!set.includes(token));
});

test('without the cookie there is neither page nor engine', async () => {
  for (const path of ['/', '/files.json', place, `${place}files.json`]) assert.equal((await get(path)).status, 401);
  assert.equal((await get(place, { Cookie: `sardonyx_${board.port}=guess` })).status, 401);
  assert.equal(await shakeHands({ Origin: board.origin }), 401);
  assert.equal(await shakeHands({ Origin: board.origin, Cookie: `sardonyx_${board.port}=` }), 401);
});

test('the cookie alone opens nothing: the path of the page belongs to it, and no answer without it names the path', async () => {
  const Cookie = cookie;
  for (const path of ['/', '/engine', '/index.html', '/x/', '/?cookies', '/?token=', `/${new URL(board.url).search}`]) {
    for (const headers of [{}, { Cookie }] as Record<string, string>[]) {
      const answer = await get(path, headers);
      assert.ok(answer.status === 401 || answer.status === 403, `${path}: ${answer.status}`);
      assert.ok(!`${JSON.stringify(answer.headers)}${answer.text}`.includes(place.slice(1, -1)), path);
    }
    assert.equal(await shakeHands({ Cookie, Origin: board.origin }, path), 404, path);
  }
  assert.equal((await get(place, { Cookie })).status, 200);
});

test('a foreign Host is refused even with the cookie', async () => {
  for (const Host of [
    'evil.example',
    `evil.example:${board.port}`,
    '127.0.0.1',
    `127.0.0.1:${board.port}.evil.example`,
  ]) {
    assert.equal((await get(place, { Host, Cookie: cookie })).status, 403, Host);
    assert.equal(await shakeHands({ Host, Origin: `http://${Host}`, Cookie: cookie }), 403, Host);
  }
});

test('localhost leads to 127.0.0.1, so that what a browser keeps belongs to one name; no other name leads anywhere', async () => {
  const Host = `localhost:${board.port}`;
  for (const path of ['/', place, `/${new URL(board.url).search}`, '//evil.example/', `${place}engine?x`]) {
    const { status, headers } = await get(path, { Host });
    assert.deepEqual([status, headers.location], [303, `${board.origin}${path}`]);
  }
  assert.equal((await get('http://evil.example/', { Host })).headers.location, `${board.origin}/`);
  assert.equal((await get(place, { Host: `localhost:${board.port}.evil.example` })).status, 403);
  assert.equal(await shakeHands({ Host, Origin: `http://${Host}` }), 401);
});

test('a refusal is a page without a script that takes the token, or the address that ends with it, from this origin alone', async () => {
  for (const [path, status] of [
    ['/', 401],
    [place, 401],
    ['/old-place/', 401],
    ['/?token=wrong', 403],
  ] as const) {
    const refusal = await get(path);
    assert.equal(refusal.status, status);
    assert.match(refusal.text, /<form method="post" action="\/">[\s\S]*<input id="token"/);
    assert.doesNotMatch(refusal.text, /script/i);
    assert.equal(refusal.headers['cache-control'], 'no-store');
    assert.match(
      String(refusal.headers['content-security-policy']),
      /^default-src 'none'; style-src 'sha256-[^']+'; .*form-action 'self'/,
    );
  }
  const post = (token: string, Origin: string): Promise<Response> =>
    fetch(`${board.origin}/`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      headers: { Origin },
      redirect: 'manual',
    });
  const address = board.lines.at(-1) ?? board.url;
  for (const Origin of ['http://evil.example', 'null']) assert.equal((await post(address, Origin)).status, 403);
  for (const token of ['', 'wrong', 'x'.repeat(1e6)]) {
    const refusal = await post(token, board.origin).catch(() => null);
    assert.equal(refusal?.status ?? 403, 403);
    assert.equal(refusal?.headers.get('set-cookie') ?? null, null);
  }
  for (const token of [address, ` ${new URL(address).searchParams.get('token')} `]) {
    const answer = await post(token, board.origin);
    assert.deepEqual([answer.status, answer.headers.get('location')], [303, `${place}?cookies`]);
  }
  assert.equal((await get('/', {}, 'POST')).status, 403);
});

test('two boards at the usual port: the second takes the next, and says so in a sentence', async () => {
  const children = [1, 2].map(() => BoardProcess.start(['--backend=hash', '--port=']));
  const boards = await Promise.all(children);
  assert.notEqual(boards[0].port, boards[1].port);
  for (const own of boards) {
    assert.ok(own.port >= 24827 && own.port < 32768, own.url);
    await own.stop();
    if (own.port > 24827) assert.match(own.errors, /Port 24827 is taken.*this one is at port \d+/);
    else assert.equal(own.errors, '');
  }
});

test('a foreign Origin is refused even with the cookie, and a WebSocket needs one', async () => {
  for (const Origin of ['http://evil.example', 'null', `https://127.0.0.1:${board.port}`, 'http://127.0.0.1:1']) {
    assert.equal((await get(place, { Origin, Cookie: cookie })).status, 403, Origin);
    assert.equal(await shakeHands({ Origin, Cookie: cookie }), 403, Origin);
  }
  assert.equal(await shakeHands({ Cookie: cookie }), 403);
  assert.equal(await shakeHands({ Cookie: cookie, Origin: board.origin }), 101);
});

test('only the files of the page are served, whatever the path', async () => {
  const escapes = [
    '/../package.json',
    '/..%2f..%2fpackage.json',
    '/assets/../../../../package.json',
    '/%2e%2e/%2e%2e/etc/passwd',
    '//etc/passwd',
    '/etc/passwd',
    '/assets/',
    '/index.html/..',
    '/\\..\\package.json',
    '/%00',
    '/%',
    '/@fs/etc/passwd',
  ];
  for (const path of escapes) {
    const { status, text } = await get(`${place}${path.slice(1)}`, { Cookie: cookie });
    assert.ok(status === 404 || (status === 200 && text.includes('<title>Sardonyx</title>')), `${path}: ${status}`);
    assert.doesNotMatch(text, /"devDependencies"|root:/);
  }
  assert.equal((await get(place, { Cookie: cookie }, 'POST')).status, 403);
  assert.equal((await get(place, { Cookie: cookie, Origin: board.origin }, 'POST')).status, 405);
});

test('every answer carries a strict policy, and the page names no other host', async () => {
  const page = await get(place, { Cookie: cookie });
  assert.equal(page.status, 200);
  const policy = String(page.headers['content-security-policy']);
  assert.match(policy, /default-src 'none'/);
  assert.match(policy, /script-src 'self'(;|$)/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.doesNotMatch(page.text, /https?:\/\//);
  assert.doesNotMatch(page.text, /<script>|<style|style=/);
  assert.equal(page.headers['referrer-policy'], 'no-referrer');
  for (const path of ['/', '/nothing', place]) {
    const { headers } = await get(path);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    // The form of the refusal must send its origin, to this server alone.
    assert.equal(headers['referrer-policy'], 'same-origin');
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin');
    assert.equal(headers['access-control-allow-origin'], undefined);
  }
});

test('a message of 10 MB ends its connection, and the engine lives', LIMITED, async () => {
  const socket = await board.connect();
  socket.socket.send(JSON.stringify({ type: 'describe', id: 1, padding: 'x'.repeat(10 << 20) }));
  const [code] = await once(socket.socket, 'close');
  assert.equal(code, 1009);
  const other = await board.connect();
  assert.equal((await other.ask('describe')).type, 'answer');
  other.close();
});

test(
  '10,000 messages at once: the first are served, the rest refused, the flood is cut off, others go on',
  LIMITED,
  async () => {
    const flood = await board.connect();
    const closed = once(flood.socket, 'close');
    // Together: the server reads a thousand and more at a time.
    const wire = Reflect.get(flood.socket, '_socket') as Socket;
    wire.cork();
    for (let i = 0; i < 10_000; i++) flood.socket.send(`{"type":"stop","id":${i}}`);
    wire.uncork();
    const other = await board.connect();
    assert.equal((await other.ask('describe')).type, 'answer');
    const [code] = await closed;
    // The connection may break before its close frame has come through the flood.
    assert.ok(code === 1008 || code === 1006, `${code}`);
    assert.equal((await other.ask('describe')).type, 'answer');
    other.close();
  },
);

test('a page sends 200 messages at once, and then 50 a second', () => {
  const rate = new RateLimit(0);
  const countServed = (nowMs: number): number =>
    Array.from({ length: 1000 }, () => rate.take(nowMs)).filter(Boolean).length;
  assert.deepEqual([0, 0, 20, 1020, 100_000].map(countServed), [200, 0, 1, 50, 200]);
});

test('a wrong message is one refusal, and the next one is answered', async () => {
  const socket = await board.connect();
  const bad = [
    'no json',
    'null',
    '[]',
    '{}',
    '{"type":"describe"}',
    '{"type":"nothing","id":5}',
    '{"type":"analyse","id":6,"position":{"fen":null,"moves":["e2e9"]},"multiPv":1}',
    '{"type":"analyse","id":7,"position":{"fen":"x","moves":[]},"multiPv":1}',
    '{"type":"think","id":8,"position":{"fen":null,"moves":[]},"limits":{},"multiPv":1,"elo":null}',
    '{"type":"setOption","id":9,"name":"__proto__","value":"1"}',
    '{"type":"describe","id":10,"more":1}',
    `{"type":"${'x'.repeat(500_000)}","id":11}`,
    `{"type":"describe","id":12,"${'x'.repeat(500_000)}":1}`,
    `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
  ];
  for (const text of bad) {
    const refusal = socket.waitFor(({ type }) => type === 'refusal');
    socket.socket.send(text);
    const { error } = await refusal;
    assert.ok(typeof error === 'string' && error.length < 1100, text.slice(0, 100));
  }
  socket.socket.send(Buffer.from([1, 2, 3]), { binary: true });
  await socket.waitFor(({ type }) => type === 'refusal');
  assert.equal(socket.received.filter(({ type }) => type === 'refusal').length, bad.length + 1);
  assert.equal((await socket.ask('describe')).type, 'answer');
  socket.close();
});

test('a message over the rate is refused by its number, so that its sender need not wait for ever', async () => {
  const socket = await board.connect();
  const refusal = socket.waitFor(({ error }) => String(error).startsWith('Too many messages'));
  for (let i = 0; i < 600; i++) socket.socket.send(JSON.stringify({ type: 'stop', id: 1000 + i }));
  assert.ok(Number((await refusal).id) >= 1000);
  socket.close();
});

test('no option that opens a file can be set, and no network that was not offered', async () => {
  const socket = await board.connect();
  for (const name of ['LogFile', 'ConfigFile', 'SyzygyPath', 'WeightsFile', 'BackendOptions', 'logfile']) {
    const { type, error } = await socket.ask('setOption', { name, value: '/tmp/x' });
    assert.equal(type, 'refusal', name);
    assert.match(String(error), /command line/);
  }
  const network = await socket.ask('useNetwork', { name: '/etc/passwd' });
  assert.match(String(network.error), /No network of that name/);
  socket.close();
});

test('a page reserves no more than half of the memory and the cores, and is told so', async () => {
  const page = await board.connect();
  const { options } = (await page.ask('describe')).answer as EngineDescription;
  const [memory, cores] = [totalmem() / 2, availableParallelism()];
  for (const [name, unit] of [
    ['Hash', 2 ** 20],
    ['NNCacheSize', 100],
    ['RamLimitMb', 1e6],
    ['MinibatchSize', 0],
    ['MaxPrefetch', 0],
    ['Threads', 0],
  ] as const) {
    const spec = options.find((option) => option.spec.uci === name)?.spec;
    assert.ok(spec?.kind === 'int');
    const most = unit === 0 ? Math.max(1024, cores) : memory / unit;
    assert.ok(spec.max >= 1 && spec.max <= most, `${name} ${spec.max}`);
    for (const [other, value] of [
      [name, spec.max + 1],
      [name.toLowerCase(), 1_048_576],
      [name, 1e8],
    ] as const) {
      if (value <= spec.max) continue;
      const { error } = await page.ask('setOption', { name: other, value: String(value) });
      assert.match(String(error), new RegExp(`^Option ${name} must lie between 0 and ${spec.max}, not `));
    }
  }
  assert.equal((await page.ask('setOption', { name: 'Hash', value: '16' })).type, 'answer');
  page.close();
});

test('the connection of a page that asks on and reads nothing ends, and others are answered', LIMITED, async () => {
  const folder = join(board.folder, 'matches');
  mkdirSync(folder, { recursive: true });
  const conditions = {};
  const origin = { players: ['a', 'b'], tournament: 'round-robin', games: 9000, sprt: null, pgn: null };
  const row = { white: 'a', black: 'b'.repeat(99), result: '1-0', reason: 'checkmate', plies: 9 };
  const rows = Array.from({ length: 5000 }, (_, game) => JSON.stringify({ ...row, game }));
  writeFileSync(join(folder, 'many.jsonl'), `${JSON.stringify({ conditions, origin })}\n${rows.join('\n')}\n`);
  const [page, other] = [await board.connect(), await board.connect()];
  page.socket.pause();
  for (let id = 1; id <= 100; id++) page.socket.send(JSON.stringify({ type: 'readMatch', id, name: 'many' }));
  for (let i = 0; i < 20; i++) assert.equal((await other.ask('readMatch', { name: 'many' })).type, 'answer');
  page.socket.resume();
  await once(page.socket, 'close');
  assert.ok(page.received.length < 100, `${page.received.length} answers were kept`);
  assert.equal((await other.ask('describe')).type, 'answer');
  other.close();
});

test('50 pages are served at once, and from the 65th on they are turned away', LIMITED, async () => {
  const sockets = await Promise.all(Array.from({ length: 50 }, () => board.connect()));
  const answers = await Promise.all(sockets.map((socket) => socket.ask('describe')));
  assert.ok(answers.every(({ type }) => type === 'answer'));
  const more = await Promise.allSettled(Array.from({ length: 15 }, () => board.connect()));
  const refusals = more
    .filter(({ status }) => status === 'rejected')
    .map((refused) => (refused as PromiseRejectedResult).reason);
  assert.ok(refusals.length >= 1);
  for (const refusal of refusals) assert.match(String(refusal), /503/);
  for (const socket of sockets) socket.close();
  for (const socket of more) if (socket.status === 'fulfilled') socket.value.close();
});

test('a token is for one browser, wrong ones keep nobody out, and the next URL is printed', async () => {
  const path = `/${new URL(board.url).search}`;
  assert.equal((await get(path)).status, 403);
  for (let i = 0; i < 30; i++) assert.equal((await get(`/?token=wrong${i}`)).status, 403);
  const next = `/${new URL(board.lines[0]).search}`;
  const { status, headers } = await get(next);
  assert.equal(status, 303);
  const other = String(headers['set-cookie']).split(';')[0];
  assert.notEqual(other, cookie);
  // A browser that has lost the answer may ask again, until it has come back with the cookie.
  assert.equal((await get(next)).status, 303);
  for (const Cookie of [other, cookie]) assert.equal((await get(place, { Cookie })).status, 200);
  assert.equal((await get(next)).status, 403);
});

test('each exchange of a token gives a cookie of its own, and the first one that is used voids the others', () => {
  let spent = 0;
  const access = new Access(['127.0.0.1'], 1, () => spent++);
  const { token } = access;
  const open = (): { cookie: string } => ({ cookie: String(access.exchange(token)).split(';')[0] });
  const cookies = [open(), open(), open()];
  assert.equal(new Set(cookies.map(({ cookie }) => cookie)).size, 3);
  assert.deepEqual(
    [1, 0, 2, 1].map((i) => access.hasCookie(cookies[i])),
    [true, false, false, true],
  );
  assert.deepEqual([access.exchange(token), spent], [null, 1]);
  assert.notEqual(access.token, token);
});

test('a token that is lent ends after two minutes, or when it was used; the printed one stays', () => {
  let spent = 0;
  const access = new Access(['127.0.0.1'], 1, () => spent++);
  const [used, unused] = [access.lendToken(0), access.lendToken(0)];
  const open = (token: string, nowMs: number): { cookie: string } => ({
    cookie: String(access.exchange(token, nowMs)).split(';')[0],
  });
  const [first, late] = [open(used, 0), open(unused, 119_000)];
  assert.ok(access.hasCookie(first, 119_999) && access.hasCookie(first, 130_000));
  assert.deepEqual([access.exchange(used, 119_999), access.exchange(unused, 120_000)], [null, null]);
  assert.ok(!access.hasCookie(late, 120_000));
  assert.equal(spent, 0);
  assert.ok(access.hasCookie(open(access.token, 1e6), 2e6));
  assert.equal(spent, 1);
});

test('a cookie ends when it was not used for a day, and the oldest one when there are too many', () => {
  let spent = 0;
  const access = new Access(['127.0.0.1'], 1, () => spent++);
  const open = (): { cookie: string } => ({ cookie: String(access.exchange(access.token)).split(';')[0] });
  const first = open();
  assert.ok(access.hasCookie(first, 0) && access.hasCookie(first, 80e6) && access.hasCookie(first, 160e6));
  assert.ok(!access.hasCookie(first, 250e6) && !access.hasCookie(first, 250e6));
  const others = Array.from({ length: 33 }, (_, i) => {
    const one = open();
    assert.ok(access.hasCookie(one, 300e6 + i));
    return one;
  });
  assert.deepEqual(
    others.map((one) => access.hasCookie(one, 301e6)),
    others.map((_, i) => i > 0),
  );
  assert.equal(spent, 34);
});

test('what is no HTTP, or has too many headers, is answered and ends its connection', async () => {
  const start = `GET ${place} HTTP/1.1\r\nHost: 127.0.0.1:${board.port}\r\nCookie: ${cookie}\r\n`;
  const book = start.replace('GET /', 'PUT /').replace('/ HTTP', '/files/book?name=a.pgn HTTP');
  const put = `${book}Origin: ${board.origin}\r\n`;
  const rows: readonly (readonly [bytes: string, status: number])[] = [
    [`${start}${Array.from({ length: 3000 }, (_, i) => `a${i}: b\r\n`).join('')}\r\n`, 431],
    [`${start}Cookie: ${'a=b;'.repeat(10_000)}\r\n\r\n`, 431],
    [`GET /${'a'.repeat(100_000)} HTTP/1.1\r\n\r\n`, 431],
    [`${start}no colon\r\n\r\n`, 400],
    [`${start}Cookie : ${cookie}\r\n\r\n`, 400],
    [`${start.replaceAll('\r', '')}\n`, 400],
    [`FOO ${place} HTTP/1.1\r\n\r\n`, 400],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['CONNECT example.com:80 HTTP/1.1\r\nHost: example.com\r\n\r\n', 405],
    [`${put}Content-Length: -5\r\n\r\n`, 400],
    [`${put}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello`, 400],
    [`${put}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${start}\r\n`, 400],
    [`${put}Transfer-Encoding: chunked\r\n\r\nzz\r\n`, 400],
    [`${put}Transfer-Encoding: chunked\r\n\r\n5;${'a'.repeat(30_000)}\r\nhello\r\n0\r\n\r\n`, 431],
    [`${put}Content-Length: 99999999999\r\nConnection: close\r\n\r\n`, 413],
  ];
  for (const [bytes, status] of rows) {
    const socket = connect(board.port, '127.0.0.1').on('error', () => undefined);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk;
    });
    socket.write(bytes, 'latin1');
    await once(socket, 'close');
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `), bytes.slice(0, 300));
    assert.equal((await get(place, { Cookie: cookie })).status, 200);
  }
});

const HEAD = (start: string, ...more: string[]): string =>
  [`${start} HTTP/1.1`, `Host: 127.0.0.1:${board.port}`, ...more, '', ''].join('\r\n');

for (const [what, write] of [
  ['say nothing', () => ''],
  ['never end their headers', () => HEAD('GET /').slice(0, -2)],
  ['send a byte every now and then behind whole headers', () => `${HEAD('GET /', 'Content-Length: 999')}x`],
  [
    'upload without the cookie',
    () => `${HEAD(`PUT ${place}files/network?name=a.onnx`, `Origin: ${board.origin}`, 'Content-Length: 999999')}x`,
  ],
  ['post in pieces', () => `${HEAD(`POST ${place}`, 'Transfer-Encoding: chunked')}1\r\nx\r\n`],
  ['ask for the token again and again', () => `${HEAD('GET /?token=x')}${HEAD('GET /')}`.repeat(9)],
  [
    'open WebSockets from another page',
    () =>
      HEAD(
        `GET ${place}engine`,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Origin: http://evil.example',
        'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
        'Sec-WebSocket-Version: 13',
      ),
  ],
] as const) {
  test(`600 connections that ${what} keep nobody out`, LIMITED, async () => {
    const sockets = Array.from({ length: 600 }, () => connect(board.port, '127.0.0.1').on('error', () => undefined));
    for (const socket of sockets) socket.write(write());
    await Promise.all(
      sockets.slice(-20).map((socket) => (socket.connecting ? once(socket, 'connect').catch(() => undefined) : null)),
    );
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write('x');
    }, 20);
    for (let i = 0; i < 40; i++) assert.equal((await get(place, { Cookie: cookie, Connection: 'close' })).status, 200);
    const page = await board.connect();
    assert.equal((await page.ask('describe')).type, 'answer');
    page.close();
    clearInterval(drip);
    // Those that were answered are left at once, whatever else they send.
    for (const socket of sockets) socket.resume();
    if (!/nothing|headers/.test(what.slice(0, 30)))
      await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
    for (const socket of sockets) socket.destroy();
  });
}

test('an upload with the cookie has all the time that it needs, and the connection of a refusal without it is closed', async () => {
  const start = `PUT ${place}files/book?name=slow.epd`;
  const upload = connect(board.port, '127.0.0.1');
  const expectation = 'Expect: 100-continue';
  upload.write(
    HEAD(start, `Origin: ${board.origin}`, `Cookie: ${cookie}`, 'Content-Length: 34', 'Connection: close', expectation),
  );
  assert.match(String((await once(upload, 'data'))[0]), /^HTTP\/1\.1 100 /);
  const others = Array.from({ length: 600 }, () => connect(board.port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(others.map((socket) => once(socket, 'connect').catch(() => undefined)));
  upload.write('4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n\n\n');
  let answer = '';
  for await (const chunk of upload) answer += chunk;
  assert.match(answer, /^HTTP\/1\.1 200 [\s\S]*slow\.epd\n/);
  for (const socket of others) socket.destroy();
  for (const path of ['/', place, `${place}nothing`]) {
    assert.equal((await get(path)).headers.connection, 'close');
    assert.equal((await get(path, { Origin: 'http://evil.example', Cookie: cookie })).headers.connection, 'close');
  }
});

test('the page travels compressed to browsers that take gzip', async () => {
  const plain = await get(place, { Cookie: cookie });
  assert.equal(plain.headers['content-encoding'], undefined);
  const gzipped = await fetch(`http://127.0.0.1:${board.port}${place}`, {
    headers: { Cookie: cookie, 'Accept-Encoding': 'gzip' },
  });
  assert.equal(gzipped.headers.get('content-encoding'), 'gzip');
  assert.equal(await gzipped.text(), plain.text);
  const refused = await get(place, { Cookie: cookie, 'Accept-Encoding': 'br, gzip;q=0' });
  assert.equal(refused.headers['content-encoding'], undefined);
});

test('the address in the arguments of the browser is not the printed one, which stays for another', {
  skip: process.platform !== 'linux' && 'the system opens the browser in another way',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-browser-'));
  const opened = join(folder, 'opened');
  writeFileSync(join(folder, 'xdg-open'), `#!/bin/sh\necho "$1" > ${opened}.part\nmv ${opened}.part ${opened}\n`, {
    mode: 0o755,
  });
  const own = await BoardProcess.start(['--backend=hash', '--open'], {
    DISPLAY: ':9',
    PATH: `${folder}:${process.env.PATH}`,
  });
  try {
    while (!existsSync(opened)) await setTimeout(20);
    const url = readFileSync(opened, 'utf8').trim();
    assert.notEqual(url, own.url);
    for (const address of [url, own.url]) {
      const exchanged = await fetch(address, { redirect: 'manual' });
      const headers = { Cookie: String(exchanged.headers.get('set-cookie')).split(';')[0] };
      assert.equal((await fetch(new URL(String(exchanged.headers.get('location')), address), { headers })).status, 200);
      assert.equal((await fetch(address, { redirect: 'manual' })).status, 403);
    }
  } finally {
    await own.stop();
    rmSync(folder, { recursive: true });
  }
});

test('Ctrl-C ends everything, with nothing on stderr', {
  skip: process.platform === 'win32' && 'Windows ends a process without a signal',
}, async () => {
  assert.equal(await board.stop(), 130);
  assert.equal(board.errors, '');
});
