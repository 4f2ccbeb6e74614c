#!/usr/bin/env node
// Plays games in every mixture of clock, opponent, variant, search, memory limit and network, under fastchess, and with
// pondering under cutechess-cli, and counts how each game ended. Each batch is appended to <out>/batches.jsonl, so a
// stopped campaign goes on with the next mixture. `--summary` prints the table of all batches without playing. A loss on
// time, a crash, a stall or an illegal move of Sardonyx is an exception: its games stay in <out>/exceptions.pgn, the
// conversation of the batch in <out>/log-N.txt. A timer runs beside the games: where it was itself late by at least what
// a game overstepped, that loss is the machine's and is counted apart. What fastchess warns of (an illegal move in a
// principal variation, for example) stays in <out>/warnings.txt.
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
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
/** Flags for each evaluator: small ones reach many more nodes a second, thus the limits of memory. */
const NETWORKS = {
  bundled: '',
  tiny: `--weights=${resolve('models/tiny-test.onnx')}`,
  hash: '--backend=hash',
};
/** Short games come in larger batches, so that ten thousand take hours and not days. */
const GAMES_FACTOR = { '0.5+0': 8, '1+0.01': 2, '5+0.05': 0.25, '40/10': 0.1 };
/** How fastchess words an ending that one of the players is to blame for. */
const FAULTS = ['time forfeit', 'abandoned', 'illegal move', 'stalled connection', 'unterminated'];
const PLAYER = 'Sardonyx';
const LATENESS_TICK_MS = 5;
/** A game on the shortest clocks ends within this time. */
const LATENESS_WINDOW_MS = 2_000;
const UNKNOWN_OVERSTEP_MS = 20;
/** On a busy machine an engine takes a minute to start. */
const ENGINE_TIMEOUTS = ['-startup-ms', '600000', '-ucinewgame-ms', '600000', '-ping-ms', '600000'];

const flags = yargs(hideBin(process.argv))
  .usage('node scripts/lab/reliability/campaign.mjs --fastchess=PATH [--opponent=PATH]\n\nPlays and counts games.')
  .option('fastchess', { type: 'string', default: 'fastchess', describe: 'The fastchess program' })
  .option('opponent', { type: 'string', default: 'stockfish', describe: 'The Stockfish program' })
  .option('node', { type: 'string', default: process.execPath, describe: 'The Node.js that runs Sardonyx' })
  .option('engine', { type: 'string', default: 'dist/cli/main.js', describe: 'The main.js of a built Sardonyx' })
  .option('cutechess', { type: 'string', describe: 'The cutechess-cli program, for games with pondering' })
  .option('games', {
    type: 'number',
    default: 20,
    describe: 'Games in a batch; short clocks play more, long ones fewer',
  })
  .option('batches', { type: 'number', default: 0, describe: 'Batches to play; 0 = until stopped' })
  .option('first', {
    type: 'number',
    default: 0,
    describe: 'Number of the first batch, after those of earlier campaigns',
  })
  .option('margin', {
    type: 'number',
    default: 0,
    describe: 'Milliseconds that may be overstepped (a busy machine: these games prove nothing about time)',
  })
  .option('out', { type: 'string', default: 'runs/campaign', describe: 'Folder of the results' })
  .option('summary', { type: 'boolean', default: false, describe: 'Only print the table' })
  .version(false)
  .strict()
  .parseSync();

const folder = resolve(flags.out);
const batchesFile = join(folder, 'batches.jsonl');
const exceptionsFile = join(folder, 'exceptions.pgn');
const warningsFile = join(folder, 'warnings.txt');

/** All mixtures; neighbours in the list differ in their clocks. */
function listMixtures() {
  const dimensions = {
    network: Object.keys(NETWORKS),
    ponder: flags.cutechess === undefined ? [false] : [false, true],
    ramLimitMb: RAM_LIMITS_MB,
    variant: VARIANTS,
    search: SEARCHES,
    opponent: OPPONENTS,
    clock: CLOCKS,
  };
  return Object.entries(dimensions).reduce(
    (mixtures, [name, values]) => mixtures.flatMap((mixture) => values.map((value) => ({ ...mixture, [name]: value }))),
    [{}],
  );
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

function listEngine(name, { search, ramLimitMb, network, ponder }) {
  const options = [`option.SearchAlgorithm=${search}`, 'option.Threads=1'];
  if (ramLimitMb > 0) options.push(`option.RamLimitMb=${ramLimitMb}`);
  const words = [resolve(flags.engine), NETWORKS[network]].filter((word) => word !== '');
  // fastchess takes all arguments in one word, cutechess-cli takes one word for each.
  const args = ponder ? [...words.map((word) => `arg=${word}`), 'ponder'] : [`args=${words.join(' ')}`];
  return ['-engine', `cmd=${flags.node}`, ...args, `name=${name}`, ...options];
}

function listOpponent(mixture) {
  if (mixture.opponent === 'itself') return listEngine(`${PLAYER}-2`, mixture);
  const words = ['-engine', `cmd=${flags.opponent}`, 'name=Stockfish', 'option.Threads=1', 'option.Hash=16'];
  return mixture.ponder ? [...words, 'ponder'] : words;
}

/** Notes when a timer of this process was late: then any process of this priority had to wait for a processor. */
function watchLateness() {
  const late = [];
  let last = Date.now();
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - last > LATENESS_TICK_MS + 3) late.push({ at: now, ms: now - last - LATENESS_TICK_MS });
    last = now;
  }, LATENESS_TICK_MS);
  return {
    sumBetween: (from, to) => late.reduce((sum, { at, ms }) => (at >= from && at <= to ? sum + ms : sum), 0),
    stop: () => clearInterval(timer),
  };
}

function runReferee(program, args) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    child.on('error', (error) => done(`${error}`));
    child.on('close', () => done(output));
  });
}

async function playBatch(mixture, number) {
  const random = createRandom(number);
  const book = join(folder, 'openings.epd');
  const rounds = Math.ceil((flags.games * GAMES_FACTOR[mixture.clock]) / 2);
  const openings = Array.from({ length: rounds }, () => makeOpening(random, mixture.variant));
  writeFileSync(book, `${openings.join('\n')}\n`);
  const pgn = join(folder, 'batch.pgn');
  const log = join(folder, 'batch.log');
  for (const file of [pgn, log]) rmSync(file, { force: true });
  const watch = watchLateness();
  const output = await runReferee(mixture.ponder ? flags.cutechess : flags.fastchess, [
    ...listEngine(PLAYER, mixture),
    ...listOpponent(mixture),
    ...[
      '-each',
      ...(mixture.ponder ? ['proto=uci', 'tscale=10'] : []),
      `tc=${mixture.clock}`,
      `timemargin=${flags.margin}`,
    ],
    ...['-variant', mixture.variant, '-openings', `file=${book}`, 'format=epd', 'order=sequential'],
    ...['-rounds', String(rounds), '-games', '2', '-repeat', '-concurrency', '1', '-recover'],
    ...(mixture.ponder
      ? ['-pgnout', pgn, '-debug', 'all']
      : [
          '-pgnout',
          `file=${pgn}`,
          'notation=uci',
          '-log',
          `file=${log}`,
          'level=trace',
          'engine=true',
          ...ENGINE_TIMEOUTS,
        ]),
  ]);
  watch.stop();
  if (!existsSync(pgn)) throw new Error(`no game was played: ${output.slice(-1000)}`);
  const counts = countEndings(readFileSync(pgn, 'utf8'), output, watch);
  if (counts.games === 0) throw new Error(`no game was finished: ${output.slice(-1000)}`);
  if (Object.keys(counts.exceptions).length > 0 || counts.warnings > 0 || counts.late.length > 0) {
    const kept = join(folder, `log-${number}.txt`);
    if (mixture.ponder) writeFileSync(kept, output);
    else if (existsSync(log)) renameSync(log, kept);
  }
  return counts;
}

/**
 * How late the machine was in the last seconds of a game that was lost on time, and by how much it was lost. With a
 * margin, what was overstepped adds up over the game, so the whole game counts. cutechess-cli does not say by how much.
 */
function judgeTimeLoss(game, tag, watch) {
  const readTime = (name) => Date.parse(tag(name).replace(/ UTC$/, 'Z').replace(' +0000', 'Z'));
  const overstepMs = Number(/\((\d+)ms overrun\)/.exec(game.replace(/\s+/g, ' '))?.[1] ?? UNKNOWN_OVERSTEP_MS);
  const endedAt = readTime('GameEndTime');
  const from = flags.margin > 0 ? readTime('GameStartTime') : endedAt - LATENESS_WINDOW_MS;
  return { overstepMs: overstepMs + flags.margin, latenessMs: watch.sumBetween(from, endedAt + 1000) };
}

function countEndings(text, output, watch) {
  const counts = { games: 0, wins: 0, draws: 0, losses: 0, exceptions: {}, late: [], opponentFaults: 0, warnings: 0 };
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
    if (loser !== '' && !loser.startsWith(PLAYER)) {
      counts.opponentFaults++;
      continue;
    }
    appendFileSync(exceptionsFile, `${game.trim()}\n\n`);
    const loss = judgeTimeLoss(game, tag, watch);
    if (ending === 'time forfeit' && loss.latenessMs >= loss.overstepMs) counts.late.push(loss);
    else counts.exceptions[ending] = (counts.exceptions[ending] ?? 0) + 1;
  }
  const warnings = output.match(/^Warning; .*(?:\n(?:Info|Infos|Position|Moves); .*)*/gm) ?? [];
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
    const row = rows.get(key) ?? { games: 0, wins: 0, draws: 0, losses: 0, exceptions: 0, late: 0, warnings: 0 };
    for (const column of ['games', 'wins', 'draws', 'losses', 'warnings']) row[column] += batch[column];
    row.exceptions += Object.values(batch.exceptions).reduce((sum, count) => sum + count, 0);
    row.late += batch.late.length;
    rows.set(key, row);
  };
  for (const batch of batches) {
    for (const name of ['clock', 'opponent', 'variant', 'search', 'ramLimitMb', 'network', 'ponder'])
      add(`${name} ${batch[name]}`, batch);
    add('all', batch);
  }
  console.log(
    '| mixture | games | + | = | - | exceptions | late machine | warnings |\n|---|---|---|---|---|---|---|---|',
  );
  for (const [key, row] of rows) console.log(`| ${[key, ...Object.values(row)].join(' | ')} |`);
}

mkdirSync(folder, { recursive: true });
const batches = readBatches();
if (!flags.summary) {
  const mixtures = listMixtures();
  const next = flags.first + batches.length;
  const end = flags.batches > 0 ? next + flags.batches : Number.POSITIVE_INFINITY;
  for (let number = next; number < end; number++) {
    // A step that has no common factor with the number of mixtures visits them all, neighbours unlike each other.
    const mixture = mixtures[(number * 11) % mixtures.length];
    const started = Date.now();
    const counts = await playBatch(mixture, number);
    const batch = { number, ...mixture, ...counts, seconds: Math.round((Date.now() - started) / 1000) };
    batch.machine = { processor: cpus()[0].model, load: Number(loadavg()[0].toFixed(1)), marginMs: flags.margin };
    appendFileSync(batchesFile, `${JSON.stringify(batch)}\n`);
    batches.push(batch);
    console.error(
      `batch ${number}: ${Object.values(mixture).join(' ')}: ${counts.games} games, ` +
        `exceptions ${JSON.stringify(counts.exceptions)}, late machine ${counts.late.length}, ${batch.seconds} s`,
    );
  }
}
printSummary(batches);
