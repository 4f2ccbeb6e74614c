#!/usr/bin/env node
// Measures how much the engine's moves lose, at equal nodes, under several sets of options. Every set is tested on the same
// positions and only the difference counts, so minutes are enough. It is a guide for tuning; only a match decides.
//
// The positions come from labelled games (`sardonyx label`), held out from training, with their history. A move outside
// the label's list is judged by Stockfish. Regret is the loss of winning chances in percent (labelled-positions.mjs).
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Chess } from 'chess.js';
import cliProgress from 'cli-progress';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { createEngine } from '../../dist/index.js';
import { createFolder } from '../../dist/platform/node/node-folders.js';
import { encodeScore } from '../../dist/selfplay/client/info-line.js';
import { UciClient } from '../../dist/selfplay/client/uci-client.js';
import { parsePairs } from '../../dist/selfplay/index.js';
import { drawNumber, getWinChances, readGames } from './labelled-positions.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const flags = yargs(hideBin(process.argv))
  .usage('node scripts/strength/regret.mjs GAMES.jsonl.gz --engine "" --engine "CPuct=1.2 PolicyTemperature=1"')
  .demandCommand(1, 1)
  .option('engine', {
    type: 'string',
    array: true,
    default: [''],
    describe: 'Options by their UCI names, name=value …',
  })
  .option('nodes', { type: 'number', default: 400, describe: 'Nodes a move' })
  .option('positions', { type: 'number', default: 1000 })
  .option('seed', { type: 'number', default: 1, describe: 'Which positions' })
  .option('stockfish', { type: 'string', default: 'stockfish' })
  .option('stockfish-nodes', {
    type: 'number',
    default: 20_000,
    describe: 'Nodes of Stockfish for a move that is not in the list',
  })
  .option('folder', {
    type: 'string',
    default: join(root, 'build/regret'),
    describe: "File of Stockfish's scores, kept between runs",
  })
  .version(false)
  .strict()
  .parseSync();

/** Chooses `count` positions with several scored moves; the same seed gives the same ones. */
function choosePositions(path, count) {
  const positions = [];
  for (const { fen, plies } of readGames(path)) {
    const moves = [];
    for (const [played, scores] of plies) {
      if (scores.length > 1) positions.push({ fen, moves: [...moves], scores: new Map(scores) });
      moves.push(played);
    }
  }
  const ranked = positions.map((position, i) => ({ position, rank: drawNumber(flags.seed, `${i}`) }));
  ranked.sort((one, other) => one.rank - other.rank);
  return ranked.slice(0, count).map(({ position }) => position);
}

/** JSON lines, `[key, value]`, kept between runs, so that no move is scored twice. */
class Notebook {
  constructor(path) {
    this.path = path;
    const text = existsSync(path) ? readFileSync(path, 'utf8').trim() : '';
    this.known = new Map(text === '' ? [] : text.split('\n').map((line) => JSON.parse(line)));
  }

  async get(key, compute) {
    if (!this.known.has(key)) {
      this.known.set(key, await compute());
      appendFileSync(this.path, `${JSON.stringify([key, this.known.get(key)])}\n`);
    }
    return this.known.get(key);
  }
}

function parseOptions(text) {
  const pairs = parsePairs(text);
  if (!pairs.ok) throw new Error(pairs.error);
  return Object.fromEntries(pairs.value);
}

function formatKey({ fen, moves }) {
  return `${fen} ${moves.join(' ')}`;
}

async function answerAll(options, positions) {
  const engine = await createEngine({ options: parseOptions(options), onWarning: console.error });
  const bar = new cliProgress.SingleBar({ format: `{bar} {value}/{total} {eta_formatted} ${options || 'defaults'}` });
  bar.start(positions.length, 0);
  const answers = [];
  for (const position of positions) {
    engine.position(position);
    answers.push((await engine.go({ nodes: flags.nodes }).bestMove).move);
    bar.increment();
  }
  bar.stop();
  await engine.dispose();
  return answers;
}

/** Winning chances that `move` loses, in per cent. */
async function judge(position, move, stockfish, notebook) {
  const best = Math.max(...position.scores.values());
  const score =
    position.scores.get(move) ??
    (await notebook.get(`${formatKey(position)} ${move}`, async () => {
      const words = `fen ${position.fen} moves ${[...position.moves, move].join(' ')}`;
      const { lines } = await stockfish.go(words, { nodes: flags.stockfishNodes });
      return lines.length > 0 ? -encodeScore(lines[0].score) : scoreEnd(position, move);
    }));
  return Math.max(0, getWinChances(best) - getWinChances(score));
}

/** Centipawns of a move that ended the game. */
function scoreEnd({ fen, moves }, move) {
  const game = new Chess(fen);
  for (const one of [...moves, move]) game.move(one);
  return game.isCheckmate() ? 32_000 : 0;
}

function describe(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: 1.96 * Math.sqrt(variance / values.length) };
}

createFolder(flags.folder);
const positions = choosePositions(flags._[0], flags.positions);
const judgements = new Notebook(join(flags.folder, `stockfish-${flags.stockfishNodes}.jsonl`));
const stockfish = await UciClient.start({ command: flags.stockfish, args: [], name: null, folder: null, options: [] });
let first = null;
console.log('| options | regret, % | first in the list | against the first row |\n|---|---|---|---|');
for (const options of flags.engine) {
  const answers = await answerAll(options, positions);
  const regrets = [];
  for (const [i, position] of positions.entries())
    regrets.push(await judge(position, answers[i], stockfish, judgements));
  first ??= regrets;
  const own = describe(regrets);
  const difference = describe(regrets.map((regret, i) => regret - first[i]));
  const isBest = positions.filter(({ scores }, i) => scores.keys().next().value === answers[i]).length;
  const share = ((100 * isBest) / positions.length).toFixed(1);
  const cells = [options || 'defaults', `${own.mean.toFixed(3)} ± ${own.error.toFixed(3)}`, `${share} %`];
  cells.push(`${difference.mean.toFixed(3)} ± ${difference.error.toFixed(3)}`);
  console.log(`| ${cells.join(' | ')} |`);
}
await stockfish.close();
