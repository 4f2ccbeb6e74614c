#!/usr/bin/env node
// Packs much of nothing in every packing and gives it to every command that reads files, then to the doors of the board, which is asked
// twenty times a second meanwhile, over a new connection each time. Then come attacks on the board that need no file. Each must end
// within 20 s and 600 MB with one sentence, and the board answer within 100 ms.
// usage: node scripts/lab/reliability/bombs.mjs [WORD…] [--mb=200] [--python=.venv/bin/python] [--under='chrt -f 50']
// (Linux; needs bzip2, zstd, xz, zip, tar and GNU time, and a build with its tests; words choose rows)
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';

const { values: flags, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    mb: { type: 'string', default: '200' },
    python: { type: 'string', default: '.venv/bin/python' },
    under: { type: 'string', default: '' },
  },
});
const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const support = join(root, 'build', 'test', 'support');
const { BoardProcess } = await import(join(support, 'board-process.js'));
const { createTarHead } = await import(join(support, 'packed-games.js'));
const main = join(root, 'dist', 'cli', 'main.js');
const work = mkdtempSync(join(tmpdir(), 'bombs-'));
const env = { ...process.env, PYTHONPATH: join(root, 'scripts', 'train') };
const TIMEOUT_S = 60;
/** bzip2 needs a second for a megabyte of what repeats. */
const SLOWLY_PACKED_MB = 10;
const LIMITS = { seconds: 20, megabytes: 600, waitMs: 100 };

const GAME = '[Event "a"]\n[White "x"]\n[Black "y"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n';
const POSITION = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4; id "a";\n';
const LABELS = '{"plies":[["e2e4",[["e2e4",20],["d2d4",19]]],["e7e5",[["e7e5",-20]]]],"result":"1-0"}\n';

/** What is packed again and again, and what stands before it. */
const CONTENTS = [
  ['games', 'pgn', GAME],
  ['tiny games', 'pgn', '1. e4 *\n'],
  ['newlines', 'pgn', '\n'],
  ['one comment', 'pgn', 'a', '1. e4 {'],
  ['one tag', 'pgn', 'a', '[Event "'],
  ['positions', 'epd', POSITION],
  ['FENs', 'fen', '4k3/8/8/8/8/8/8/4K2R w K - 0 1\n'],
  ['one line', 'epd', 'x'],
  ['labels', 'jsonl', LABELS],
  ['one line', 'jsonl', '[', '{"plies":'],
  ['records', 'v6', createRecords],
  ['zeros', 'v6', Buffer.alloc(1 << 16), Buffer.from([6, 0, 0, 0])],
  ['zeros', 'onnx', Buffer.alloc(1 << 16), Buffer.from('08071200', 'hex')],
  ['zeros', 'pb', Buffer.alloc(1 << 16), Buffer.from('0dc0de001c', 'hex')],
  ['zeros', 'bin', Buffer.alloc(1 << 16)],
];
const PACKINGS = {
  gz: ['gzip -c', ''],
  zst: ['zstd -q -c', ''],
  bz2: ['bzip2 -c', ''],
  xz: ['xz -0 -c', ''],
  zip: ['zip -q - -', 'zip'],
  'tar.gz': ['gzip -c', 'tar'],
  'tar.zst': ['zstd -q -c', 'tar'],
  'tar.bz2': ['bzip2 -c', 'tar'],
};
const NETWORKS = ['gz', 'zst', 'xz'];

/** Parts of a packed file that hold nothing or one game, again and again: they cost time, not memory. */
const TINY = Buffer.from('1. e4 *\n');
const PARTS_MB = 8;
const PARTS = {
  'empty.gz': () => gzipSync(''),
  'tiny.gz': () => gzipSync(TINY),
  'empty.bz2': () => execFileSync('bzip2', ['-c'], { input: '' }),
  'tiny.bz2': () => execFileSync('bzip2', ['-c'], { input: TINY }),
  'empty.zst': () => execFileSync('zstd', ['-q', '-c'], { input: '' }),
  'tiny.zst': () => execFileSync('zstd', ['-q', '-c'], { input: TINY }),
  'skipped.zst': () => Buffer.from('502a4d1800000000', 'hex'),
};

const match = (path) => [
  'match',
  '--engine=random',
  '--engine=random',
  '--games=2',
  '--rating-interval=0',
  `--openings-pgn=${path}`,
];
const out = () => mkdtempSync(join(work, 'out-'));
const network = [
  ['describenet', (path) => ['describenet', path]],
  ['eval', (path) => ['eval', `--weights=${path}`, '--backend=cpu', '--threads=1']],
];
const shards = ['shards', (path) => ['shards', path, '--out', out(), '--threads=1']];
const rescore = ['rescore', (path) => ['rescore', path, '--out', out()]];
const pretrain = ['pretrain', (path) => ['pretrain', path, '--out', out()]];
const analyse = ['analyse', (path) => ['analyse', path, '--backend=hash', '--threads=1', '--nodes=1']];
const label = ['label', (path) => ['label', '--engine=cmd=false', `--out=${out()}`, '--from', path]];
const labelBook = [
  'label --book',
  (path) => ['label', '--engine=cmd=false', `--out=${out()}`, '--games=1', `--book=${path}:1:0`],
];
const suite = ['suite', (path) => ['suite', path, '--backend=hash', '--threads=1', '--nodes=1']];
const book = ['match', match];
const COMMANDS = {
  pgn: [analyse, shards, label, labelBook, book, pretrain],
  epd: [analyse, suite, label, labelBook, book],
  fen: [analyse, label, book],
  jsonl: [shards, label, rescore, pretrain],
  v6: [shards, rescore, pretrain],
  onnx: network,
  pb: network,
  bin: [book],
};
const DOORS = { pgn: 'book', epd: 'book', fen: 'book', bin: 'book', onnx: 'network', pb: 'network' };

function createRecords() {
  const folder = join(work, 'records');
  if (!existsSync(folder)) {
    const flags = ['--backend=hash', '--threads=1', '--visits=4', '--games=1', '--max-plies=20', '--training'];
    execFileSync(process.execPath, [main, 'selfplay', ...flags, `--out=${folder}`], { stdio: 'ignore' });
  }
  return gunzipSync(readFileSync(join(folder, 'game_000000.gz')));
}

/** @returns the path of the packed file */
async function pack(ending, packing, unit, before) {
  const [tool, archive] = PACKINGS[packing];
  const name = `bomb.${ending}`;
  const isTar = archive === 'tar';
  const path = join(work, archive === 'zip' ? `${name}.zip` : `${name}.${packing}`);
  const bytes = Buffer.from(typeof unit === 'function' ? unit() : unit);
  const block = Buffer.concat(Array(Math.ceil((1 << 20) / bytes.length)).fill(bytes));
  const head = Buffer.from(before ?? '');
  async function* write() {
    const size = 1e6 * Number(packing.endsWith('bz2') ? SLOWLY_PACKED_MB : flags.mb);
    if (isTar) yield createTarHead(name, head.length + Math.ceil(size / block.length) * block.length);
    yield head;
    for (let written = 0; written < size; written += block.length) yield block;
    if (isTar) yield Buffer.alloc(2048);
  }
  const packer = spawn('sh', ['-c', tool], { stdio: ['pipe', 'pipe', 'inherit'] });
  await Promise.all([pipeline(write(), packer.stdin), pipeline(packer.stdout, createWriteStream(path))]);
  if (archive === 'zip') spawnSync('sh', ['-c', `printf '@ -\\n@=${name}\\n' | zipnote -w ${path}`]);
  return path;
}

function run(command, args) {
  const program =
    command === 'pretrain' ? [resolve(root, flags.python), '-m', 'sardonyx_train'] : [process.execPath, main];
  const report = join(work, 'time');
  const limited = ['timeout', '-s', 'KILL', `${TIMEOUT_S}`, ...flags.under.split(' ').filter(Boolean)];
  const time = ['-f', '%e %M %U %S', '-o', report, ...limited];
  const { status, stderr } = spawnSync('/usr/bin/time', [...time, ...program, ...args], {
    cwd: work,
    encoding: 'utf8',
    env,
  });
  const [seconds, kilobytes, user, system] = readFileSync(report, 'utf8')
    .trim()
    .split('\n')
    .at(-1)
    .split(' ')
    .map(Number);
  return { status, sentence: stderr.trim(), seconds, cpu: user + system, megabytes: Math.round(kilobytes / 1024) };
}

function report(what, row) {
  const { status, sentence, seconds, cpu = 0, megabytes, waitMs = 0 } = row;
  // Records that pack well are no bombs.
  const mayReadPart = / records | bomb.v6/.test(what) && status === 0;
  const faults = [
    status !== 1 && !mayReadPart && `status ${status}`,
    sentence.split('\n').length !== 1 && `${sentence.split('\n').length} lines`,
    sentence === '' && !mayReadPart && 'no sentence',
    seconds > LIMITS.seconds && 'time',
    megabytes > LIMITS.megabytes && 'memory',
    waitMs > LIMITS.waitMs && 'waiting',
  ].filter(Boolean);
  const wait = row.waitMs === undefined ? '' : `, others waited ${waitMs} ms at most`;
  const mark = faults.length === 0 ? 'ok   ' : 'WRONG';
  console.log(
    `${mark} ${what}: ${seconds} s (${cpu.toFixed(1)} s of CPU), ${megabytes} MB${wait} ${faults.join(', ')}| ${sentence.slice(0, 300)}`,
  );
  return faults.length === 0;
}

/** Asks the page's address and its engine twenty times a second while `task` runs. */
async function askMeanwhile(board, socket, task) {
  let [waitMs, megabytes, isDone] = [0, 0, false];
  const { cookie, place } = await board.fetchSession();
  const measure = async (question) => {
    const from = performance.now();
    await question();
    waitMs = Math.max(waitMs, Math.round(performance.now() - from));
  };
  const asked = [];
  const unanswered = [];
  const timer = setInterval(() => {
    asked.push(measure(() => socket.ask('describe')));
    const page = { host: '127.0.0.1', port: board.port, path: place, agent: false, headers: { Cookie: cookie } };
    const fetchPage = async () => {
      const [response] = await once(get(page), 'response');
      await once(response.resume(), 'end');
    };
    asked.push(measure(fetchPage).catch((error) => unanswered.push(error.message)));
    const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${board.child.pid}/status`, 'utf8'));
    megabytes = Math.round(peak / 1024);
  }, 50);
  const from = performance.now();
  const result = await task().finally(() => clearInterval(timer));
  await Promise.all(asked);
  if (unanswered.length > 0) result.sentence += `\n${unanswered.length} not answered: ${unanswered[0]}`;
  return { ...result, waitMs, megabytes, seconds: Math.round((performance.now() - from) / 10) / 100, isDone };
}

/** Holds 600 connections that begin so, with a byte each every second, for five seconds. @returns how many were ended */
async function holdConnections({ port }, start) {
  const sockets = Array.from({ length: 600 }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => {})
      .resume(),
  );
  const head = `${start} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
  for (const socket of sockets) socket.write(head);
  for (let second = 0; second < 5; second++) {
    await sleep(1000);
    for (const socket of sockets) if (socket.writable) socket.write('x');
  }
  const ended = sockets.filter((socket) => socket.destroyed || socket.readableEnded).length;
  for (const socket of sockets) socket.destroy();
  return ended < 80 ? '' : `${ended} of 600 were ended`;
}

function writeMatch(board, name, players, rows) {
  const folder = join(board.folder, 'matches');
  mkdirSync(folder, { recursive: true });
  const origin = { players, tournament: 'round-robin', games: 9000, sprt: null, pgn: null };
  const lines = [{ conditions: {}, origin }, ...rows].map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(folder, `${name}.jsonl`), lines.join(''));
}

async function setOption(socket, name, value) {
  return String((await socket.ask('setOption', { name, value })).error ?? '');
}

/** Name → what is done to a board, with a page of the attacker's own; each returns the sentence with which it was met, '' for none. */
const ATTACKS = {
  'headers that never end': (board) => holdConnections(board, 'GET /'),
  'a byte now and then behind whole headers': (board) =>
    holdConnections(board, 'GET / HTTP/1.1\r\nContent-Length: 999\r\nHost: x\r\n\r\nx'),
  'WebSockets of another page': (board) => {
    const upgrade =
      'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13';
    return holdConnections(
      board,
      `GET /x/engine HTTP/1.1\r\n${upgrade}\r\nOrigin: http://evil.example\r\nHost: x\r\n\r\n`,
    );
  },
  'five networks of 900 MB at once': async (board) => {
    const { cookie, place } = await board.fetchSession();
    const head = `PUT ${place}files/network?name=a.onnx HTTP/1.1\r\nHost: 127.0.0.1:${board.port}\r\nOrigin: ${board.origin}\r\nCookie: ${cookie}\r\n`;
    const sockets = Array.from({ length: 5 }, () => connect(board.port, '127.0.0.1'));
    const answers = [];
    for (const socket of sockets) {
      socket.on('data', (data) => answers.push(String(data))).write(`${head}Content-Length: 900000000\r\n\r\n`);
    }
    await sleep(2000);
    for (const socket of sockets) socket.destroy();
    return answers.length === 2 && answers.every((text) => text.includes(' 413 ')) ? '2 of 5 were refused' : '';
  },
  'a page that does not read': async (board, socket) => {
    const row = { white: 'a', black: 'b'.repeat(99), result: '1-0', reason: 'checkmate', plies: 9 };
    const rows = Array.from({ length: 5000 }, (_, game) => ({ ...row, game }));
    writeMatch(board, 'many', ['a', 'b'], rows);
    socket.socket.pause();
    for (let id = 0; id < 100; id++) socket.socket.send(JSON.stringify({ type: 'readMatch', id, name: 'many' }));
    await sleep(5000);
    socket.socket.resume();
    await once(socket.socket, 'close');
    return 'its connection was ended';
  },
  'Hash of 1 TB': (_, socket) => setOption(socket, 'Hash', '1048576'),
  '128 threads': (_, socket) => setOption(socket, 'Threads', '128'),
  'all moves of a large tree': async (_, socket) => {
    await socket.ask('analyse', { position: { fen: null, moves: [] }, multiPv: 1 });
    await socket.waitFor(({ type, state }) => type === 'search' && state.nodes > 100_000);
    for (let i = 0; i < 20; i++) await socket.ask('tree', { depth: 40, minVisits: 1 });
    const { error = '' } = await socket.ask('tree', { depth: 40, minVisits: 0 });
    await socket.ask('stop');
    return String(error);
  },
  'a match whose player has a name of two lines': async (board, socket) => {
    writeMatch(board, 'evil', ['a\n{"type":"position"', 'b'], []);
    return String((await socket.ask('resumeMatch', { name: 'evil' })).error ?? '');
  },
};

let [tried, right] = [0, 0];
const count = (isRight) => {
  tried++;
  if (isRight) right++;
};

/** Gives a file, which is made if any row is wanted, to every command and door that reads its kind. */
async function tryFile(what, ending, packing, createFile) {
  const rows = [...COMMANDS[ending], ...(ending in DOORS ? [['board', null]] : [])].filter(([command]) =>
    words.every((word) => `${command}, ${what} ${ending} ${packing}`.includes(word)),
  );
  if (rows.length === 0) return;
  const path = await createFile();
  for (const [command, createArgs] of rows) {
    const name = `${command}, ${what} in ${basename(path)}`;
    if (createArgs !== null) {
      count(report(name, run(command, createArgs(path))));
      continue;
    }
    const board = await BoardProcess.start();
    const socket = await board.connect();
    await socket.ask('describe');
    const send = () =>
      board.send(`files/${DOORS[ending]}?name=${encodeURIComponent(basename(path))}`, readFileSync(path));
    const { status, text, ...rest } = await askMeanwhile(board, socket, send);
    count(report(name, { ...rest, status: status === 413 || status === 422 ? 1 : status, sentence: text.trim() }));
    socket.close();
    await board.stop();
  }
  rmSync(path);
}
try {
  for (const [what, ending, unit, before] of CONTENTS) {
    for (const packing of Object.keys(PACKINGS)) {
      if (/onnx|pb/.test(ending) && !NETWORKS.includes(packing)) continue;
      await tryFile(what, ending, packing, () => pack(ending, packing, unit, before));
    }
  }
  for (const [what, attack] of Object.entries(ATTACKS)) {
    if (!words.every((word) => `board, attack: ${what}`.includes(word))) continue;
    const board = await BoardProcess.start(['--backend=hash', '--threads=1']);
    const [socket, own] = [await board.connect(), await board.connect()];
    await socket.ask('describe');
    const run = async () => ({ sentence: await attack(board, own), status: 1 });
    count(report(`board, attack: ${what}`, await askMeanwhile(board, socket, run)));
    for (const page of [socket, own]) page.close();
    await board.stop();
  }
  for (const [packing, createPart] of Object.entries(PARTS)) {
    await tryFile('parts', 'pgn', packing, () => {
      const path = join(work, `parts.pgn.${packing}`);
      const part = createPart();
      writeFileSync(path, Buffer.alloc(Math.ceil((PARTS_MB * 1e6) / part.length) * part.length, part));
      return path;
    });
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}
console.log(`${right} of ${tried} as they must be, bombs of ${flags.mb} MB`);
process.exitCode = right === tried ? 0 : 1;
