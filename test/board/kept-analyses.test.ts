/** What the board's server keeps for its pages: nothing newer is replaced, nothing strange is read or written, limits hold. */
import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { KeptAnalyses } from '#sardonyx/board/server/kept-analyses.js';
import { BoardProcess } from '../support/board-process.js';

const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-kept-'));
after(() => rmSync(scratch, { recursive: true }));

const entry = (id: string, chapters = 1, more = {}): string =>
  JSON.stringify({ id, name: id, changedAtMs: 1, chapters, chapter: 0, path: [0, 1], orientation: 'white', ...more });
const games = (count: number, text: string): unknown[] => Array.from({ length: count }, () => ({ title: 't', text }));
const block = (number: number, count: number, text: string): string => JSON.stringify([number, games(count, text)]);
const refusal = (status: number, words = /./) => ({ status, message: words });
const isPosix = process.platform !== 'win32';

test('an analysis is kept for this user alone, changed in parts, read as it is, and deleted', async () => {
  const folder = join(scratch, 'a', 'board');
  const kept = new KeptAnalyses(folder);
  assert.deepEqual(await kept.list(), { analyses: [], problems: [] });
  const first = await kept.put('a-1', 0, [entry('a-1', 250), block(0, 200, '1. e4'), block(1, 50, '1. d4')].join('\n'));
  const second = await kept.put(
    'a-1',
    first,
    [entry('a-1', 251, { name: 'Z' }), block(1, 51, '1. c4 {\n}')].join('\n'),
  );
  assert.ok(second > first);
  const { revision, text } = await kept.read('a-1');
  assert.equal(revision, second);
  const [head, ...blocks] = text.split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(
    [head.name, ...blocks.flat().map((game: { text: string }) => game.text)],
    ['Z', ...Array(200).fill('1. e4'), ...Array(51).fill('1. c4 {\n}')],
  );
  const third = await kept.put('a-1', second, entry('a-1', 251, { path: [] }));
  assert.deepEqual(
    (await kept.list()).analyses.map(({ id, revision: number, path }) => [id, number, path]),
    [['a-1', third, []]],
  );
  assert.deepEqual(readdirSync(folder), [`a-1.${third}.json`]);
  if (isPosix) assert.equal(statSync(folder).mode & 0o777, 0o700);
  if (isPosix) assert.equal(statSync(join(folder, `a-1.${third}.json`)).mode & 0o777, 0o600);
  await assert.rejects(kept.remove('a-1', second), refusal(409));
  await kept.remove('a-1', third);
  assert.deepEqual(readdirSync(folder), []);
  await assert.rejects(kept.read('a-1'), refusal(404));
});

test('two servers over one folder: of two changes of one state one is refused, and a number never means two states', async () => {
  const folder = join(scratch, 'two');
  const servers = [new KeptAnalyses(folder), new KeptAnalyses(folder)];
  let base = await servers[0].put('b', 0, `${entry('b')}\n${block(0, 1, 'start')}`);
  const seen = new Set([base]);
  for (let round = 0; round < 20; round++) {
    const tries = await Promise.allSettled(
      servers.map((server, index) => server.put('b', base, `${entry('b')}\n${block(0, 1, `${round} ${index}`)}`)),
    );
    const won = tries.findIndex(({ status }) => status === 'fulfilled');
    const [lost] = tries.filter((answer) => answer.status === 'rejected');
    assert.equal(lost?.status === 'rejected' && lost.reason.status, 409);
    const { revision, text } = await servers[round % 2].read('b');
    assert.match(text, new RegExp(`"${round} ${won}"`));
    base = revision;
    seen.add(base);
  }
  assert.equal(seen.size, 21);
  await servers[1].remove('b', base);
  const again = await servers[0].put('b', 0, `${entry('b')}\n${block(0, 1, 'again')}`);
  assert.ok(!seen.has(again));
  await assert.rejects(servers[1].put('b', 0, `${entry('b')}\n${block(0, 1, 'x')}`), refusal(409));
});

test('what is no analysis is refused, and nothing of it is written', async () => {
  const folder = join(scratch, 'none');
  const kept = new KeptAnalyses(folder);
  for (const text of [
    '',
    'null',
    '[]',
    '{}',
    entry('other'),
    entry('c'),
    entry('c', 0),
    entry('c', 1e9),
    entry('c', 1.5),
    `${entry('c')}\n`,
    `${entry('c')}\nnull`,
    `${entry('c')}\n[0, [{}]]`,
    `${entry('c')}\n${block(1, 1, 'x')}`,
    `${entry('c')}\n${block(-1, 1, 'x')}`,
    `${entry('c')}\n${block(0, 2, 'x')}`,
    `${entry('c', 250)}\n${block(0, 50, 'x')}\n${block(1, 200, 'x')}`,
    `${entry('c', 450)}\n${block(0, 200, 'x')}\n${block(2, 50, 'x')}`,
    `${entry('c', 1, { name: 'x'.repeat(70_000) })}\n${block(0, 1, 'x')}`,
  ]) {
    await assert.rejects(kept.put('c', 0, text), refusal(422), text.slice(0, 100));
  }
  assert.ok(!existsSync(folder));
});

test('limits: the size of one, their number, their sum', async () => {
  const folder = join(scratch, 'limits');
  const kept = new KeptAnalyses(folder);
  await assert.rejects(
    kept.put('d', 0, `${entry('d')}\n${block(0, 1, 'x'.repeat(33e6))}`),
    refusal(413, /at most 32 MB: delete/),
  );
  const base = await kept.put('d', 0, `${entry('d')}\n${block(0, 1, 'x')}`);
  for (let i = 0; i < 1999; i++) writeFileSync(join(folder, `e-${i}.1.json`), '');
  await assert.rejects(kept.put('f', 0, `${entry('f')}\n${block(0, 1, 'x')}`), refusal(413, /at most 2000 analyses/));
  const next = await kept.put('d', base, entry('d', 1, { name: 'still changed' }));
  for (let i = 0; i < 1999; i++) rmSync(join(folder, `e-${i}.1.json`));
  for (let i = 0; i < 34; i++) {
    writeFileSync(join(folder, `g-${i}.1.json`), '');
    truncateSync(join(folder, `g-${i}.1.json`), 30e6);
  }
  await assert.rejects(kept.put('d', next, entry('d')), refusal(413, /at most 1000 MB of analyses/));
});

test('strange files of the folder are left alone, and those that look like analyses are named', async () => {
  const folder = join(scratch, 'strange');
  const kept = new KeptAnalyses(folder);
  await kept.put('good', 0, `${entry('good')}\n${block(0, 1, '1. e4')}`);
  const secret = join(scratch, 'secret');
  writeFileSync(secret, `${entry('link')}\n${JSON.stringify(games(1, 'secret'))}`);
  if (isPosix) symlinkSync(secret, join(folder, 'link.1.json'));
  mkdirSync(join(folder, 'folder.1.json'));
  const broken = {
    'nonsense.1.json': '\0\xff{',
    'empty.1.json': '',
    'null.1.json': 'null',
    'wrong.1.json': entry('good'),
    'long.1.json': entry('long', 1, { name: 'x'.repeat(70_000) }),
    'cut.1.json': `${entry('cut', 3)}\n${JSON.stringify(games(2, 'x'))}`,
    'huge.1.json': `${entry('huge')}\n`,
    'notes.txt': 'mine',
    'UPPER.1.json': 'x',
    '..1.json': 'x',
  };
  for (const [name, text] of Object.entries(broken)) writeFileSync(join(folder, name), text);
  truncateSync(join(folder, 'huge.1.json'), 40e6);
  const { analyses, problems } = await kept.list();
  assert.deepEqual(analyses.map(({ id }) => id).sort(), ['cut', 'good', 'huge']);
  assert.deepEqual(
    problems
      .map((problem) => /(\w+)\.1\.json is no analysis that can be read: it is left as it is$/.exec(problem)?.[1])
      .sort(),
    ['empty', 'long', 'nonsense', 'null', 'wrong'],
  );
  for (const id of ['cut', 'huge', 'nonsense']) await assert.rejects(kept.read(id), refusal(422, /left as it is/));
  for (const id of ['link', 'folder', 'notes']) await assert.rejects(kept.read(id), refusal(404));
  for (const [name, text] of Object.entries(broken))
    assert.equal(readFileSync(join(folder, name), 'utf8').slice(0, text.length), Buffer.from(text).toString());
});

test('a folder that cannot be written to, or that is none, costs one sentence', async () => {
  const file = join(scratch, 'file');
  writeFileSync(file, 'x');
  const text = `${entry('h')}\n${block(0, 1, 'x')}`;
  await assert.rejects(new KeptAnalyses(file).put('h', 0, text), refusal(507, /file/));
  await assert.rejects(new KeptAnalyses(join(file, 'board')).put('h', 0, text), refusal(507, /file/));
  await assert.rejects(new KeptAnalyses(undefined).put('h', 0, text), refusal(507, /SARDONYX_DATA/));
  await assert.rejects(new KeptAnalyses(undefined).list(), refusal(507, /SARDONYX_DATA/));
  const full = '/dev/full';
  if (process.platform === 'linux') await assert.rejects(new KeptAnalyses(full).put('h', 0, text), refusal(507));
  if (!isPosix || process.getuid?.() === 0) return;
  const shut = join(scratch, 'shut');
  mkdirSync(shut);
  chmodSync(shut, 0o500);
  await assert.rejects(new KeptAnalyses(join(shut, 'board')).put('h', 0, text), refusal(507, /not permitted/));
});

test('over HTTP a change needs the cookie, the own Origin and the state that it changes; names lead nowhere else', async () => {
  const board = await BoardProcess.start();
  const { cookie, place } = await board.fetchSession();
  const ask = async (path: string, method = 'GET', more: Record<string, string> = {}, body?: string) => {
    const headers = { Cookie: cookie, Origin: board.origin, ...more };
    const response = await fetch(`${board.origin}${place}kept/${path}`, { method, headers, ...(body && { body }) });
    return { status: response.status, text: await response.text(), tag: response.headers.get('ETag') ?? '' };
  };
  const text = `${entry('i-1')}\n${block(0, 1, '1. e4')}`;
  const made = await ask('i-1', 'PUT', { 'If-Match': '"0"' }, text);
  assert.equal(made.status, 200);
  const right = { 'If-Match': made.tag };
  for (const [status, more] of [
    [403, { ...right, Origin: 'http://evil.example' }],
    [403, { ...right, Origin: 'null' }],
    [401, { ...right, Cookie: 'x=y' }],
    [428, {}],
    [428, { 'If-Match': '*' }],
    [409, { 'If-Match': '"0"' }],
    [409, { 'If-Match': '"7"' }],
  ] as [number, Record<string, string>][]) {
    for (const method of ['PUT', 'DELETE'])
      assert.equal((await ask('i-1', method, more, method === 'PUT' ? text : undefined)).status, status);
  }
  const withoutOrigin = await fetch(`${board.origin}${place}kept/i-1`, {
    method: 'DELETE',
    headers: { Cookie: cookie, ...right },
  });
  assert.equal(withoutOrigin.status, 403);
  for (const path of ['..%2f..%2fx', '%2e%2e/x', 'a/b', 'A', 'a.b', 'x'.repeat(65), '%00', 'a%5Cb'])
    for (const method of ['GET', 'PUT'])
      assert.ok(
        [404, 405].includes((await ask(path, method, right, method === 'PUT' ? text : undefined)).status),
        path,
      );
  assert.equal((await ask('i-2', 'PUT', { 'If-Match': '"0"' }, 'x'.repeat(33e6))).status, 413);
  assert.equal((await ask('i-1')).tag, made.tag);
  assert.deepEqual(
    JSON.parse((await ask('')).text).analyses.map(({ id }: { id: string }) => id),
    ['i-1'],
  );
  assert.equal((await ask('i-1', 'DELETE', right)).status, 200);
  assert.equal((await ask('i-1')).status, 404);
  assert.equal(await board.stop(), 130);
  assert.equal(board.errors, '');
});
