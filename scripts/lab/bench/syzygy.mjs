#!/usr/bin/env node
// Measures tablebase probes on one thread, over seeded random positions of all tables in a folder:
// node scripts/lab/bench/syzygy.mjs FOLDER [men] (after `npm run build`). The first round includes reading the files.
import { readdirSync } from 'node:fs';
import { createPrng } from '../../../dist/base/util/index.js';
import { parseFen } from '../../../dist/chess/rules/index.js';
import { NO_VALUE, Tablebases } from '../../../dist/chess/syzygy/index.js';

const [folder, men = '4'] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: node scripts/lab/bench/syzygy.mjs FOLDER [men]');
  process.exit(1);
}
const POSITIONS_PER_TABLE = 500;
const random = createPrng(1);
const names = readdirSync(folder)
  .filter((name) => name.endsWith('.rtbw') && name.length === Number(men) + 6)
  .map((name) => name.slice(0, -5))
  .sort();

function drawPosition(name) {
  for (;;) {
    const board = new Array(64).fill('1');
    const letters = name.replace(/v(.*)/, (_, side) => side.toLowerCase());
    for (const letter of letters) board[random.nextBelow(64)] = letter;
    const ranks = Array.from({ length: 8 }, (_, rank) => board.slice(8 * rank, 8 * rank + 8).join(''));
    const parsed = parseFen(`${ranks.join('/')} ${random.nextBelow(2) === 0 ? 'w' : 'b'} - - 0 1`);
    if (parsed.ok && board.filter((square) => square !== '1').length === letters.length) return parsed.value;
  }
}

const positions = names.flatMap((name) => Array.from({ length: POSITIONS_PER_TABLE }, () => drawPosition(name)));
// Mixed, as in a search: from one material to another.
for (let i = positions.length - 1; i > 0; i--) {
  const j = random.nextBelow(i + 1);
  [positions[i], positions[j]] = [positions[j], positions[i]];
}
const tables = new Tablebases(folder, console.error);
console.log(`${names.length} tables of ${men} men, ${positions.length} positions`);

function report(name, probe) {
  const rounds = Array.from({ length: 6 }, () => {
    const start = performance.now();
    let missing = 0;
    for (const position of positions) if (probe(position) === NO_VALUE) missing++;
    return { ms: performance.now() - start, missing };
  });
  const speed = (ms) => `${Math.round(positions.length / ms)} thousand probes/s`;
  const best = Math.min(...rounds.slice(1).map(({ ms }) => ms));
  const missing = rounds[0].missing === 0 ? '' : `, ${rounds[0].missing} without a table`;
  console.log(`${name}: first round ${speed(rounds[0].ms)}, best ${speed(best)}${missing}`);
}

report('WDL', (position) => tables.probeWdl(position));
report('DTZ', (position) => tables.probeDtz(position));
