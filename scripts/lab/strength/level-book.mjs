#!/usr/bin/env node
// Prints a book of level positions for matches, one FEN a line: positions of labelled games (`sardonyx label`) whose best move
// the label scores within some centipawns of zero. Take games that were held out from training. A game gives at most one position.
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { formatFen, parseFen, parseUciMove } from '../../../dist/chess/rules/index.js';
import { drawNumber, readGames } from './labelled-positions.mjs';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/strength/level-book.mjs GAMES.jsonl.gz … > book.epd')
  .demandCommand(1)
  .option('first-ply', { type: 'number', default: 6, describe: 'First half-move from the start of a game' })
  .option('last-ply', { type: 'number', default: 13, describe: 'Last half-move from the start of a game' })
  .option('within', { type: 'number', default: 50, describe: 'Largest score of the best move, in centipawns' })
  .option('men', { type: 'number', default: 20, describe: 'Smallest number of men, kings included' })
  .option('seed', { type: 'number', default: 1, describe: 'Which position of a game' })
  .version(false)
  .strict()
  .parseSync();

/** The level positions of a game as FENs; throws an Error if the game cannot be replayed. */
function listLevelPositions({ fen, plies }) {
  const parsed = parseFen(fen);
  if (!parsed.ok) throw new Error(parsed.error);
  const position = parsed.value;
  const found = [];
  for (const [ply, [played, scores]] of plies.slice(0, flags.lastPly + 1).entries()) {
    const isLevel = scores.length > 0 && Math.abs(scores[0][1]) <= flags.within;
    const text = formatFen(position);
    const men = text.split(' ')[0].match(/[a-z]/gi).length;
    if (ply >= flags.firstPly && isLevel && men >= flags.men) found.push(text);
    const move = parseUciMove(position, played);
    if (!move.ok) throw new Error(move.error);
    position.makeMove(move.value);
  }
  return found;
}

const book = new Map();
for (const path of flags._) {
  for (const [number, game] of readGames(String(path)).entries()) {
    let found;
    try {
      found = listLevelPositions(game);
    } catch (error) {
      console.error(`${path}, line ${number + 1}: ${error.message}`);
      process.exit(1);
    }
    const draw = drawNumber(flags.seed, `${game.fen} ${game.plies.map(([played]) => played).join(' ')}`);
    if (found.length > 0) {
      const fen = found[Math.floor(draw * found.length)];
      book.set(fen.split(' ').slice(0, 4).join(' '), fen);
    }
  }
}
process.stdout.write([...book.values()].map((fen) => `${fen}\n`).join(''));
console.error(`${book.size} positions`);
