#!/usr/bin/env node
// Damages files of every kind that Sardonyx reads and gives them to its commands. A command must either work or end with one
// sentence and status 1; it must not end in another way, print an internal error, hang, or take much memory. A helper process
// runs the commands, many files in one process, and is started again after a fault. Results are appended to
// <out>/files.jsonl, so that a stopped run continues with the next file. Files that caused a fault are kept in <out>/faults.
import { fork } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createPrng } from '../../../dist/base/util/index.js';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/reliability/damaged-files.mjs\n\nGives damaged files to the commands.')
  .option('files', { type: 'number', default: 20_000, describe: 'Files in all, those of earlier runs included' })
  .option('timeout', { type: 'number', default: 60, describe: 'Seconds that a file may take' })
  .option('memory', { type: 'number', default: 1_500, describe: 'Megabytes that the helper may take' })
  .option('first', { type: 'number', default: 1, describe: 'Seed of the first file, after those of earlier runs' })
  .option('kind', { type: 'string', describe: 'Only files of this kind' })
  .option('out', { type: 'string', default: 'runs/damaged-files', describe: 'Folder of the results' })
  .version(false)
  .strict()
  .parseSync();

const HELPER = fileURLToPath(new URL('./run-commands.mjs', import.meta.url));
const MODEL = resolve('models/tiny-test.onnx');
const PLAY = ['match', '--engine=random', '--engine=random', '--games=2', '--max-plies=6', '--rating-interval=0'];
const FAST = ['--backend=hash', '--threads=1', '--nncache=0'];
/** Most lines on stderr that count as a clear message; `shards` may warn of 20 games. */
const MOST_LINES = 24;
const MOST_CHARACTERS = 12_000;

const work = mkdtempSync(join(tmpdir(), 'damaged-files-'));
const FEN = '8/8/8/4k3/8/8/3QK3/8 w - - 0 1';
const PGN =
  '[Event "a"]\n[White "X"]\n[Black "Y"]\n[Result "1-0"]\n\n1. e4 {[%eval 0.2] good} e5 (1... c5 2. Nf3) 2. Nf3 $1 Nc6 1-0\n\n' +
  '[Event "b"]\n[Variant "Chess960"]\n[FEN "nrbnbkrq/pppppppp/8/8/8/8/PPPPPPPP/NRBNBKRQ w KQkq - 0 1"]\n\n1. O-O O-O *\n';
const EPD =
  '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id "WAC.001";\n' +
  '8/7p/5k2/5p2/p1p2P2/Pr1pPK2/1P1R3P/8 b - - bm Rxb2; id "WAC.002";\n';
const JSONL =
  '{"fen":"8/8/8/4k3/8/8/3QK3/8 w - - 0 1","result":"1-0","plies":[["d2d3",[["d2d3",900],["e2e3",800]]]]}\n';
const CONFIG = 'threads=1\nminibatch-size=8\n# remark\ncpuct=1.7\nbackend=hash\nsyzygy-paths=\n';

/** A Polyglot book of one move, e2e4 in the initial position. */
function createBin() {
  const entry = Buffer.alloc(16);
  entry.writeBigUInt64BE(0x463b96181691fc9cn);
  entry.writeUInt16BE((12 << 6) | 28, 8);
  entry.writeUInt16BE(1, 10);
  return Buffer.concat([entry, Buffer.alloc(16, 255)]);
}

/** Kinds of files: a name for the damaged file, an undamaged one, and the commands that read it. */
async function collectKinds(helper) {
  const make = async (...args) => {
    const { code, stderr } = await helper.run(args);
    if (code !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  };
  await make('onnx2leela', '--input', MODEL, '--output', join(work, 'sound.pb.gz'));
  await make(
    'selfplay',
    ...FAST,
    '--visits=4',
    '--games=1',
    '--max-plies=12',
    '--training',
    `--out=${join(work, 'records')}`,
  );
  const shards = (path) => ['shards', path, '--out', join(work, 'shards'), '--threads=1'];
  const network = (path) => [
    ['describenet', path],
    ['eval', `--weights=${path}`, '--backend=cpu', '--threads=1'],
  ];
  const book = (path) => [...PLAY, `--openings-pgn=${path}`, '--openings-mode=sequential'];
  const tables = () => [
    ['eval', ...FAST, `--syzygy-paths=${work}`, '--fen', FEN],
    [...PLAY, `--syzygy-paths=${work}`],
  ];
  const kinds = [
    ['pb.gz', 'x.pb.gz', readFileSync(join(work, 'sound.pb.gz')), network],
    ['pb', 'x.pb', gunzipSync(readFileSync(join(work, 'sound.pb.gz'))), network],
    ['onnx', 'x.onnx', readFileSync(MODEL), network],
    [
      'pgn',
      'x.pgn',
      Buffer.from(PGN.repeat(3)),
      (path) => [['analyse', path, ...FAST, '--nodes=1'], shards(path), book(path)],
    ],
    ['pgn.gz', 'x.pgn.gz', gzipSync(PGN.repeat(3)), (path) => [shards(path), book(path)]],
    ['epd', 'x.epd', Buffer.from(EPD), (path) => [['suite', path, ...FAST, '--nodes=1'], book(path)]],
    ['jsonl', 'x.jsonl', Buffer.from(JSONL.repeat(3)), (path) => [shards(path)]],
    ['v6', 'x.gz', readFileSync(join(work, 'records', 'game_000000.gz')), (path) => [shards(path)]],
    ['v6 plain', 'x.v6', gunzipSync(readFileSync(join(work, 'records', 'game_000000.gz'))), (path) => [shards(path)]],
    ['bin', 'x.bin', createBin(), (path) => [book(path)]],
    ['config', 'x.config', Buffer.from(CONFIG), (path) => [['eval', '--backend=hash', `--config=${path}`]]],
  ];
  const writer = resolve('build/test/support/table-folder.js');
  if (existsSync(writer)) {
    const { createWonTables } = await import(writer);
    for (const [name, bytes] of Object.entries(createWonTables('Q'))) kinds.push([name.slice(-4), name, bytes, tables]);
  } else console.log('no tablebases: run `npm run build` to have the tests write them');
  return kinds.filter(([kind]) => flags.kind === undefined || kind === flags.kind);
}

function damage(sound, others, random) {
  let bytes = Buffer.from(sound);
  for (let count = 1 + random.nextBelow(3); count > 0; count--) {
    const at = random.nextBelow(bytes.length + 1);
    const length = 1 + random.nextBelow(Math.max(1, Math.min(400, bytes.length)));
    const noise = () => Buffer.from(Array.from({ length: 1 + random.nextBelow(40) }, () => random.nextBelow(256)));
    const kind = random.nextBelow(9);
    if (kind === 0) bytes = bytes.subarray(0, at);
    else if (kind <= 2 && bytes.length > 0) bytes[Math.min(at, bytes.length - 1)] ^= 1 << random.nextBelow(8);
    else if (kind === 3) bytes.fill(random.nextBelow(2) * 255, at, Math.min(at + length, bytes.length));
    else if (kind === 4) bytes = Buffer.concat([bytes.subarray(0, at), noise(), bytes.subarray(at)]);
    else if (kind === 5) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
    else if (kind === 6) bytes = Buffer.concat([bytes, bytes.subarray(at, at + length), noise()]);
    else if (kind === 7) noise().copy(bytes, Math.min(at, bytes.length));
    else if (random.nextBelow(20) === 0) bytes = Buffer.from(others[random.nextBelow(others.length)]);
  }
  return bytes;
}

class Helper {
  child = null;

  run(args) {
    this.child ??= fork(HELPER, [], { cwd: work, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
    const { child } = this;
    return new Promise((done) => {
      const finish = (result) => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (result.fault !== undefined) {
          child.kill('SIGKILL');
          this.child = null;
        }
        done({ code: null, stderr: '', rssMb: 0, ...result });
      };
      const timer = setTimeout(() => finish({ fault: `no end within ${flags.timeout} s` }), 1000 * flags.timeout);
      child.once('message', (message) => finish(message));
      child.once('exit', (code, signal) => finish({ fault: `the process ended with ${signal ?? code}` }));
      child.send(args);
    });
  }

  close() {
    this.child?.kill('SIGKILL');
    this.child = null;
  }
}

function findFault({ fault, code, stderr, rssMb }) {
  if (fault !== undefined) return fault;
  if (code !== 0 && code !== 1) return `status ${code}`;
  if (/^Internal error|^\s+at .*:\d+:\d+\)?$/m.test(stderr)) return 'an internal error';
  if (code === 1 && stderr.trim() === '') return 'status 1 without a sentence';
  if (stderr.length > MOST_CHARACTERS || stderr.split('\n').length > MOST_LINES) return 'no clear sentence';
  return rssMb > flags.memory ? `${rssMb} megabytes` : null;
}

mkdirSync(join(flags.out, 'faults'), { recursive: true });
const results = join(flags.out, 'files.jsonl');
const readResults = () =>
  existsSync(results)
    ? readFileSync(results, 'utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : [];
const helper = new Helper();
try {
  const kinds = await collectKinds(helper);
  const sounds = kinds.map(([, , bytes]) => bytes);
  let total = readResults().length;
  for (let seed = total + flags.first; total < flags.files; seed++, total++) {
    const random = createPrng(seed);
    const [kind, name, sound, listCommands] = kinds[seed % kinds.length];
    // Half of the gzipped files are damaged inside.
    const isPacked = sound[0] === 0x1f && sound[1] === 0x8b && random.nextBelow(2) === 0;
    const bytes = isPacked ? gzipSync(damage(gunzipSync(sound), sounds, random)) : damage(sound, sounds, random);
    const path = join(work, name);
    writeFileSync(path, bytes);
    const commands = listCommands(path);
    const args = commands[random.nextBelow(commands.length)];
    rmSync(join(work, 'shards'), { recursive: true, force: true });
    const answer = await helper.run(args);
    const fault = findFault(answer);
    appendFileSync(results, `${JSON.stringify({ seed, kind, command: args[0], code: answer.code, fault })}\n`);
    if (fault !== null) {
      copyFileSync(path, join(flags.out, 'faults', `${seed}-${basename(path)}`));
      console.log(`file ${seed}, ${args.join(' ')}: ${fault}\n${answer.stderr.slice(0, 500)}`);
    }
    rmSync(path);
    // Memory that a command keeps in the process must not count as a fault of the last file.
    if (answer.rssMb > flags.memory / 2) helper.close();
  }
} finally {
  helper.close();
  rmSync(work, { recursive: true, force: true });
}
const all = readResults();
for (const kind of new Set(all.map((row) => row.kind))) {
  const rows = all.filter((row) => row.kind === kind);
  const faults = rows.filter(({ fault }) => fault !== null).length;
  const refused = rows.filter(({ code }) => code === 1).length;
  console.log(`${kind.padEnd(9)} ${rows.length} files, ${refused} refused with a sentence, ${faults} faults`);
}
