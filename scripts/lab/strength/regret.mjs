#!/usr/bin/env node
// Measures how much the engine's moves give away, at equal nodes, under several sets of options. Every set answers the same
// positions and only the difference to the first set counts, so minutes are enough. It is a guide for tuning; only a match decides.
//
// The judge is a file of labelled games (`sardonyx label`) held out from training. It must be labelled far deeper than the
// searches that it judges, with many moves a position (500,000 nodes, MultiPV 12): labels of 2,500 nodes cannot see what a
// search of 64 visits gains. A move that is not in the list counts as the last one of it.
import { availableParallelism } from 'node:os';
import cliProgress from 'cli-progress';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { parsePairs } from '../../../dist/games/engines/engine-spec.js';
import { createEngine } from '../../../dist/index.js';
import { computeExpectedScore, drawNumber, readGames } from './labelled-positions.mjs';

const flags = yargs(hideBin(process.argv))
  .usage(
    'node scripts/lab/strength/regret.mjs GAMES.jsonl.gz --nodes 64 400 --engine "" --engine "CPuct=1.2 PolicyTemperature=1"',
  )
  .demandCommand(1, 1)
  .option('engine', {
    type: 'string',
    array: true,
    default: [''],
    describe: 'Options by their UCI names, name=value …; each engine has one thread',
  })
  .option('nodes', {
    type: 'number',
    array: true,
    default: [400],
    describe: 'Nodes a move; several are measured in turn',
  })
  .option('positions', { type: 'number', default: 1000, describe: 'How many of the positions with scores' })
  .option('seed', { type: 'number', default: 1, describe: 'Which positions' })
  .option('level', {
    type: 'number',
    default: 32_000,
    describe: 'Only positions whose best score is within this many centipawns',
  })
  .option('concurrency', { type: 'number', default: availableParallelism(), describe: 'Engines at a time' })
  .option('worst', {
    type: 'number',
    default: 0,
    describe: 'List this many positions in which each set gives most away',
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
      if (scores.length > 1 && Math.abs(scores[0][1]) <= flags.level)
        positions.push({ fen, moves: [...moves], scores });
      moves.push(played);
    }
  }
  const ranked = positions.map((position, i) => ({ position, rank: drawNumber(flags.seed, `${i}`) }));
  ranked.sort((one, other) => one.rank - other.rank);
  return ranked.slice(0, count).map(({ position }) => position);
}

function parseOptions(text) {
  const pairs = parsePairs(text);
  if (!pairs.ok) throw new Error(pairs.error);
  return { Threads: 1, ...Object.fromEntries(pairs.value) };
}

/** Move and W − L of every position. Each position is searched in a new tree. */
async function answerAll(options, nodes, positions) {
  const bar = new cliProgress.SingleBar({
    format: `{bar} {value}/{total} {eta_formatted} ${options || 'defaults'}, ${nodes} nodes`,
  });
  bar.start(positions.length, 0);
  const answers = [];
  let next = 0;
  async function work() {
    const engine = await createEngine({ options: parseOptions(options), onWarning: console.error });
    while (next < positions.length) {
      const i = next++;
      engine.newGame();
      const { fen, moves } = positions[i];
      engine.position({ fen, moves });
      const search = engine.go({ nodes });
      let wdl = { win: 0, loss: 0 };
      for await (const { lines } of search) wdl = lines[0].wdl;
      answers[i] = { move: (await search.bestMove).move, wl: (wdl.win - wdl.loss) / 1000 };
      bar.increment();
    }
    await engine.dispose();
  }
  await Promise.all(Array.from({ length: flags.concurrency }, work));
  bar.stop();
  return answers;
}

/** What the answer gives away, in percent of a win, and how far its W − L is from the list's. */
function judge({ scores }, { move, wl }) {
  const best = computeExpectedScore(scores[0][1]);
  const found = scores.find(([listed]) => listed === move) ?? scores.at(-1);
  return {
    regret: 50 * Math.max(0, best - computeExpectedScore(found[1])),
    valueError: Math.abs(best - wl),
    isBest: scores[0][0] === move,
  };
}

function describe(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
  return { mean, error: 1.96 * Math.sqrt(variance / values.length) };
}

function listWorst(positions, answers, verdicts) {
  const order = verdicts.map((_, i) => i).sort((one, other) => verdicts[other].regret - verdicts[one].regret);
  for (const i of order.slice(0, flags.worst)) {
    const { fen, moves, scores } = positions[i];
    const value = `W − L ${answers[i].wl.toFixed(2)}, judged ${computeExpectedScore(scores[0][1]).toFixed(2)}`;
    console.log(
      `  ${verdicts[i].regret.toFixed(1)} %: ${answers[i].move} for ${scores[0][0]}, ${value}: ${fen} moves ${moves.join(' ')}`,
    );
  }
}

const positions = choosePositions(flags._[0], flags.positions);
console.log(
  '| options | nodes | given away, % of a win | best move | error of W − L | against the first row |\n|---|---|---|---|---|---|',
);
for (const nodes of flags.nodes) {
  let first = null;
  for (const options of flags.engine) {
    const answers = await answerAll(options, nodes, positions);
    const verdicts = positions.map((position, i) => judge(position, answers[i]));
    first ??= verdicts;
    const own = describe(verdicts.map(({ regret }) => regret));
    const difference = describe(verdicts.map(({ regret }, i) => regret - first[i].regret));
    const share = describe(verdicts.map(({ isBest }) => (isBest ? 100 : 0)));
    const value = describe(verdicts.map(({ valueError }) => valueError));
    const cells = [
      options || 'defaults',
      nodes,
      `${own.mean.toFixed(3)} ± ${own.error.toFixed(3)}`,
      `${share.mean.toFixed(1)} %`,
    ];
    cells.push(value.mean.toFixed(3), `${difference.mean.toFixed(3)} ± ${difference.error.toFixed(3)}`);
    console.log(`| ${cells.join(' | ')} |`);
    listWorst(positions, answers, verdicts);
  }
}
