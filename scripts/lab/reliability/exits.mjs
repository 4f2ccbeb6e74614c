#!/usr/bin/env node
// Ends programs with an engine at random moments: process.exit, an exception, a terminated worker thread and SIGTERM under the library, the end
// of the input, a closed output and SIGTERM under the UCI program. Says which status was not the expected one, what stood on stderr, and
// which processes were left.
// usage: node scripts/lab/reliability/exits.mjs [--ends=210] [--seed=1]      (Linux)
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const { values } = parseArgs({
  options: { ends: { type: 'string', default: '210' }, seed: { type: 'string', default: '1' } },
});
const LONGEST_MS = 6000;
/** A process that has not ended by then hangs. */
const TIMEOUT_MS = 90_000;
const library = pathToFileURL(join(root, 'dist', 'index.js')).href;
const main = join(root, 'dist', 'cli', 'main.js');

const EXPECTED = {
  exit: '7',
  throw: '1',
  terminate: '5',
  SIGTERM: 'SIGTERM',
  'uci: end of input': '0',
  'uci: closed output': '0',
  'uci: SIGTERM': '0',
};
const PROGRAM = `
const { createEngine, createEnginePool } = await import('${library}');
const { Worker } = await import('node:worker_threads');
const { HOW, MS, POOL } = process.env;
const play = async () => {
  const engine = await createEngine({ threads: 1 });
  for await (const _ of engine.go({}));
};
const playInPool = async () => {
  const pool = await createEnginePool({ engines: 2, threads: 1 });
  await Promise.all([1, 2].map(() => pool.go({}, { nodes: 1e6 }).bestMove));
};
if (HOW === 'terminate') {
  const code = "import('${library}').then(async ({ createEngine }) => { (await createEngine({ threads: 1 })).go({}); setInterval(() => {}, 1000); })";
  const worker = new Worker(code, { eval: true });
  worker.on('error', () => {});
  setTimeout(() => worker.terminate().then(() => { process.exitCode = 5; }), Number(MS));
} else {
  if (HOW === 'exit') setTimeout(() => process.exit(7), Number(MS));
  if (HOW === 'throw') setTimeout(() => { throw new Error('on purpose'); }, Number(MS));
  (POOL === '1' ? playInPool() : play()).catch(() => {});
}`;

let state = Number(values.seed);
function draw() {
  state = (state * 1103515245 + 12345) % 2 ** 31;
  return state / 2 ** 31;
}

/** Every process that inherited the mark. */
function listLeft(mark) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });
}

async function endOnce(number, how) {
  const ms = Math.round(draw() ** 2 * LONGEST_MS);
  const mark = `SARDONYX_EXIT=${process.pid}-${number}`;
  const env = {
    ...process.env,
    HOW: how,
    MS: String(ms),
    POOL: draw() < 0.3 ? '1' : '',
    SARDONYX_EXIT: mark.split('=')[1],
  };
  const isUci = how.startsWith('uci');
  const args = isUci ? [main, '--threads=1', '--config='] : ['--input-type=module', '-e', PROGRAM];
  const child = spawn(process.execPath, args, { env });
  let [out, errors] = ['', ''];
  child.stdout.on('data', (text) => (out += text)).on('error', () => {});
  child.stderr.on('data', (text) => (errors += text));
  child.stdin.on('error', () => {});
  const ended = new Promise((settle) => child.on('exit', (code, signal) => settle(signal ?? String(code))));
  if (isUci) child.stdin.write('uci\nisready\nposition startpos\ngo infinite\n');
  setTimeout(() => {
    if (how.endsWith('SIGTERM')) child.kill('SIGTERM');
    else if (how === 'uci: end of input') child.stdin.end();
    else if (how === 'uci: closed output') {
      child.stdout.destroy();
      child.stdin.end('isready\nuci\n');
    }
  }, ms);
  const hang = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const status = await ended;
  clearTimeout(hang);
  let left = listLeft(mark);
  for (let tries = 0; left.length > 0 && tries < 20; tries++) {
    await wait(500);
    left = listLeft(mark);
  }
  // Nobody handles a signal before the program has begun.
  const isEarly = how === 'uci: SIGTERM' && status === 'SIGTERM' && !out.includes('uciok');
  const isRight = (status === EXPECTED[how] || isEarly) && left.length === 0 && (how === 'throw' || errors === '');
  return { how, ms, status, left, errors: errors.slice(0, 300), isRight };
}

const counts = {};
let wrong = 0;
const kinds = Object.keys(EXPECTED);
for (let number = 0; number < Number(values.ends); number++) {
  const { isRight, ...told } = await endOnce(number, kinds[number % kinds.length]);
  const key = `${told.how}: ${told.status}`;
  counts[key] = (counts[key] ?? 0) + 1;
  if (!isRight) {
    wrong++;
    console.log(JSON.stringify(told));
  }
}
console.log(`${values.ends} ends, ${wrong} wrong`, counts);
process.exit(wrong === 0 ? 0 : 1);
