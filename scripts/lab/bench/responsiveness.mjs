#!/usr/bin/env node
// How fast the engine answers: `uci` → uciok, `isready` → readyok with the network, `isready` during a search, and
// `stop` → bestmove. It prints medians and worst cases over several fresh processes.
// usage: node scripts/lab/bench/responsiveness.mjs [runs] [-- engine arguments]
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const separator = process.argv.indexOf('--');
const engineArguments = separator < 0 ? [] : process.argv.slice(separator + 1);
const runs = Number(process.argv[2]) || 10;

function startEngine() {
  const engine = spawn(process.execPath, [program, ...engineArguments], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting = [];
  createInterface({ input: engine.stdout }).on('line', (line) => {
    const index = waiting.findIndex(({ word }) => line.startsWith(word));
    if (index >= 0) waiting.splice(index, 1)[0].resolve();
  });
  return {
    send: (line) => engine.stdin.write(`${line}\n`),
    expect: (word) => new Promise((resolve) => waiting.push({ word, resolve })),
    ended: new Promise((resolve) => engine.on('exit', resolve)),
  };
}

async function time(action) {
  const start = performance.now();
  await action();
  return performance.now() - start;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const figures = { uciok: [], readyok: [], isreadyInSearch: [], stopToBestmove: [] };
for (let run = 0; run < runs; run++) {
  const start = performance.now();
  const engine = startEngine();
  engine.send('uci');
  await engine.expect('uciok');
  figures.uciok.push(performance.now() - start);
  engine.send('isready');
  await engine.expect('readyok');
  figures.readyok.push(performance.now() - start);
  for (const position of ['startpos', 'fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1']) {
    engine.send(`position ${position}`);
    engine.send('go infinite');
    for (let i = 0; i < 5; i++) {
      await sleep(100);
      figures.isreadyInSearch.push(
        await time(() => {
          engine.send('isready');
          return engine.expect('readyok');
        }),
      );
    }
    figures.stopToBestmove.push(
      await time(() => {
        engine.send('stop');
        return engine.expect('bestmove');
      }),
    );
  }
  engine.send('quit');
  await engine.ended;
}
for (const [name, values] of Object.entries(figures)) {
  values.sort((a, b) => a - b);
  const median = values[values.length >> 1];
  console.log(
    `${name.padEnd(16)} median ${median.toFixed(1)} ms, worst ${values.at(-1).toFixed(1)} ms of ${values.length}`,
  );
}
