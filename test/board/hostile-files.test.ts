/**
 * Files of a stranger in the matches' folder, and what a page sends: no program is started that the server was not started with, no
 * file outside is read, every request is answered, and nobody waits for another's file.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createPrng, describeRefusal, type Prng, unwrap } from '#sardonyx/base/util/index.js';
import { HttpRefusal } from '#sardonyx/board/server/http-refusal.js';
import { Matches } from '#sardonyx/board/server/matches.js';
import { MatchBooks, MatchPlayers, OfferedNetworks } from '#sardonyx/board/server/offers.js';
import { SentFiles } from '#sardonyx/board/server/sent-files.js';
import { createOptionStore, readSettings } from '#sardonyx/engine/app/options.js';
import { createMatchOpenings } from '#sardonyx/games/openings/index.js';
import { loadModel } from '#sardonyx/networks/nn/index.js';
import { BoardProcess } from '../support/board-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

const SECRET = 'the secret of another folder';
const ENGINE = 'cmd=/opt/engine args="--quiet" option.Hash=16 name=Known';
/** Writes down how it was started. */
const RECORDER = "require('fs').appendFileSync(process.argv[1], JSON.stringify(process.argv.slice(2)) + '\\n')";

const HALF_MB = Math.floor(totalmem() / 2 ** 21);

const root = mkdtempSync(join(tmpdir(), 'sardonyx-hostile-'));
const outside = join(root, 'outside');
const log = join(root, 'started');
let folder = '';
let matches: Matches;
let folders = 0;

mkdirSync(outside);
writeFileSync(join(outside, 'games.pgn'), `[Event "${SECRET}"]\n\n1. e4 *\n`);
writeFileSync(join(outside, 'book.epd'), 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n');
after(() => rmSync(root, { recursive: true, force: true }));

let books: MatchBooks;
before(async () => {
  books = await MatchBooks.open([join(outside, 'book.epd')]);
});

beforeEach(() => {
  folder = join(root, String(folders++));
  mkdirSync(folder);
  writeFileSync(log, '');
  const options = createOptionStore();
  unwrap(options.set('Backend', 'hash'));
  const players = new MatchPlayers(new OfferedNetworks(options, []), [ENGINE]);
  const command = [process.execPath, '-e', RECORDER, log];
  matches = new Matches(folder, command, players, books);
});

const RANDOM = { kind: 'random', name: 'random' };
const LIMITS = { timeControl: null, movetimeMs: null, nodes: 1, depth: null };
const KNOWN = {
  kind: 'uci',
  engine: { command: '/opt/engine', args: ['--quiet'], name: 'Known', folder: null, options: [['Hash', '16']] },
  limits: LIMITS,
};
const CONDITIONS = {
  players: [RANDOM, KNOWN],
  flags: [['cpuct', '2']],
  rules: { resign: null, draw: { moveNumber: 40, moveCount: 8, score: 10 }, maxPlies: 200 },
  seed: 1,
  chess960: false,
  book: null as string | null,
  order: 'shuffled',
  openingPlies: null,
  timeMarginMs: 50,
};
const ORIGIN = {
  players: ['random', 'Known'],
  tournament: 'round-robin',
  games: 2,
  sprt: null,
  pgn: null as string | null,
};

interface Parts {
  readonly conditions?: object;
  readonly origin?: object;
}

function write(name: string, { conditions, origin }: Parts): void {
  const header = { conditions: { ...CONDITIONS, ...conditions }, origin: { ...ORIGIN, ...origin } };
  writeFileSync(join(folder, `${name}.jsonl`), `${JSON.stringify(header)}\n`);
}

/** Everything that a page can ask of a match. @returns all answers and refusals as one text, and those of going on */
async function askAll(name: string): Promise<{ all: string; resumed: string }> {
  const answers: string[] = [];
  const ask = async (question: () => unknown): Promise<void> => {
    try {
      answers.push(JSON.stringify(await question()) ?? '');
    } catch (error) {
      answers.push(describeRefusal(error));
    }
  };
  await ask(() => matches.list());
  await ask(() => matches.read(name, 0));
  await ask(() => matches.readGame(name, 0));
  await ask(() => {
    const path = matches.findPgn(name);
    return path === null ? '' : readFileSync(path, 'utf8');
  });
  await ask(() => matches.resume(name));
  const resumed = answers.at(-1) ?? '';
  // Two matches run at most: the next one is refused while the program of this one has not ended.
  while (resumed === '' && matches.list().some(({ isRunning }) => isRunning)) await setTimeout(5);
  return { all: answers.join('\n'), resumed };
}

/** The commands that matches were started with since the test began. */
function readStarted(): string[][] {
  return readFileSync(log, 'utf8')
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as string[]);
}

test('a match of the command line goes on with arguments that are built from its conditions', async () => {
  write('own', { origin: { concurrency: 3, event: 'A "B"', pgn: join(folder, 'own.pgn') } });
  assert.equal((await askAll('own')).resumed, '');
  assert.deepEqual(readStarted(), [
    [
      'match',
      '--engine=type="random" name="random"',
      '--engine=cmd="/opt/engine" arg="--quiet" name="Known" option.Hash="16" nodes="1"',
      '--cpuct=2',
      '--games=2',
      '--rating-interval=0',
      '--concurrency=3',
      '--draw=movenumber=40 movecount=8 score=10',
      '--max-plies=200',
      '--event=A "B"',
      '--seed=1',
      '--time-margin=50',
      `--results=${join(folder, 'own.jsonl')}`,
      `--pgnout=${join(folder, 'own.pgn')}`,
      '--live',
    ],
  ]);
});

test('stored arguments are never run, and a record that hides its players is damaged', async () => {
  const mark = join(root, 'mark');
  const args = ['match', '--engine', `cmd=/usr/bin/touch args=${mark}`, '--engine', 'random', '--each', 'nodes=1'];
  const origin = { ...ORIGIN, args, folder: '.', players: ['a', 'b'], pgn: '/etc/passwd' };
  writeFileSync(join(folder, 'bare.jsonl'), `${JSON.stringify({ conditions: { players: [] }, origin })}\n`);
  writeFileSync(
    join(folder, 'saved.json'),
    JSON.stringify({ players: ['a', 'b'], tournament: 'round-robin', games: 2, conditions: '', sprt: null, args }),
  );
  assert.match((await askAll('bare')).resumed, /conditions that the page does not know/);
  assert.match((await askAll('saved')).resumed, /no match of that name/);
  assert.deepEqual(readStarted(), []);
  assert.ok(!existsSync(mark));
});

const engine = (change: object): object => ({
  conditions: { players: [RANDOM, { ...KNOWN, engine: { ...KNOWN.engine, ...change } }] },
});
const network = (change: object): object => ({
  conditions: {
    players: [RANDOM, { kind: 'network', name: null, weights: '', limits: LIMITS, options: [], ...change }],
  },
});

for (const [what, parts, sentence] of [
  ['another program', engine({ command: '/bin/sh' }), /needs the engine \/bin\/sh/],
  ['other arguments of an engine', engine({ args: ['-c', 'x'] }), /needs the engine/],
  [
    'an option of an engine that may name a file',
    engine({ options: [['Debug Log File', '/tmp/x']] }),
    /needs the engine/,
  ],
  ['another folder of an engine', engine({ folder: '/tmp' }), /needs the engine/],
  ['a network of another folder', network({ weights: '/etc/passwd' }), /needs the network \/etc\/passwd/],
  ['a network of an address', network({ weights: 'https://example.org/x.pb.gz' }), /needs the network https/],
  ['a log file of a network', network({ options: [['logfile', '/tmp/x']] }), /uses logfile=/],
  ['a log file of all players', { conditions: { flags: [['logfile', '/tmp/x']] } }, /uses logfile=/],
  ['a network of all players', { conditions: { flags: [['weights', '/etc/passwd']] } }, /uses weights=/],
  ['a cache larger than the machine', { conditions: { flags: [['nncache', '999999999']] } }, /uses nncache=999999999,/],
  ['a cache of which all players have half', { conditions: { flags: [['Hash', String(HALF_MB)]] } }, /uses Hash=/],
  ['a tree larger than the machine', { conditions: { flags: [['ramlimit-mb', '1e8']] } }, /uses ramlimit-mb=1e8,/],
  ['more threads than cores', network({ options: [['threads', String(availableParallelism() + 1)]] }), /uses threads=/],
  ['a value that is none', { conditions: { flags: [['cpuct', 'x\u200by']] } }, /uses cpuct=/],
  ['a flag that hides another', { conditions: { flags: [['cpuct=1 --engine', 'x']] } }, /uses cpuct=1/],
  ['tablebases', { conditions: { tablebases: '/etc' } }, /uses --syzygy-paths/],
  ['a book of another folder', { conditions: { book: '/etc/passwd' } }, /needs the book \/etc\/passwd/],
  ['a field that nobody knows', { conditions: { program: '/bin/sh' } }, /conditions that the page does not know/],
  ['games of another file', { origin: { pgn: join(outside, 'games.pgn') } }, /games of this match are not in/],
  ['a test that is none', { origin: { sprt: 'elo0=5 --engine=x' } }, /damaged/],
  ['a name of two lines', { origin: { players: ['a\n{"type":"position"', 'Known'] } }, /damaged/],
  ['an event of two lines', { origin: { event: 'a\u0085b' } }, /damaged/],
  ['a network with a name of two lines', network({ name: 'a\n{"type":"result"' }), /page does not know/],
  [
    'a random mover with a name of two lines',
    { conditions: { players: [{ ...RANDOM, name: 'a\rb' }, KNOWN] } },
    /not know/,
  ],
] as const) {
  test(`a record with ${what} is refused, and nothing of it is read`, async () => {
    write('bad', parts);
    const { all, resumed } = await askAll('bad');
    assert.match(resumed, sentence);
    assert.ok(!all.includes(SECRET) && !all.includes('root:'), all);
    assert.deepEqual(readStarted(), []);
  });
}

test('whatever the program of a match prints, the server goes on, and one sentence says that it was no news', async () => {
  const position = { type: 'position', game: 0, white: 'a', black: 'b', fen: '', plies: 0, lastMove: null };
  const rest = { startFen: '', moves: [], thoughts: [null, null], remainingMs: [null, null] };
  for (const [script, problem] of [
    [
      `console.log('A library says hello'); console.log(${JSON.stringify(JSON.stringify({ ...position, ...rest }))})`,
      /^$/,
    ],
    [`console.log('{"type":"position"')`, /^The match has printed what is no news of it: \{"type":"position"$/],
    [`console.log('{"type":"position","game":"__proto__"}'); console.log('{"type":"result"}')`, /no news of it/],
    [`console.log('{"type":"result","game":null}')`, /no news of it/],
    [`console.log('{"type":' + '['.repeat(1e6))`, /no news of it.{0,80}$/],
    [`for (let i = 0; i < 64; i++) process.stdout.write('{'.repeat(1 << 20))`, /no news of it.{0,80}$/],
    [`process.stdout.write(Buffer.from([123, 255, 254, 10]))`, /no news of it/],
    [`process.exitCode = 3`, /^The match ended without a reason$/],
    [`console.error('a\u001b[2J' + 'x'.repeat(1e6)); process.exitCode = 1`, /^x{1000}…$/],
  ] as const) {
    const options = createOptionStore();
    unwrap(options.set('Backend', 'hash'));
    const players = new MatchPlayers(new OfferedNetworks(options, []), [ENGINE]);
    const noisy = new Matches(folder, [process.execPath, '-e', script], players, books);
    const request = { players: ['random', 'Known'], clock: null, nodes: 1, games: 2, sprt: null, chess960: false };
    const name = await noisy.start({ ...request, tournament: 'round-robin', concurrency: 1, book: null });
    while ((await noisy.read(name, 0)).isRunning) await setTimeout(5);
    assert.match((await noisy.read(name, 0)).problem, problem, script);
    noisy.remove(name);
  }
});

test('what a link could lead elsewhere is passed on as it was checked', async () => {
  const deep = join(outside, 'deep', 'er');
  mkdirSync(deep, { recursive: true });
  symlinkSync(deep, join(folder, 'link'));
  const networks = join(root, 'networks');
  mkdirSync(networks, { recursive: true });
  writeFileSync(join(networks, 'own.onnx'), '');
  mkdirSync(join(folder, 'books'));
  writeFileSync(join(folder, 'books', 'kept.epd'), '');
  const options = createOptionStore();
  unwrap(options.set('Backend', 'hash'));
  const players = new MatchPlayers(new OfferedNetworks(options, [networks]), [ENGINE]);
  matches = new Matches(folder, [process.execPath, '-e', RECORDER, log], players, books);
  const throughLink = (path: string): string => `${folder}/link/../${relative(folder, path)}`;
  for (const [i, [book, passed]] of [
    [throughLink(join(outside, 'book.epd')), join(outside, 'book.epd')],
    [throughLink(join(folder, 'books', 'kept.epd')), join(folder, 'books', 'kept.epd')],
    [join(outside, 'book.epd'), join(outside, 'book.epd')],
    // No link can lead elsewhere, and the conditions hold the path as it was given.
    [relative('.', join(outside, 'book.epd')), relative('.', join(outside, 'book.epd'))],
  ].entries()) {
    const { conditions } = network({ weights: throughLink(join(networks, 'own.onnx')) }) as { conditions: object };
    write(`way${i}`, { conditions: { ...conditions, book } });
    assert.equal((await askAll(`way${i}`)).resumed, '');
    const args = readStarted().at(-1) ?? [];
    assert.ok(args.includes(`--openings-pgn=${passed}`), args.join(' '));
    assert.ok(
      args.includes(`--engine=type="network" weights="${join(networks, 'own.onnx')}" nodes="1"`),
      args.join(' '),
    );
  }
  const { conditions } = network({ weights: `${process.cwd()}/bt4` }) as { conditions: object };
  write('name', { conditions });
  assert.match((await askAll('name')).resumed, /needs the network/);
});

test('a match that is refused at its start is not kept', async () => {
  const options = createOptionStore();
  unwrap(options.set('Backend', 'hash'));
  const players = new MatchPlayers(new OfferedNetworks(options, []), [ENGINE]);
  const long = new Matches(folder, [process.execPath, '-e', 'setTimeout(() => undefined, 1e8)'], players, books);
  const request = { players: ['random', 'Known'], clock: null, nodes: 1, games: 2, sprt: null, chess960: false };
  const start = (): Promise<string> =>
    long.start({ ...request, tournament: 'round-robin', concurrency: 1, book: null });
  const names = [await start(), await start()];
  for (let i = 0; i < 3; i++) await assert.rejects(start(), /2 matches run already/);
  assert.deepEqual(
    long
      .list()
      .map(({ name }) => name)
      .sort(),
    names.sort(),
  );
  assert.deepEqual(readdirSync(folder).sort(), names.map((name) => `${name}.json`).sort());
  await long.close();
});

test('a folder of matches that cannot be made is one sentence, and the server goes on', {
  skip: process.platform !== 'linux',
}, async () => {
  const players = new MatchPlayers(new OfferedNetworks(createOptionStore(), []), [ENGINE]);
  const nowhere = new Matches('/proc/none/matches', [process.execPath, '-e', ''], players, books);
  const request = { players: ['random', 'Known'], clock: null, nodes: 1, games: 2, sprt: null, chess960: false };
  await assert.rejects(
    nowhere.start({ ...request, tournament: 'round-robin', concurrency: 1, book: null }),
    /^Error: Cannot create the folder \/proc\/none\/matches: no folder can be created there$/,
  );
});

test('a link that leads nowhere hides none of the networks beside it', () => {
  symlinkSync(join(folder, 'missing.onnx'), join(folder, 'a.onnx'));
  symlinkSync(join(folder, 'b.onnx'), join(folder, 'b.onnx'));
  writeFileSync(join(folder, 'c.onnx'), '');
  const { entries } = new OfferedNetworks(createOptionStore(), [folder]);
  assert.deepEqual(
    entries.flatMap(({ name }) => (/^[abc]\.onnx$/.test(name) ? [name] : [])),
    ['c.onnx'],
  );
});

test('files that are sent at once have the room of all together, and what does not come is given back', async () => {
  const sent = new SentFiles({ network: async (name) => name, book: async (name) => name });
  const send = (content: PassThrough, bytes: number | null): Promise<string> =>
    sent.receive('network', 'net.onnx', content, bytes);
  const contents = Array.from({ length: 5 }, () => new PassThrough());
  const results = contents.map((content) => send(content, 900e6).catch((error: Error) => error));
  for (const refused of results.slice(3)) assert.ok((await refused) instanceof HttpRefusal);
  contents[0].destroy();
  assert.ok((await results[0]) instanceof Error);
  const [again, unannounced] = [new PassThrough(), new PassThrough()];
  const last = [send(again, 900e6), send(unannounced, null)];
  unannounced.end('x');
  assert.equal(await last[1], 'net.onnx');
  for (const content of [...contents.slice(1, 3), again]) content.end();
  assert.equal(await last[0], 'net.onnx');
  await sent.close();
});

test('links, pipes and books behind links are no files of a match', async () => {
  write('pgn', { origin: { pgn: join(folder, 'pgn.pgn') } });
  symlinkSync(join(outside, 'games.pgn'), join(folder, 'pgn.pgn'));
  writeFileSync(join(outside, 'games.jsonl'), readFileSync(join(folder, 'pgn.jsonl')));
  symlinkSync(join(outside, 'games.jsonl'), join(folder, 'link.jsonl'));
  symlinkSync('/dev/zero', join(folder, 'zero.json'));
  const makePipe = 'mkfifo';
  if (process.platform !== 'win32') {
    execFileSync(makePipe, [join(folder, 'pipe.jsonl'), join(folder, 'pipe.json'), join(folder, 'pgn.jsonl.lock')]);
  }
  symlinkSync(outside, join(folder, 'books'));
  write('book', { conditions: { book: join(folder, 'books', 'games.pgn') } });
  for (const name of ['pgn', 'link', 'zero', 'pipe', 'book']) {
    const { all, resumed } = await askAll(name);
    assert.ok(!all.includes(SECRET), all);
    assert.match(resumed, /no plain file|no match of that name|needs the book/);
  }
  assert.deepEqual(readStarted(), []);
});

test('a record of many games is told in parts, and one of long lines or of other data is damaged', async () => {
  write('many', {});
  const row = { game: 0, white: 'random', black: 'Known', result: '1-0', reason: 'checkmate', plies: 9 };
  const rows = Array.from({ length: 20_000 }, (_, game) => JSON.stringify({ ...row, game }));
  writeFileSync(join(folder, 'many.jsonl'), `${rows.join('\n')}\n`, { flag: 'a' });
  const first = await matches.read('many', 0);
  assert.deepEqual([first.played, first.games.length, first.total], [20_000, 5000, 20_000]);
  assert.equal((await matches.read('many', 15_000)).games.length, 5000);
  for (const [name, text] of [
    ['long', 'x'.repeat(1 << 20)],
    ['reason', `${JSON.stringify({ ...row, reason: 'none' })}\n`],
    ['game', `${JSON.stringify({ ...row, game: -1 })}\n`],
    ['no-json', '{\n'],
  ] as const) {
    write(name, {});
    writeFileSync(join(folder, `${name}.jsonl`), text, { flag: 'a' });
    await assert.rejects(matches.read(name, 0), /are damaged$/);
  }
});

/** Values that a stranger would try. */
const VALUES: readonly unknown[] = [
  null,
  -1,
  1e300,
  '',
  '/etc/passwd',
  '../outside/games.pgn',
  join(outside, 'games.pgn'),
  `cmd=/usr/bin/touch args=${join(root, 'mark')}`,
  '--engine=cmd=/bin/sh',
  '$(touch mark)',
  'a"b\'c\nd\u0000\u001b[2J',
  'x'.repeat(100_000),
  [],
  {},
  [['logfile', '/tmp/x']],
  { kind: 'uci', engine: { command: '/bin/sh', args: [], name: null, folder: '/', options: [] }, limits: LIMITS },
  [RANDOM, RANDOM, RANDOM],
  Array.from({ length: 5000 }, () => 'p'),
];

/** Replaces, removes or adds a field somewhere in a value. */
function mutate(value: unknown, prng: Prng): unknown {
  const draw = <T>(list: readonly T[]): T => list[prng.nextBelow(list.length)];
  if (typeof value !== 'object' || value === null || prng.nextBelow(8) === 0) return draw(VALUES);
  const keys = Object.keys(value);
  const key =
    keys.length === 0 || prng.nextBelow(10) === 0 ? draw(['args', 'folder', 'command', '__proto__']) : draw(keys);
  const changed = mutate((value as Record<string, unknown>)[key], prng);
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? changed : item));
  return { ...value, [key]: changed };
}

test('150 records that a seeded program made hostile start only what is offered, and show nothing from outside', async () => {
  const prng = createPrng(46);
  const page = { players: ['random', 'Known'], clock: null, nodes: 1, games: 2, sprt: null, chess960: false };
  const row = { game: 0, white: 'random', black: 'Known', result: '1-0', reason: 'time', plies: 9, pgnBytes: 40 };
  for (let i = 0; i < 150; i++) {
    const header = { conditions: CONDITIONS, origin: { ...ORIGIN, pgn: join(folder, `m${i}.pgn`) } };
    const file = mutate({ header, row, page }, prng) as Record<string, unknown> | null;
    const lines = [file?.header, file?.row].map((line) => JSON.stringify(line) ?? '');
    writeFileSync(join(folder, `m${i}.jsonl`), `${lines.join('\n')}\n`.slice(prng.nextBelow(2)));
    if (i % 3 === 0) writeFileSync(join(folder, `m${i}.json`), JSON.stringify(mutate(file?.page, prng)));
    if (i % 5 === 0) symlinkSync(join(outside, 'games.pgn'), join(folder, `m${i}.pgn`));
    const { all } = await askAll(`m${i}`);
    assert.ok(!all.includes(SECRET) && !all.includes('root:'), all);
  }
  assert.ok(readStarted().length > 5, `${readStarted().length} programs were started`);
  const words = new Set(readStarted().flatMap((args) => args.filter((arg) => arg.startsWith('--engine='))));
  for (const word of words) assert.match(word, /^--engine=(random$|type="random" |cmd="?\/opt\/engine"? arg)/);
  for (const args of readStarted()) {
    for (const arg of args) assert.doesNotMatch(arg, /passwd|--logfile|outside\/games|mark/);
  }
  assert.ok(!existsSync(join(root, 'mark')));
});

/** Changes, cuts or repeats bytes. */
function damage(bytes: Uint8Array, prng: Prng): Buffer {
  const damaged = Buffer.from(bytes);
  for (let i = prng.nextBelow(20); i >= 0; i--) damaged[prng.nextBelow(damaged.length)] = prng.nextBelow(256);
  const cut = prng.nextBelow(damaged.length);
  const kind = prng.nextBelow(4);
  if (kind === 0) return damaged.subarray(0, cut);
  return kind === 1 ? Buffer.concat([damaged, damaged.subarray(cut)]) : damaged;
}

function isSentence({ ok, error = '' }: { readonly ok: boolean; readonly error?: string }): boolean {
  return (
    ok || (error !== '' && error.length < 2000 && !error.includes('\n') && !error.includes('Cannot read properties'))
  );
}

test('100 networks, 50 books and 50 configs that a seeded program damaged are read or are one sentence', async () => {
  const prng = createPrng(47);
  const network = readFileSync(join(repositoryRoot, 'models', 'tiny-test.onnx'));
  for (let i = 0; i < 100; i++) {
    const bytes = damage(network.subarray(0, i % 2 === 0 ? 4000 : network.length), prng);
    const result = await loadModel({ bytes: i % 5 === 0 ? gzipSync(bytes) : bytes, name: 'net.onnx' });
    assert.ok(isSentence(result), JSON.stringify(result).slice(0, 500));
  }
  const games = Buffer.from('[Event "x"]\n[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"]\n\n1. e4 {a} e5 (1... c5) $1 *\n\n');
  for (let i = 0; i < 50; i++) {
    const ending = ['pgn', 'epd', 'bin', 'pgn.gz', 'epd.zst', 'pgn.bz2'][i % 6];
    const path = join(folder, `book${i}.${ending}`);
    const bytes = damage(games, prng);
    writeFileSync(path, ending.endsWith('gz') ? damage(gzipSync(bytes), prng) : bytes);
    const request = { book: path, maxPlies: null, order: 'random', seed: i, games: 4, chess960: true } as const;
    assert.ok(isSentence(await createMatchOpenings(request)), path);
  }
  const before = process.cwd();
  process.chdir(folder);
  try {
    const lines = [
      'threads=2',
      'weights=https://example.org/n',
      'logfile=/tmp/x',
      'syzygy-paths=/',
      '-w /etc/passwd',
      '#',
    ];
    for (let i = 0; i < 50; i++) {
      const chosen = Array.from({ length: 9 }, () => lines[prng.nextBelow(lines.length)]).join('\n');
      writeFileSync('lc0.config', i % 2 === 0 ? chosen : damage(Buffer.from(chosen), prng));
      const { options, faults } = unwrap(readSettings([], ['lc0.config']));
      for (const name of ['LogFile', 'SyzygyPath', 'ConfigFile', 'WeightsFile']) {
        assert.equal(options.getString(name), getDefault(options, name), name);
      }
      assert.ok(faults.every((error) => isSentence({ ok: false, error })));
    }
  } finally {
    process.chdir(before);
  }
});

function getDefault(options: ReturnType<typeof createOptionStore>, name: string): unknown {
  const spec = options.find(name);
  return spec?.kind === 'string' ? spec.default : '';
}

test('books that are bombs are one sentence, and the server answers others while it reads them', async () => {
  const fen = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n';
  const bombs = [
    {
      name: 'newlines.epd.gz',
      bytes: gzipSync(Buffer.alloc(1 << 25, '\n'), { level: 1 }),
      sentence: /unpacks to more than|lines/,
    },
    {
      name: 'positions.epd.gz',
      bytes: gzipSync(Buffer.alloc(200 << 20, fen), { level: 1 }),
      sentence: /unpacks to more than|192 MB/,
    },
  ];
  const board = await BoardProcess.start(['--backend=hash']);
  try {
    const page = await board.connect();
    for (const { name, bytes, sentence } of bombs) {
      const order: string[] = [];
      const sending = board.send(`files/book?name=${name}`, bytes).finally(() => order.push('book'));
      await page.ask('readMatchOffer').then(() => order.push('page'));
      const { status, text } = await sending;
      assert.deepEqual([status, order], [422, ['page', 'book']], text);
      assert.match(text, sentence);
      assert.match(text, new RegExp(`^The book ${name} `));
    }
    page.close();
  } finally {
    await board.stop();
  }
});
