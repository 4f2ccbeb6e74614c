#!/usr/bin/env node
// Sends random and mutated UCI lines to the engine, half of them while it searches, and checks that it stays alive and
// correct. A batch is a seed: after every few hundred lines the engine must answer `isready`, and at the end of the batch,
// with all options at their defaults again, it must give the answers of a fresh engine. Batches are appended to
// <out>/batches.jsonl, so that a stopped run continues with the next one. The lines of a failed batch are kept in <out>.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createPrng } from '../../../dist/base/util/index.js';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/reliability/uci-lines.mjs\n\nSends random and mutated UCI lines.')
  .option('engine', { type: 'string', default: 'dist/cli/main.js', describe: 'The main.js of a built Sardonyx' })
  .option('node', { type: 'string', default: process.execPath, describe: 'The Node.js that runs it' })
  .option('flags', { type: 'string', default: '--backend=hash', describe: 'Flags of the engine' })
  .option('lines', { type: 'number', default: 1_000_000, describe: 'Lines in all, those of earlier runs included' })
  .option('batch', { type: 'number', default: 4_000, describe: 'Lines in a batch' })
  .option('timeout', { type: 'number', default: 60, describe: 'Seconds to wait for an answer' })
  .option('quiet', { type: 'number', default: 2_000, describe: 'Milliseconds without a line that end old searches' })
  .option('out', { type: 'string', default: 'runs/uci-lines', describe: 'Folder of the results' })
  .option('first', { type: 'number', default: 1, describe: 'Seed of the first batch, after those of earlier runs' })
  .option('seed', { type: 'number', default: 0, describe: 'Play the batch of this seed alone' })
  .version(false)
  .strict()
  .parseSync();

/** Options that the engine's flags set, by their UCI names in lower case. */
const given = new Map(
  [...flags.flags.matchAll(/--(\w+)=(\S+)/g)].map(([, name, value]) => [name.toLowerCase(), value]),
);

const GROUP = 200;
const CHECKS = [
  'position startpos',
  'position startpos moves e2e4 c7c5 g1f3',
  'position fen 8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
];
const FENS = [
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
  'bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9',
  '7k/5K2/6Q1/8/8/8/8/8 b - - 0 1',
  '8/8/8/8/8/8/8/8 w - - 0 1',
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 99 1000',
];
const MOVES = 'e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6'.split(' ');
const VALUES = [
  '0',
  '1',
  '-1',
  '7',
  '1.5',
  '1e9',
  '99999999999999999999',
  'true',
  'false',
  'NaN',
  '',
  '<empty>',
  'tree',
];
const NOISE = ['\u0000', '\t', '  ', 'ä', '\ud83d\ude00', '"', '\\', '=', ',', '-', '%s', '0x1F', '\u001b[2J', 'null'];
/** Options whose valid values could take all memory and cores of the machine. */
const COSTLY = /threads|workers|hash|cache|memory|ram|batch|multipv|prefetch|backend|weights|eval ?file|syzygy/i;

class Engine {
  waits = [];
  lastLineAt = 0;
  exit = null;

  constructor(folder) {
    const words = [resolve(flags.engine), ...flags.flags.split(' ').filter((word) => word !== '')];
    this.child = spawn(flags.node, words, { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.on('data', (chunk) => {
      this.stderr = ((this.stderr ?? '') + chunk).slice(-2_000);
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      this.lastLineAt = Date.now();
      this.waits = this.waits.filter((wait) => !wait(line));
    });
    this.child.on('exit', (code, signal) => {
      this.exit = `ended with ${signal ?? code}: ${this.stderr ?? ''}`;
    });
  }

  send(line) {
    this.child.stdin.write(`${line}\n`);
  }

  /** All lines up to the first that starts with `word`. */
  read(word) {
    return new Promise((done, fail) => {
      const lines = [];
      const startedAt = Date.now();
      const timer = setInterval(() => {
        const isLate = Date.now() - startedAt > 1000 * flags.timeout;
        if (this.exit === null && !isLate) return;
        clearInterval(timer);
        fail(new Error(this.exit ?? `no ${word} within ${flags.timeout} s`));
      }, 50);
      this.waits.push((line) => {
        lines.push(line);
        if (!line.startsWith(word)) return false;
        clearInterval(timer);
        done(lines);
        return true;
      });
    });
  }

  async ask(line, word) {
    const answer = this.read(word);
    this.send(line);
    return answer;
  }

  /** Moves of stopped searches may arrive after `readyok`. */
  async waitForQuiet() {
    while (Date.now() - this.lastLineAt < flags.quiet && this.exit === null) await sleep(flags.quiet / 4);
  }

  /** The engine's answers to fixed questions, to compare with a fresh engine; options must be at their defaults. */
  async answer() {
    const answers = [];
    for (const position of CHECKS) {
      this.send('ucinewgame');
      this.send(position);
      const lines = await this.ask('go nodes 300', 'bestmove');
      answers.push(lines.at(-1), lines.at(-2)?.replace(/ (time|nps|hashfull) \d+/g, '') ?? '');
    }
    return answers.join('\n');
  }
}

function createLine(random, options) {
  const pick = (list) => list[random.nextBelow(list.length)];
  const number = () => pick(VALUES);
  const moves = () => MOVES.slice(0, random.nextBelow(MOVES.length + 1)).join(' ');
  const small = () => String(1 + random.nextBelow(300));
  const value = ({ name, kind, defaultText }) => {
    if (COSTLY.test(name)) return pick([defaultText, '1', '-5', 'x', '']);
    if (kind === 'check') return pick(['true', 'false', 'maybe']);
    return pick([defaultText, ...VALUES]);
  };
  const make = pick([
    () => `position startpos moves ${moves()}`,
    () => `position fen ${pick(FENS)} moves ${moves()}`,
    () => `position fen ${pick(FENS)}`,
    () => `go nodes ${small()}`,
    () => `go movetime ${random.nextBelow(30)}`,
    () => `go wtime ${small()} btime ${small()} winc ${random.nextBelow(20)} movestogo ${number()}`,
    () => `go depth ${random.nextBelow(4)} searchmoves ${pick(MOVES)} ${pick(MOVES)}`,
    // Doors: brackets that nest deeper than any stack, lines over a megabyte, and a go of which nothing is understood.
    () =>
      `setoption name BackendOptions value ${pick(['(', 'team(', 'a('])}`.padEnd(pick([60, 8_000]), pick(['(', ')'])),
    () =>
      `${pick(['position startpos moves', 'go searchmoves', 'setoption name SyzygyPath value', 'foo'])} `.padEnd(
        random.nextBelow(20) === 0 ? 1_100_000 : 200,
        'e2e4 ',
      ),
    () => `go ${pick(['nodez 100', 'searchmoves e2e9', 'searchmoves', 'foo'])}`,
    () => `go ${pick(['infinite', 'ponder', 'mate 2', 'perft 2', '', 'nodes -5', 'movetime x'])}`,
    () => pick(['stop', 'ponderhit', 'stop', 'ucinewgame', 'uci', 'd', 'debug on', 'debug off', 'eval', '']),
    () => {
      let option = pick(options);
      // These options start threads and load networks, which takes longer than hundreds of other lines.
      while (COSTLY.test(option.name) && random.nextBelow(40) > 0) option = pick(options);
      return `setoption name ${option.name} value ${value(option)}`;
    },
    () => `setoption ${pick(['name', 'value', 'name Ponder value', 'Ponder true', 'name x value y', ''])}`,
    () =>
      Array.from({ length: random.nextBelow(12) }, () => pick([...NOISE, ...MOVES, 'go', 'position', 'fen'])).join(' '),
  ]);
  return make();
}

function mutate(line, random) {
  let text = line;
  for (let count = 1 + random.nextBelow(3); count > 0; count--) {
    const at = random.nextBelow(text.length + 1);
    const words = text.split(' ');
    const word = random.nextBelow(words.length);
    const kind = random.nextBelow(8);
    if (kind === 0) text = text.slice(0, at) + text.slice(at + 1);
    else if (kind === 1) text = text.slice(0, at) + NOISE[random.nextBelow(NOISE.length)] + text.slice(at);
    else if (kind === 2) text = text.slice(0, at);
    else if (kind === 3) text = words.toSpliced(word, 1).join(' ');
    else if (kind === 4) text = words.toSpliced(word, 0, words[word]).join(' ');
    else if (kind === 5) text = words.toSpliced(word, 1, VALUES[random.nextBelow(VALUES.length)]).join(' ');
    else if (kind === 6) text = `${text} ${text}`.slice(0, 4_000);
    else text = random.nextBelow(50) === 0 ? text.padEnd(200_000, 'x') : text.toUpperCase();
  }
  return text;
}

/**
 * Replaces lines that would end the engine, search without end, or write files outside of its folder. `isready` is replaced
 * too, because the checks send it and wait for its answer.
 */
function tame(line) {
  const text = line.replaceAll('\n', ' ');
  if (/quit|exit|bench|perft\D*[3-9]|perft\D*\d\d/i.test(text)) return 'd';
  if (/log/i.test(text) && /[/\\]|\.\./.test(text)) return 'd';
  return COSTLY.test(text) && /\d{2}/.test(text) ? 'd' : text;
}

function parseOptions(lines) {
  return lines.flatMap((line) => {
    const match = /^option name (.+?) type (\w+)(?: default (.*?))?(?: min | max | var |$)/.exec(line);
    return match === null ? [] : [{ name: match[1], kind: match[2], defaultText: match[3] ?? '' }];
  });
}

async function playBatch(seed, reference) {
  const random = createPrng(seed);
  const folder = mkdtempSync(join(tmpdir(), 'uci-lines-'));
  const engine = new Engine(folder);
  const sent = [];
  let searching = 0;
  let error = '';
  try {
    const options = parseOptions(await engine.ask('uci', 'uciok'));
    await engine.ask('isready', 'readyok');
    while (sent.length < flags.batch) {
      const isSearching = (sent.length / GROUP) % 2 === 0;
      if (isSearching) engine.send(random.nextBelow(2) === 0 ? 'go infinite' : 'go nodes 3000');
      for (let i = 0; i < GROUP; i++) {
        const line = createLine(random, options);
        const text = tame(random.nextBelow(2) === 0 ? line : mutate(line, random));
        sent.push(text);
        if (isSearching) searching++;
        engine.send(text);
        // A random line may have stopped the search; start another one for the following lines.
        if (isSearching && i % 20 === 19) engine.send('go infinite');
        if (i === GROUP / 2) await engine.ask('isready', 'readyok');
      }
      engine.send('stop');
      await engine.ask('isready', 'readyok');
    }
    for (const { name, kind, defaultText } of options) {
      if (kind !== 'button')
        engine.send(`setoption name ${name} value ${given.get(name.toLowerCase()) ?? defaultText}`);
    }
    engine.send('debug off');
    await engine.ask('isready', 'readyok');
    let answer = '';
    // On a busy machine moves of old searches may arrive late; they must not be taken for the answer.
    for (let attempt = 0; attempt < 3 && answer !== reference; attempt++) {
      await engine.waitForQuiet();
      answer = await engine.answer();
    }
    if (answer !== reference) error = `answers differ:\n${answer}\nfrom a fresh engine's:\n${reference}`;
    engine.send('quit');
    for (let i = 0; i < 20 * flags.timeout && engine.exit === null; i++) await sleep(50);
    if (engine.exit === null) error ||= 'it does not quit';
    else if (!engine.exit.startsWith('ended with 0')) error ||= engine.exit;
  } catch (failure) {
    error = failure.message;
  } finally {
    engine.child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
  return { seed, lines: sent.length, searching, error, sent };
}

mkdirSync(flags.out, { recursive: true });
const results = join(flags.out, 'batches.jsonl');
const earlier = existsSync(results)
  ? readFileSync(results, 'utf8').trim().split('\n').filter(Boolean).map(JSON.parse)
  : [];
const folder = mkdtempSync(join(tmpdir(), 'uci-lines-'));
const fresh = new Engine(folder);
await fresh.ask('uci', 'uciok');
await fresh.ask('isready', 'readyok');
const reference = await fresh.answer();
fresh.child.kill('SIGKILL');
rmSync(folder, { recursive: true, force: true });

let total = earlier.reduce((sum, { lines }) => sum + lines, 0);
for (let seed = flags.seed || earlier.length + flags.first; total < flags.lines; seed++) {
  const { sent, ...batch } = await playBatch(seed, reference);
  total += batch.lines;
  if (flags.seed === 0) appendFileSync(results, `${JSON.stringify(batch)}\n`);
  if (batch.error !== '') {
    writeFileSync(join(flags.out, `failed-${seed}.txt`), sent.join('\n'));
    console.log(`batch ${seed}, ${batch.lines} lines: ${batch.error.slice(0, 1_000)}`);
  }
  if (flags.seed !== 0) break;
}
const batches = readFileSync(results, 'utf8').trim().split('\n').map(JSON.parse);
const during = batches.reduce((sum, { searching }) => sum + searching, 0);
const failed = batches.filter(({ error }) => error !== '').length;
console.log(`${total} lines in ${batches.length} batches, ${during} during a search; ${failed} batches failed`);
