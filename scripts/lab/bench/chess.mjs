#!/usr/bin/env node
// Speed of the rules on one thread, best of several rounds: node scripts/lab/bench/chess.mjs (after `npm run build`).
// The first line is one cold run, compilation included, as users of `sardonyx perft` experience it.
import { Position, parseFen, perft } from '../../../dist/chess/rules/index.js';

const POSITIONS = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  'r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
].map((fen) => parseFen(fen).value);
const moves = new Uint16Array(256);

/** Milliseconds of the fastest of `rounds` runs. */
function measure(rounds, run) {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    run();
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

function reportPerft(name, rounds) {
  let nodes = 0;
  const ms = measure(rounds, () => {
    nodes = perft(new Position(), 5);
  });
  console.log(`${name}: ${nodes} nodes, ${ms.toFixed(0)} ms, ${(nodes / ms / 1000).toFixed(1)} million nodes/s`);
}

/** `run` works on one position and returns the number of operations. */
function reportOperation(name, repeats, run) {
  let operations = 0;
  const ms = measure(7, () => {
    operations = 0;
    for (const position of POSITIONS) for (let i = 0; i < repeats; i++) operations += run(position);
  });
  console.log(`${name}: ${((ms * 1e6) / operations).toFixed(1)} ns`);
}

reportPerft('perft 5, first run', 1);
reportPerft('perft 5, best of 10', 10);
reportOperation('list moves', 20000, (position) => {
  position.generateLegalMoves(moves);
  return 1;
});
reportOperation('count moves', 20000, (position) => {
  position.countLegalMoves();
  return 1;
});
reportOperation('make and unmake', 2000, (position) => {
  const count = position.generateLegalMoves(moves);
  for (let i = 0; i < count; i++) {
    position.makeMove(moves[i]);
    position.unmakeMove();
  }
  return count;
});
