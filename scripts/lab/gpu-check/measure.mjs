// The measuring part of gpu-check.sh; it runs beside the unpacked pieces. usage: node measure.mjs PIECES OUT BACKEND
// For each network in fp32 and fp16: agreement with the CPU, evaluations/s by batch size, search nodes/s and their ratio.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [pieces, out, backend] = process.argv.slice(2);
const { createEngine } = await import(join(pieces, 'program', 'dist', 'index.js'));
const main = join(pieces, 'program', 'dist', 'cli', 'main.js');
const isTrial = backend === 'cpu';

const POSITIONS = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
  'r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 b - - 4 11',
  '2r2rk1/1bqnbppp/1p1ppn2/p7/P1PNP3/1PN1BP2/1B2Q1PP/2R2RK1 w - - 2 16',
  '8/8/1p1k4/p1p2p1p/P1P2P1P/1P1K4/8/8 w - - 12 44',
  '3r1rk1/pp3ppp/2n1b3/q1p1p3/2P1P3/P1P1BP2/2Q1B1PP/R2R2K1 w - - 1 18',
];

function sardonyx(...args) {
  const text = execFileSync(process.execPath, [main, ...args, '--json'], {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(text.trim().split('\n').at(-1));
}

/** All positions in one process, because starting it costs more than evaluating them. */
async function evaluate(network, on) {
  const onWarning = (sentence) => console.error(sentence);
  const engine = await createEngine({ weights: network, threads: 1, options: { Backend: on }, onWarning });
  const evaluations = [];
  for (const fen of POSITIONS) {
    engine.position({ fen });
    evaluations.push(await engine.evaluate());
  }
  await engine.dispose();
  return evaluations;
}

async function compare(network) {
  const there = await evaluate(network, backend);
  const here = await evaluate(network, 'cpu');
  let policy = 0;
  let value = 0;
  let sameTop = 0;
  here.forEach((expected, index) => {
    const priors = new Map(there[index].policy.map(({ move, prior }) => [move, prior]));
    for (const { move, prior } of expected.policy) policy = Math.max(policy, Math.abs(prior - (priors.get(move) ?? 0)));
    value = Math.max(value, Math.abs(expected.value - there[index].value));
    if (expected.policy[0].move === there[index].policy[0].move) sameTop++;
  });
  return { positions: POSITIONS.length, maxPolicyDifference: policy, maxValueDifference: value, sameTopMove: sameTop };
}

async function measure(name, network) {
  const weights = [`--weights=${network}`, `--backend=${backend}`];
  const batches = isTrial ? ['--max-batch-size=8', '--seconds=0.3'] : ['--max-batch-size=1024', '--seconds=3'];
  const parity = await compare(network);
  const raw = sardonyx('backendbench', '--batch-step=0', ...weights, ...batches);
  const running = raw[0].backend;
  if (running !== backend) throw new Error(`${name} ran on ${running}, not on ${backend}: see the message above`);
  const best = raw.reduce((a, b) => (b.evaluationsPerSecond > a.evaluationsPerSecond ? b : a));
  const movetime = isTrial ? 300 : 5000;
  const positions = isTrial ? 1 : 6;
  const limits = [`--movetime=${movetime}`, `--num-positions=${positions}`, `--minibatch-size=${best.batch}`];
  const search = sardonyx('bench', ...weights, ...limits);
  const ratio = search.evaluationsPerSecond / best.evaluationsPerSecond;
  return { name, backend: running, parity, raw, search, bestBatch: best.batch, searchOverRaw: ratio };
}

function convert(file, type) {
  const target = join(pieces, `${file.replace('.pb.gz', '')}-${type}.onnx`);
  const args = ['leela2onnx', '--input', join(pieces, 'networks', file), '--output', target, '--onnx-data-type', type];
  execFileSync(process.execPath, [main, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  return target;
}

const results = [];
const bundled = join(pieces, 'program', 'models', 'default-large.onnx');
if (existsSync(bundled)) results.push(await measure('bundled', bundled));
for (const file of readdirSync(join(pieces, 'networks')).sort()) {
  for (const type of ['f32', 'f16'])
    results.push(await measure(`${file.replace('.pb.gz', '')} ${type}`, convert(file, type)));
}
writeFileSync(join(out, 'gpu-check.json'), `${JSON.stringify(results, null, 1)}\n`);

const rows = results.map(({ name, parity, raw, search, bestBatch, searchOverRaw }) => [
  name,
  parity.maxPolicyDifference.toExponential(1),
  parity.maxValueDifference.toExponential(1),
  `${parity.sameTopMove}/${parity.positions}`,
  raw.map((row) => `${row.batch}: ${Math.round(row.evaluationsPerSecond)}`).join(', '),
  String(Math.round(search.nps)),
  `${Math.round(search.evaluationsPerSecond)} at ${bestBatch}`,
  searchOverRaw.toFixed(2),
]);
const head = ['network', 'policy off by', 'value off by', 'same top move', 'evaluations/s by batch', 'search nodes/s'];
head.push('search evaluations/s', 'ratio');
const table = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
writeFileSync(join(out, 'gpu-check.md'), `${table}\n`);
console.log(table);
