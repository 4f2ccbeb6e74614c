#!/usr/bin/env node
// Measures the Elo of each level of limited strength against Stockfish's UCI_Elo. It writes the table that the engine uses
// (src/engine/core/strength-levels.ts) and the one in docs/strength.md. Run it after its network, light, has changed.
//
// Stockfish plays on a clock (--tc). At a level it chooses its move once it has searched 1 + level plies, but it goes on
// searching and finds those results in its hash table at the next move; limited to that depth it was weaker, and our levels
// seemed 50 to 230 Elo stronger (docs/dev/strength-log.md). The clock is Stockfish's alone: our own levels search a fixed number of nodes.
//
// Each pairing is a `sardonyx match` with a results file in the folder of this network. A run that was stopped continues there; a
// new network starts a new folder. Games of this network, opponent and clock that the table in docs/strength.md counts, and that
// the folder does not have, count as well; `--level` then measures some levels alone.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { computeMinibatch } from '../../../dist/engine/core/strength.js';
import { UciClient } from '../../../dist/games/engines/uci-client.js';
import { describeReadFailure } from '../../../dist/platform/node/node-files.js';
import { createFolder } from '../../../dist/platform/node/node-folders.js';
import { fitRatings } from './fit.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/strength/calibrate.mjs --openings 8moves_v3.pgn')
  .option('openings', { type: 'string', describe: 'Games or positions to start from' })
  .option('games', { type: 'number', default: 200, describe: 'Games for each level' })
  .check(({ games }) => (Number.isInteger(games) && games > 0) || '--games must be a whole number from 1')
  .option('stockfish', { type: 'string', default: 'stockfish', describe: 'Command of Stockfish, best 15.1' })
  .option('network', { type: 'string', default: join(root, 'models/light.onnx') })
  .option('folder', {
    type: 'string',
    default: join(root, 'build/strength'),
    describe: 'Where games are kept, by network',
  })
  .option('level', {
    type: 'number',
    array: true,
    default: [],
    describe: 'Levels to measure, as numbered in the table',
  })
  .option('earlier', {
    type: 'string',
    describe: 'Hash of another export of this network: its games in the table count',
  })
  .option('tc', { type: 'string', default: '5+0.05', describe: 'Time control of Stockfish' })
  .option('concurrency', { type: 'number', default: 1, describe: 'Games at a time' })
  .option('fit-only', { type: 'boolean', default: false, describe: 'Play no games; rate those of earlier runs' })
  .option('dry-run', { type: 'boolean', default: false, describe: 'Print the table and write nothing' })
  .version(false)
  .strict()
  .fail((message, error) => fail(message ?? error.message))
  .parseSync();

/** Weakest first: the network's policy with ever less randomness, then more and more nodes. */
const LEVELS = [
  { nodes: 1, temperature: 2 },
  { nodes: 1, temperature: 1.2 },
  { nodes: 1, temperature: 0.8 },
  { nodes: 1, temperature: 0.6 },
  { nodes: 1, temperature: 0.4 },
  { nodes: 1, temperature: 0.25 },
  { nodes: 16, temperature: 0.25 },
  { nodes: 64, temperature: 0.25 },
  { nodes: 256, temperature: 0.15 },
  { nodes: 1024, temperature: 0.1 },
  { nodes: 4096, temperature: 0 },
  { nodes: 16384, temperature: 0 },
];
const DOCUMENT = join(root, 'docs/strength.md');
const TABLE = /(<!-- levels -->\n)([\s\S]*?)(<!-- \/levels -->)/;
/** Measuring starts with this level, whose Elo is near the lowest UCI_Elo of Stockfish. */
const FIRST = 4;
/** Seed of the games of level FIRST. Other levels count from there, so a new weaker level does not change them. */
const FIRST_SEED = 4;
const OPPONENTS = [1350, 1500, 1650, 1800, 1950, 2100, 2250, 2400, 2550];
/** A level this far below Stockfish's weakest is also measured against our next stronger level. */
const FAR_BELOW_ELO = 100;
/** Each level's games are played in this many parts. Before each part the opponent is chosen by the ratings so far. */
const PARTS = 4;
/** Ends games that are decided, by both players' scores. */
const ADJUDICATION = [
  '--draw',
  'movenumber=40 movecount=8 score=10',
  '--resign',
  'movecount=4 score=800 twosided=true',
];
/** Exit status of a match that was interrupted. */
const INTERRUPTED = 130;

const { games } = flags;
const hash = createHash('sha256').update(readNetwork(flags.network)).digest('hex').slice(0, 12);
const folder = join(flags.folder, `${hash}-${flags.tc.replace('/', 'in')}`);
const opponentPath = join(folder, 'opponent.txt');
const part = 2 * Math.ceil(games / PARTS / 2);
/** `${level}:${opponent}` → games played; an opponent is an Elo of Stockfish or `level N`. */
const wanted = new Map();
const scores = new Map();

/** The opponent of the games in the folder; null if there are none. */
function readOpponent() {
  return existsSync(opponentPath) ? readFileSync(opponentPath, 'utf8').trim() : null;
}

/** The opponent's name, as it reports it. */
async function askOpponent() {
  const client = await UciClient.start({ command: flags.stockfish, args: [], name: null, folder: null, options: [] });
  const { name } = client;
  await client.close();
  return name;
}

function describeOpponent(name) {
  return `${name} at ${flags.tc}`;
}

/** @returns {never} */
function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

function readNetwork(path) {
  try {
    return readFileSync(path);
  } catch (error) {
    return fail(`Cannot read the network ${path}: ${describeReadFailure(error)}`);
  }
}

function describeLevel({ nodes, temperature }) {
  const own = `nodes=${nodes} temperature=${temperature} temp-value-cutoff=5 minibatch-size=${computeMinibatch(nodes)} batches-in-flight=1 threads=1`;
  return `weights=${flags.network} name=n${nodes}-t${temperature} ${own}`;
}

function describeStockfish(elo) {
  const options = `option.UCI_LimitStrength=true option.UCI_Elo=${elo} option.Threads=1`;
  return `cmd=${flags.stockfish} name=SF${elo} ${options} tc=${flags.tc}`;
}

function getResultsPath(level, opponent) {
  const { nodes, temperature } = LEVELS[level];
  return join(folder, `${nodes}-${temperature}-${opponent}.jsonl`.replace(' ', ''));
}

/** All games of a pairing. Incomplete lines are skipped. */
function readScore(level, opponent) {
  const path = getResultsPath(level, opponent);
  if (!existsSync(path)) return;
  const { nodes, temperature } = LEVELS[level];
  const report = { wins: 0, draws: 0, losses: 0 };
  const text = readFileSync(path, 'utf8');
  for (const line of text.slice(0, text.lastIndexOf('\n')).split('\n').slice(1)) {
    const { white, result } = JSON.parse(line);
    const isWon = result === (white === `n${nodes}-t${temperature}` ? '1-0' : '0-1');
    report[result === '1/2-1/2' ? 'draws' : isWon ? 'wins' : 'losses']++;
  }
  const played = report.wins + report.draws + report.losses;
  if (played > 0) addScore(level, opponent, { ...report, games: played });
}

function addScore(level, opponent, report) {
  const points = report.wins + report.draws / 2;
  scores.set(`${level}:${opponent}`, { level, opponent, games: report.games, points, report });
}

/** The results in the document, where they are of this network and opponent and of the same levels. */
function readDocument(opponentName) {
  const table = TABLE.exec(readFileSync(DOCUMENT, 'utf8'))?.[2] ?? '';
  if (![hash, flags.earlier].some((one) => table.includes(`sha256 ${one}), ${describeOpponent(opponentName)}.`)))
    return;
  for (const [, number, nodes, temperature, results] of table.matchAll(
    /^\| (\d+) \| (\d+) \| ([\d.]+) \| .* \| (.*) \|$/gm,
  )) {
    const level = number - 1;
    const own = LEVELS[level];
    if (own === undefined || own.nodes !== Number(nodes) || own.temperature !== Number(temperature)) continue;
    for (const [, elo, other, ...counts] of results.matchAll(/(?:SF (\d+)|level (\d+)): \+(\d+) =(\d+) −(\d+)/g)) {
      const [wins, draws, losses] = counts.map(Number);
      const opponent = elo === undefined ? `level ${other - 1}` : Number(elo);
      addScore(level, opponent, { wins, draws, losses, games: wins + draws + losses });
    }
  }
}

/** Plays until the pairing has `count` games; earlier games count. */
function play(level, opponent, count) {
  const key = `${level}:${opponent}`;
  wanted.set(key, (wanted.get(key) ?? 0) + count);
  const other = typeof opponent === 'number' ? describeStockfish(opponent) : describeLevel(LEVELS[opponent.slice(6)]);
  const words = ['match', '--json', '--engine', describeLevel(LEVELS[level]), '--engine', other];
  words.push(
    '--games',
    `${wanted.get(key)}`,
    '--seed',
    `${FIRST_SEED + level - FIRST}`,
    '--concurrency',
    `${flags.concurrency}`,
  );
  words.push('--results', getResultsPath(level, opponent), '--rating-interval', '0', ...ADJUDICATION);
  if (flags.openings !== undefined) words.push('--openings', flags.openings);
  const run = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...words], {
    encoding: 'utf8',
    maxBuffer: 1e9,
  });
  if (run.status === INTERRUPTED || run.signal !== null) process.exit(INTERRUPTED);
  if (run.status !== 0) throw new Error(run.stderr.trim().split('\n').at(-1));
  addScore(level, opponent, JSON.parse(run.stdout));
}

function fit() {
  const pairings = [...scores.values()].map(({ level, opponent, games, points }) => ({
    player: level,
    opponent: typeof opponent === 'number' ? { elo: opponent } : { player: Number(opponent.slice(6)) },
    games,
    points,
  }));
  return fitRatings(LEVELS.length, pairings);
}

function chooseOpponents(elo, level, neighbour) {
  const closest = OPPONENTS.reduce((best, one) => (Math.abs(one - elo) < Math.abs(best - elo) ? one : best));
  const isFarBelow = elo < OPPONENTS[0] - FAR_BELOW_ELO && neighbour > level;
  return isFarBelow ? [closest, `level ${neighbour}`] : [closest];
}

function measure(level, neighbour, guess) {
  let estimate = guess;
  for (let i = 0; i < PARTS; i++) {
    for (const opponent of chooseOpponents(estimate, level, neighbour)) play(level, opponent, part);
    estimate = fit()[level].elo;
  }
  const { elo, error } = fit()[level];
  console.error(`${JSON.stringify(LEVELS[level])}: ${elo.toFixed(0)} ± ${error.toFixed(0)}`);
  return elo;
}

function formatSource(rows, conditions) {
  const name = basename(flags.network).replace(/\.onnx$/, '');
  const levels = rows.map(
    ({ elo, nodes, temperature }) => `  { elo: ${Math.round(elo)}, nodes: ${nodes}, temperature: ${temperature} },`,
  );
  return `/** The settings that reach each Elo, as measured. Written by scripts/lab/strength/calibrate.mjs; do not edit it by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the random choice among the moves searched; 0 = always the best. */
  readonly temperature: number;
}

/** The bundled network with which they were measured, by its name. */
export const LEVELS_NETWORK = '${name}';

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; ${conditions}. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
${levels.join('\n')}
];
`;
}

function formatTable(rows, conditions) {
  const describe = ({ level, opponent, report }) => {
    const name = typeof opponent === 'number' ? `SF ${opponent}` : `level ${Number(opponent.slice(6)) + 1}`;
    return [level, `${name}: +${report.wins} =${report.draws} −${report.losses}`];
  };
  const results = [...scores.values()].map(describe);
  const lines = rows.map(({ elo, error, nodes, temperature }, level) => {
    const own = results.filter(([of]) => of === level).map(([, text]) => text);
    const played = [...scores.values()].filter((one) => one.level === level).reduce((sum, one) => sum + one.games, 0);
    const cells = [level + 1, nodes, temperature, `${Math.round(elo)} ± ${Math.round(error)}`, played, own.join(', ')];
    return `| ${cells.join(' | ')} |`;
  });
  return `${conditions}.

| level | nodes | temperature | Elo (95 %) | games | results |
|---|---|---|---|---|---|
${lines.join('\n')}
`;
}

async function writeResults() {
  const isPlayed = (level) => [...scores.values()].some((one) => one.level === level);
  // Levels at the upper end may still be unmeasured; the table ends before them.
  const measured = LEVELS.findLastIndex((_, level) => isPlayed(level)) + 1;
  const unplayed = LEVELS.findIndex((_, level) => !isPlayed(level));
  if (measured === 0 || (unplayed >= 0 && unplayed < measured)) {
    const where = scores.size === 0 ? 'There are no games' : `There are no games of level ${unplayed + 1}`;
    throw new Error(`${where} of this network in ${folder}: play them first, without --fit-only`);
  }
  const rows = fit()
    .slice(0, measured)
    .map((rating, level) => ({ ...LEVELS[level], ...rating }));
  const network = flags.network.split(/[/\\]/).slice(-2).join('/');
  const conditions = `${new Date().toISOString().slice(0, 10)}, ${network} (sha256 ${hash}), ${describeOpponent(readOpponent() ?? (await askOpponent()))}`;
  const table = formatTable(rows, conditions);
  console.log(table);
  const wrong = rows.findIndex(({ elo }, i) => i > 0 && elo <= rows[i - 1].elo);
  if (wrong > 0) throw new Error(`Levels ${wrong} and ${wrong + 1} are out of order: more games are needed`);
  if (flags['dry-run']) return;
  writeFileSync(join(root, 'src/engine/core/strength-levels.ts'), formatSource(rows, conditions));
  const text = readFileSync(DOCUMENT, 'utf8');
  if (!TABLE.test(text)) throw new Error(`${DOCUMENT} has no place for the table`);
  writeFileSync(DOCUMENT, text.replace(TABLE, `$1${table}$3`));
}

async function playAll() {
  const [known, name] = [readOpponent(), await askOpponent()];
  if (known !== null && known !== name) throw new Error(`The games in ${folder} are against ${known}, not ${name}`);
  createFolder(folder);
  writeFileSync(opponentPath, `${name}\n`);
  if (flags.level.length > 0) {
    readDocument(name);
    readAll();
    for (const number of flags.level) measure(number - 1, number - 2, fit()[number - 2].elo + 100);
    return;
  }
  let elo = OPPONENTS[0];
  for (let level = FIRST; level >= 0; level--) elo = measure(level, level + 1, elo - 100);
  elo = fit()[FIRST].elo;
  for (let level = FIRST + 1; level < LEVELS.length; level++) elo = measure(level, level - 1, elo + 100);
}

/** Includes pairings that earlier runs chose. */
function readAll() {
  const own = LEVELS.map((_, level) => `level ${level}`);
  for (const level of LEVELS.keys()) for (const opponent of [...OPPONENTS, ...own]) readScore(level, opponent);
}

try {
  if (!flags['fit-only']) await playAll();
  const known = readOpponent();
  if (known !== null) readDocument(known);
  readAll();
  await writeResults();
} catch (error) {
  fail(error.message);
}
