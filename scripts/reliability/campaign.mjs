#!/usr/bin/env node
// Plays games under fastchess in every mixture of clock, opponent, variant, search and memory limit, and counts how each
// game ended. Each batch is appended to <out>/batches.jsonl, so a stopped campaign goes on with the next mixture.
// `--summary` prints the table of all batches without playing. A loss on time, a crash, a stall or an illegal move of
// Sardonyx is an exception: its games stay in <out>/exceptions.pgn. What
// fastchess warns of (an illegal move in a principal variation, for example) stays in <out>/warnings.txt.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { Chess } from 'chessops/chess';
import { makeFen, parseFen } from 'chessops/fen';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const CLOCKS = ['0.5+0', '1+0.01', '5+0.05', '40/10'];
const OPPONENTS = ['stockfish', 'itself'];
const VARIANTS = ['standard', 'fischerandom'];
const SEARCHES = ['tree', 'graph'];
const RAM_LIMITS_MB = [0, 64];
/** How fastchess words an ending that one of the players is to blame for. */
const FAULTS = ['time forfeit', 'abandoned', 'illegal move', 'stalled connection', 'unterminated'];
const PLAYER = 'Sardonyx';

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/reliability/campaign.mjs --fastchess=PATH [--opponent=PATH]\n\nPlays and counts games.')
  .option('fastchess', { type: 'string', default: 'fastchess', describe: 'The fastchess program' })
  .option('opponent', { type: 'string', default: 'stockfish', describe: 'The Stockfish program' })
  .option('node', { type: 'string', default: process.execPath, describe: 'The Node.js that runs Sardonyx' })
  .option('engine', { type: 'string', default: 'dist/cli/main.js', describe: 'The main.js of a built Sardonyx' })
  .option('games', { type: 'number', default: 20, describe: 'Games in a batch (of one mixture)' })
  .option('batches', { type: 'number', default: 0, describe: 'Batches to play; 0 = until stopped' })
  .option('margin', { type: 'number', default: 0, describe: 'Milliseconds that may be overstepped (a busy machine)' })
  .option('out', { type: 'string', default: 'runs/campaign', describe: 'Folder of the results' })
  .option('summary', { type: 'boolean', default: false, describe: 'Only print the table' })
  .version(false)
  .strict()
  .parseSync();

const folder = resolve(flags.out);
const batchesFile = join(folder, 'batches.jsonl');
const exceptionsFile = join(folder, 'exceptions.pgn');
const warningsFile = join(folder, 'warnings.txt');

/** All mixtures, dealt so that neighbours differ in clock and opponent. */
function listMixtures() {
  const mixtures = [];
  for (const ramLimitMb of RAM_LIMITS_MB)
    for (const variant of VARIANTS)
      for (const search of SEARCHES)
        for (const opponent of OPPONENTS)
          for (const clock of CLOCKS) mixtures.push({ clock, opponent, variant, search, ramLimitMb });
  return mixtures;
}

/** A linear congruential generator: the same batch number gives the same openings. */
function createRandom(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * limit);
  };
}

function pickBackRank(random) {
  const squares = Array(8).fill('');
  const put = (piece, choices) => {
    squares[choices[random(choices.length)]] = piece;
  };
  const free = () => squares.flatMap((piece, file) => (piece === '' ? [file] : []));
  put('b', [0, 2, 4, 6]);
  put('b', [1, 3, 5, 7]);
  put('q', free());
  put('n', free());
  put('n', free());
  for (const piece of ['r', 'k', 'r']) squares[free()[0]] = piece;
  return squares.join('');
}

/** Eight random plies from a start position of the variant, as FEN. */
function makeOpening(random, variant) {
  const rank = variant === 'standard' ? 'rnbqkbnr' : pickBackRank(random);
  const rooks = [...rank].flatMap((piece, file) => (piece === 'r' ? ['abcdefgh'[file]] : [])).reverse();
  const rights = variant === 'standard' ? 'KQkq' : `${rooks.join('').toUpperCase()}${rooks.join('')}`;
  const start = `${rank}/pppppppp/8/8/8/8/PPPPPPPP/${rank.toUpperCase()} w ${rights} - 0 1`;
  for (;;) {
    const position = Chess.fromSetup(parseFen(start).unwrap()).unwrap();
    for (let ply = 0; ply < 8 && !position.isEnd(); ply++) {
      const moves = [...position.allDests()].flatMap(([from, targets]) => [...targets].map((to) => ({ from, to })));
      const move = moves[random(moves.length)];
      position.play(
        position.board.get(move.from)?.role === 'pawn' && (move.to < 8 || move.to > 55)
          ? { ...move, promotion: 'queen' }
          : move,
      );
    }
    if (!position.isEnd()) return makeFen(position.toSetup());
  }
}

function listEngine(name, { search, ramLimitMb }) {
  const options = [`option.SearchAlgorithm=${search}`, 'option.Threads=1'];
  if (ramLimitMb > 0) options.push(`option.RamLimitMb=${ramLimitMb}`);
  return ['-engine', `cmd=${flags.node}`, `args=${resolve(flags.engine)}`, `name=${name}`, ...options];
}

function playBatch(mixture, number) {
  const random = createRandom(number);
  const book = join(folder, 'openings.epd');
  const openings = Array.from({ length: Math.ceil(flags.games / 2) }, () => makeOpening(random, mixture.variant));
  writeFileSync(book, `${openings.join('\n')}\n`);
  const pgn = join(folder, 'batch.pgn');
  rmSync(pgn, { force: true });
  const opponent =
    mixture.opponent === 'itself'
      ? listEngine(`${PLAYER}-2`, mixture)
      : ['-engine', `cmd=${flags.opponent}`, 'name=Stockfish', 'option.Threads=1', 'option.Hash=16'];
  const run = spawnSync(
    flags.fastchess,
    [
      ...listEngine(PLAYER, mixture),
      ...opponent,
      ...['-each', `tc=${mixture.clock}`, `timemargin=${flags.margin}`],
      ...['-variant', mixture.variant, '-openings', `file=${book}`, 'format=epd', 'order=sequential'],
      ...['-rounds', String(openings.length), '-games', '2', '-concurrency', '1', '-recover'],
      ...['-pgnout', `file=${pgn}`, 'notation=uci', '-report', 'penta=false'],
    ],
    { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 },
  );
  if (!existsSync(pgn)) throw new Error(`fastchess played no game: ${run.stdout}${run.stderr}`.slice(0, 2000));
  return countEndings(readFileSync(pgn, 'utf8'), run.stdout);
}

function countEndings(text, log) {
  const counts = { games: 0, wins: 0, draws: 0, losses: 0, exceptions: {}, opponentFaults: 0, warnings: 0 };
  for (const game of text.split(/\n(?=\[Event )/).filter((part) => part.includes('[Result '))) {
    const tag = (name) => new RegExp(`\\[${name} "([^"]*)"\\]`).exec(game)?.[1] ?? '';
    const result = tag('Result');
    const loser = result === '1-0' ? tag('Black') : result === '0-1' ? tag('White') : '';
    counts.games++;
    if (result === '1/2-1/2') counts.draws++;
    else if (loser === PLAYER) counts.losses++;
    else if (loser !== '') counts.wins++;
    const ending = tag('Termination');
    if (!FAULTS.includes(ending) && result !== '*') continue;
    if (loser !== '' && !loser.startsWith(PLAYER)) counts.opponentFaults++;
    else {
      counts.exceptions[ending] = (counts.exceptions[ending] ?? 0) + 1;
      appendFileSync(exceptionsFile, `${game.trim()}\n\n`);
    }
  }
  const warnings = log.match(/^Warning.*Sardonyx[\s\S]*?(?=\n\S*Warning|\nStarted|\nFinished|\n-----|$)/gm) ?? [];
  counts.warnings = warnings.length;
  if (warnings.length > 0) appendFileSync(warningsFile, `${warnings.join('\n')}\n`);
  return counts;
}

function readBatches() {
  if (!existsSync(batchesFile)) return [];
  return readFileSync(batchesFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function printSummary(batches) {
  const rows = new Map();
  const add = (key, batch) => {
    const row = rows.get(key) ?? { games: 0, wins: 0, draws: 0, losses: 0, exceptions: 0, warnings: 0 };
    for (const column of ['games', 'wins', 'draws', 'losses', 'warnings']) row[column] += batch[column];
    row.exceptions += Object.values(batch.exceptions).reduce((sum, count) => sum + count, 0);
    rows.set(key, row);
  };
  for (const batch of batches) {
    for (const name of ['clock', 'opponent', 'variant', 'search', 'ramLimitMb']) add(`${name} ${batch[name]}`, batch);
    add('all', batch);
  }
  console.log('| mixture | games | + | = | - | exceptions | warnings |\n|---|---|---|---|---|---|---|');
  for (const [key, row] of rows) console.log(`| ${[key, ...Object.values(row)].join(' | ')} |`);
}

mkdirSync(folder, { recursive: true });
const batches = readBatches();
if (!flags.summary) {
  const mixtures = listMixtures();
  const end = flags.batches > 0 ? batches.length + flags.batches : Number.POSITIVE_INFINITY;
  for (let number = batches.length; number < end; number++) {
    // A step that has no common factor with the number of mixtures visits them all, neighbours unlike each other.
    const mixture = mixtures[(number * 11) % mixtures.length];
    const started = Date.now();
    const counts = playBatch(mixture, number);
    const batch = { number, ...mixture, ...counts, seconds: Math.round((Date.now() - started) / 1000) };
    batch.machine = { processor: cpus()[0].model, load: Number(loadavg()[0].toFixed(1)) };
    appendFileSync(batchesFile, `${JSON.stringify(batch)}\n`);
    batches.push(batch);
    console.error(
      `batch ${number}: ${mixture.clock} ${mixture.opponent} ${mixture.variant} ${mixture.search} RamLimitMb ${mixture.ramLimitMb}: ` +
        `${counts.games} games, exceptions ${JSON.stringify(counts.exceptions)}, ${batch.seconds} s`,
    );
  }
}
printSummary(batches);
