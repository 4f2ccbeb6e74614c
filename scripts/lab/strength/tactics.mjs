#!/usr/bin/env node
// Measures how many short tactics a network solves without search: mates in one and two, recaptures, winning captures, forks.
// Positions come from labelled games (`sardonyx label`) held out from training, with their history (tactic-kinds.mjs finds
// the tactics). A table shows, for each network, how often its first move is a solution and how much of the policy the
// solutions get. With --nodes it also shows the move after a search.
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { parseFen, parseUciMove } from '../../../dist/chess/rules/index.js';
import { createEngine } from '../../../dist/index.js';
import { drawNumber, readGames } from './labelled-positions.mjs';
import { findTactic, TACTIC_KINDS } from './tactic-kinds.mjs';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/strength/tactics.mjs GAMES.jsonl.gz … --weights A.onnx --weights B.onnx')
  .demandCommand(1)
  .option('weights', {
    type: 'string',
    array: true,
    default: [''],
    describe: 'Network files; the bundled one by default',
  })
  .option('positions', { type: 'number', default: 500, describe: 'Largest number of positions of each kind' })
  .option('seed', { type: 'number', default: 1, describe: 'Which positions' })
  .option('policy-temperature', {
    type: 'number',
    default: 1,
    describe: 'Temperature of the policies shown; 1 is the network’s own',
  })
  .option('nodes', { type: 'number', default: 0, describe: 'Also search this many nodes' })
  .option('json', { type: 'boolean', default: false, describe: 'Print the figures as JSON' })
  .version(false)
  .strict()
  .parseSync();

/** Every tactic of the files by kind, the same order for the same seed. */
function collectTactics(paths) {
  const byKind = Object.fromEntries(TACTIC_KINDS.map((kind) => [kind, []]));
  for (const path of paths) {
    for (const [number, { fen, plies }] of readGames(path).entries()) {
      const parsed = parseFen(fen);
      if (!parsed.ok) throw new Error(`${path}, line ${number + 1}: ${parsed.error}`);
      const position = parsed.value;
      const moves = [];
      for (const [played, scores] of plies) {
        const tactic = findTactic(position, scores);
        if (tactic !== null) {
          const rank = drawNumber(flags.seed, `${fen} ${moves.join(' ')}`);
          byKind[tactic.kind].push({ fen, moves: [...moves], solutions: tactic.solutions, rank });
        }
        const move = parseUciMove(position, played);
        if (!move.ok) throw new Error(`${path}, line ${number + 1}: ${move.error}`);
        position.makeMove(move.value);
        moves.push(played);
      }
    }
  }
  for (const tactics of Object.values(byKind))
    tactics.sort((one, other) => one.rank - other.rank).splice(flags.positions);
  return byKind;
}

/** Of one position: whether the first move solves it, the solutions' share of the policy, W − L, the move searched. */
async function ask(engine, { fen, moves, solutions }) {
  engine.position({ fen, moves });
  const { policy, value } = await engine.evaluate();
  const share = policy.filter(({ move }) => solutions.includes(move)).reduce((sum, { prior }) => sum + prior, 0);
  const answer = { isFound: solutions.includes(policy[0].move), share, value, isFoundBySearch: false };
  if (flags.nodes > 0) {
    engine.newGame();
    engine.position({ fen, moves });
    answer.isFoundBySearch = solutions.includes((await engine.go({ nodes: flags.nodes }).bestMove).move);
  }
  return answer;
}

async function measure(weights, byKind) {
  const settings = { threads: 1, options: { PolicyTemperature: flags.policyTemperature }, onWarning: console.error };
  const engine = await createEngine(weights === '' ? settings : { ...settings, weights });
  const figures = {};
  for (const [kind, tactics] of Object.entries(byKind)) {
    const answers = [];
    for (const tactic of tactics) answers.push(await ask(engine, tactic));
    const mean = (read) => answers.reduce((sum, answer) => sum + Number(read(answer)), 0) / answers.length;
    figures[kind] = {
      positions: answers.length,
      found: mean((answer) => answer.isFound),
      share: mean((answer) => answer.share),
      value: mean((answer) => answer.value),
      ...(flags.nodes > 0 ? { foundBySearch: mean((answer) => answer.isFoundBySearch) } : {}),
    };
  }
  await engine.dispose();
  return figures;
}

function formatRow(name, { positions, found, share, value, foundBySearch }, kind) {
  const percent = (number) => `${(100 * number).toFixed(1)} %`;
  const cells = [kind, name, positions, percent(found), percent(share), value.toFixed(2)];
  return `| ${[...cells, ...(foundBySearch === undefined ? [] : [percent(foundBySearch)])].join(' | ')} |`;
}

async function main() {
  const byKind = collectTactics(flags._.map(String));
  const results = [];
  for (const weights of flags.weights)
    results.push({ weights: weights || 'bundled', figures: await measure(weights, byKind) });
  if (flags.json) return console.log(JSON.stringify(results));
  const searched = flags.nodes > 0 ? [`after ${flags.nodes} nodes`] : [];
  const heads = ['tactic', 'network', 'positions', 'first move solves', 'policy on solutions', 'W − L', ...searched];
  console.log(`| ${heads.join(' | ')} |\n|${'---|'.repeat(heads.length)}`);
  for (const kind of TACTIC_KINDS)
    for (const { weights, figures } of results)
      if (figures[kind].positions > 0) console.log(formatRow(weights, figures[kind], kind));
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
