#!/usr/bin/env node
// Measures how many won endings the levels of limited strength win. The level plays the strong side, to move, from positions drawn by
// a seed; the other side plays the best defence of the tablebases: it takes what draws, else it puts off the mate (the DTZ table; without
// pawns and with a bare king that is the distance to mate). The fifty-move rule and threefold repetition end a game. The status is 1 if
// a level wins fewer games than --least.
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createPrng } from '../../../dist/base/util/index.js';
import {
  computeOutcome,
  formatFen,
  formatUciMove,
  listLegalMoves,
  parseFen,
  parseUciMove,
} from '../../../dist/chess/rules/index.js';
import { Tablebases } from '../../../dist/chess/syzygy/index.js';
import { createEngine } from '../../../dist/index.js';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/strength/endings.mjs --tables FOLDER --elo 1100 --elo 1500 --ending KQvK')
  .option('tables', { type: 'string', demandOption: true, describe: 'Folder of the tablebases' })
  .option('elo', { type: 'number', array: true, default: [1100, 1350, 1500, 1700, 1900, 2000], describe: 'Levels' })
  .option('ending', { type: 'string', array: true, default: ['KQvK', 'KRvK'], describe: 'Men, the winner first' })
  .option('games', { type: 'number', default: 20, describe: 'Games of each level and ending' })
  .option('seed', { type: 'number', default: 1, describe: 'Which positions, and the choice among equal defences' })
  .option('least', { type: 'number', default: 0, describe: 'Fewest wins of a level' })
  .option('option', { type: 'string', array: true, default: [], describe: 'NAME=VALUE for the engine' })
  .version(false)
  .strict()
  .parseSync();

const tables = new Tablebases(flags.tables, console.error);

/** Men on random squares, White first and to move, until the tables say that White wins. */
function drawPosition(ending, random) {
  const [white, black] = ending.split('v');
  const men = [...white, ...black.toLowerCase()];
  for (;;) {
    const squares = new Array(64).fill('');
    for (const man of men) squares[Math.floor(64 * random.nextFloat())] = man;
    if (squares.filter((man) => man !== '').length < men.length) continue;
    const ranks = Array.from({ length: 8 }, (_, rank) =>
      squares.slice(8 * rank, 8 * rank + 8).map((man) => man || '1'),
    );
    const board = ranks.map((rank) => rank.join('').replace(/1+/g, (empty) => empty.length)).join('/');
    const parsed = parseFen(`${board} w - - 0 1`);
    if (parsed.ok && parsed.value.countLegalMoves() > 0 && tables.probeWdl(parsed.value) === 2) return parsed.value;
  }
}

/** The move after which the game lasts longest; what draws comes before what loses. */
function chooseDefence(position, random) {
  const worth = (move) => {
    const dtz = tables.probeDtzOfMove(position, move);
    return dtz < 0 ? -dtz : 1000 + dtz;
  };
  const rated = Array.from(listLegalMoves(position), (move) => ({ move, worth: worth(move) }));
  const best = Math.max(...rated.map((one) => one.worth));
  const equal = rated.filter((one) => one.worth === best);
  return equal[Math.floor(random.nextFloat() * equal.length)].move;
}

/** @returns how the game ended, and after how many moves */
async function play(engine, ending, number) {
  const random = createPrng(flags.seed * 1000 + number);
  const position = drawPosition(ending, random);
  const fen = formatFen(position);
  const moves = [];
  engine.newGame();
  for (;;) {
    const outcome = computeOutcome(position);
    if (outcome !== 'ongoing') return { outcome, moves: Math.ceil(moves.length / 2), fen };
    const isOurs = moves.length % 2 === 0;
    if (isOurs) engine.position({ fen, moves });
    const text = isOurs
      ? (await engine.go({ nodes: 1_000_000 }).bestMove).move
      : formatUciMove(chooseDefence(position, random));
    const move = parseUciMove(position, text);
    if (!move.ok) throw new Error(move.error);
    position.makeMove(move.value);
    moves.push(text);
  }
}

async function measure(elo, ending) {
  const options = {
    UCI_LimitStrength: true,
    UCI_Elo: elo,
    ...Object.fromEntries(flags.option.map((one) => one.split('='))),
  };
  const engine = await createEngine({ threads: 1, options, onWarning: console.error });
  const ends = {};
  let length = 0;
  for (let number = 0; number < flags.games; number++) {
    const { outcome, moves } = await play(engine, ending, number);
    ends[outcome] = (ends[outcome] ?? 0) + 1;
    if (outcome === 'checkmate') length += moves;
  }
  await engine.dispose();
  const { checkmate: wins = 0, ...others } = ends;
  const rest = Object.entries(others).map(([outcome, count]) => `${count} ${outcome}`);
  console.log(
    `| ${elo} | ${ending} | ${wins} of ${flags.games} | ${(length / wins).toFixed(0)} | ${rest.join(', ')} |`,
  );
  return wins;
}

console.log('| level | ending | wins | moves to mate | other ends |\n|---|---|---|---|---|');
let least = flags.games;
for (const ending of flags.ending) for (const elo of flags.elo) least = Math.min(least, await measure(elo, ending));
process.exit(least < flags.least ? 1 : 0);
