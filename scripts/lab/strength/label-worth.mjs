#!/usr/bin/env node
// Measures what labels of an engine cost and what they are worth: one process labels the same held-out positions at several
// numbers of nodes and lines (MultiPV), and each setting is compared with a reference of more nodes.
//
// Cost is the engine process's CPU time (Linux; elsewhere the wall time of its searches), so other programs on the machine disturb it
// little. Worth: the share of positions with the reference's best move; the difference of W − L; and KL(reference ‖ label) of
// the policy targets, for which every legal move of the label gets one hundredth of a uniform policy, since a label of few lines
// gives the other moves nothing. Curves and temperature are those of label-target.ts.
import { readdirSync, readFileSync } from 'node:fs';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { formatUciMove, listLegalMoves, parseFen, parseUciMove } from '../../../dist/chess/rules/index.js';
import { createNetworkSetup } from '../../../dist/cli/commands/play/player-network.js';
import { UciClient } from '../../../dist/games/engines/uci-client.js';
import { LabelNetwork } from '../../../dist/games/labels/index.js';
import { collectScores } from '../../../dist/games/labels/label-record.js';
import { computeDivergence, computeTarget } from '../../../dist/games/labels/label-target.js';
import { NetworkPools } from '../../../dist/games/play/index.js';
import { drawNumber, readGames } from './labelled-positions.mjs';

const UNIFORM_SHARE = 0.01;
/** Of /proc/PID/stat: CPU time is counted in hundredths of a second on every Linux. */
const TICKS_PER_SECOND = 100;

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/strength/label-worth.mjs GAMES.jsonl.gz … --positions 600')
  .demandCommand(1)
  .option('positions', { type: 'number', default: 600, describe: 'Positions, drawn from all files alike' })
  .option('seed', { type: 'number', default: 1, describe: 'Which positions' })
  .option('nodes', { type: 'array', default: [200, 400, 800, 1200, 2500, 5000] })
  .option('multipv', { type: 'array', default: [2, 3, 4, 5] })
  .option('reference-nodes', { type: 'number', default: 10_000 })
  .option('reference-multipv', { type: 'number', default: 5 })
  .option('hash-games', {
    type: 'number',
    default: 0,
    describe: 'Compare kept and cleared hash on so many whole games',
  })
  .option('weights', { type: 'string', describe: 'Network whose answers without search get a row of their own' })
  .option('stockfish', { type: 'string', default: 'stockfish' })
  .option('hash', { type: 'number', default: 16, describe: "The engine's hash table in MB" })
  .version(false)
  .strict()
  .parseSync();

function listMovesAfter(fen, moves) {
  const position = parseFen(fen).value;
  for (const move of moves) position.makeMove(parseUciMove(position, move).value);
  return listLegalMoves(position).map((move) => formatUciMove(move, false));
}

/** Every ply with several scored moves; `game` tells the games of all files apart. */
function listPositions(paths) {
  const games = paths.flatMap(readGames);
  return games.map(({ fen, plies }) => {
    const moves = plies.map(([played]) => played);
    return plies.flatMap(([, scores], ply) => (scores.length > 1 ? [{ fen, moves: moves.slice(0, ply) }] : []));
  });
}

function choosePositions(games, count) {
  const ranked = games.flat().map((position, i) => ({ position, rank: drawNumber(flags.seed, `${i}`) }));
  ranked.sort((one, other) => one.rank - other.rank);
  return ranked.slice(0, count).map(({ position }) => position);
}

/** Seconds of CPU that the children of this process have used; null where /proc does not say. */
function readCpuSeconds() {
  try {
    const threads = readdirSync('/proc/self/task');
    const children = threads.flatMap((thread) =>
      readFileSync(`/proc/self/task/${thread}/children`, 'utf8').trim().split(' ').filter(Boolean),
    );
    const ticks = children.map((child) => {
      const fields = readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1].split(' ');
      return Number(fields[11]) + Number(fields[12]);
    });
    return ticks.reduce((sum, value) => sum + value, 0) / TICKS_PER_SECOND;
  } catch {
    return null;
  }
}

/** @param clears whether the hash table is emptied before a position */
async function labelAll(positions, nodes, multipv, clears) {
  const engine = await UciClient.start({
    command: flags.stockfish,
    args: [],
    name: null,
    folder: null,
    options: [
      ['Threads', '1'],
      ['Hash', String(flags.hash)],
      ['MultiPV', String(multipv)],
    ],
  });
  const labels = [];
  let cpu = 0;
  let wall = 0;
  let clearing = 0;
  for (const [i, position] of positions.entries()) {
    const start = readCpuSeconds();
    if (clears(i)) await engine.newGame();
    const begun = performance.now();
    const cleared = readCpuSeconds();
    const moves = position.moves.length > 0 ? ` moves ${position.moves.join(' ')}` : '';
    const { lines } = await engine.go(`fen ${position.fen}${moves}`, { nodes, countsBounds: true });
    labels.push(collectScores(lines, position.legal).map(({ move, score }) => [move, score]));
    wall += (performance.now() - begun) / 1000;
    cpu += readCpuSeconds() - cleared;
    clearing += cleared - start;
  }
  await engine.close();
  return { labels, seconds: cpu > 0 ? cpu : wall, wall, clearing };
}

function soften(policy, legal) {
  const share = UNIFORM_SHARE / legal.length;
  return new Map(legal.map((move) => [move, (1 - UNIFORM_SHARE) * (policy.get(move) ?? 0) + share]));
}

/** A network's policy and W - L of each position, without search. */
async function askNetwork(path, positions) {
  const pools = new NetworkPools();
  const flags = [
    ['weights', path],
    ['PolicyTemperature', '1'],
  ];
  const setup = await createNetworkSetup(flags, [], console.error);
  if (!setup.ok) throw new Error(setup.error);
  const network = await LabelNetwork.open({ search: setup.value, impression: setup.value }, pools);
  const answers = await network.askAll(positions);
  await pools.close();
  return answers;
}

function findBest(policy) {
  return [...policy].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

function compare(labels, reference, positions) {
  return compareAnswers(labels.map(computeTarget), reference, positions);
}

function compareAnswers(answers, reference, positions) {
  let same = 0;
  let valueError = 0;
  let divergence = 0;
  for (const [i, { legal }] of positions.entries()) {
    const own = answers[i];
    const best = computeTarget(reference[i]);
    if (findBest(own.policy) === reference[i][0][0]) same++;
    valueError += Math.abs(own.wl - best.wl);
    divergence += computeDivergence(best.policy, soften(own.policy, legal));
  }
  const count = positions.length;
  return { top1: same / count, valueError: valueError / count, divergence: divergence / count };
}

function formatWorth({ top1, valueError, divergence }) {
  return [`${(100 * top1).toFixed(1)} %`, valueError.toFixed(4), divergence.toFixed(3)];
}

function format(worth, { seconds, wall }, count) {
  const rate = count / seconds;
  return [rate.toFixed(0), (count / wall).toFixed(0), ...formatWorth(worth), (worth.top1 * rate).toFixed(0)].join(
    ' | ',
  );
}

const always = () => true;
const games = listPositions(flags._.map(String));
for (const position of games.flat()) position.legal = null;
const positions = choosePositions(games, flags.positions);
for (const position of positions) position.legal = listMovesAfter(position.fen, position.moves);
const heading = 'positions/s | on the clock | best move agrees | error of W − L | KL, nats | agreements/s';
const reference = await labelAll(positions, flags.referenceNodes, flags.referenceMultipv, always);
console.log(
  `${positions.length} positions; clearing the hash: ${((1000 * reference.clearing) / positions.length).toFixed(1)} ms each`,
);
console.log(`| nodes | MultiPV | ${heading} |\n|---|---|---|---|---|---|---|---|`);
for (const multipv of flags.multipv) {
  for (const nodes of flags.nodes) {
    const run = await labelAll(positions, nodes, multipv, always);
    console.log(
      `| ${nodes} | ${multipv} | ${format(compare(run.labels, reference.labels, positions), run, positions.length)} |`,
    );
  }
}
if (flags.weights !== undefined) {
  const worth = compareAnswers(await askNetwork(flags.weights, positions), reference.labels, positions);
  console.log(`| network alone | | | | ${formatWorth(worth).join(' | ')} | |`);
}
const own = compare(reference.labels, reference.labels, positions);
console.log(`| ${flags.referenceNodes} | ${flags.referenceMultipv} | ${format(own, reference, positions.length)} |`);

if (flags.hashGames > 0) {
  const order = games.map((game, i) => ({ game, rank: drawNumber(flags.seed, `game ${i}`) }));
  order.sort((one, other) => one.rank - other.rank);
  const chosen = order.slice(0, flags.hashGames).map(({ game }) => game);
  const plies = chosen.flat();
  const starts = new Set(chosen.map((game) => plies.indexOf(game[0])));
  for (const position of plies) position.legal = listMovesAfter(position.fen, position.moves);
  const judge = await labelAll(plies, flags.referenceNodes, flags.referenceMultipv, always);
  console.log(
    `\n${plies.length} plies of ${chosen.length} games\n| nodes | MultiPV | hash | ${heading} |\n|---|---|---|---|---|---|---|---|---|`,
  );
  for (const nodes of flags.nodes) {
    for (const [name, clears] of [
      ['cleared before each ply', always],
      ['kept during a game', (i) => starts.has(i)],
    ]) {
      const run = await labelAll(plies, nodes, flags.referenceMultipv, clears);
      const worth = format(compare(run.labels, judge.labels, plies), run, plies.length);
      console.log(`| ${nodes} | ${flags.referenceMultipv} | ${name} | ${worth} |`);
    }
  }
}
