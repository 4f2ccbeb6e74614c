#!/usr/bin/env node
// Looks for leaks: one engine process works while the script records its memory, threads and open files at regular times. It
// fails if they grow after the first third of the run, or if there were too few games to tell.
// `--session=bot`: games of up to 120 plies against itself, with ponder and stop. The clock never runs down: each move gets
// a second for 40 moves, plus 20 ms a move. `--session=analysis`: one position, `go infinite`, from beginning to end.
// The default evaluation cache is small, because a large one that fills up looks like a leak.
import { spawn } from 'node:child_process';
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

/** Two for each third of the run. */
const FEWEST_GAMES = 6;
const ANALYSED = 'position fen r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P4/2PBPN2/PP1N1PPP/R1BQ1RK1 w - - 0 9';

const flags = yargs(hideBin(process.argv))
  .usage(
    'node scripts/lab/soak.mjs [minutes]\n\nLets one engine process play or analyse for some minutes and records its memory (Linux only).',
  )
  .command('$0 [minutes]', false, (command) => command.positional('minutes', { type: 'number', default: 30 }))
  .check(({ minutes }) => minutes > 0 || 'minutes must be above 0')
  .option('engine', {
    type: 'string',
    default: 'node dist/cli/main.js --threads=1 --nncache=20000',
    describe: 'Command line of the engine; blanks separate the words',
  })
  .option('session', { choices: ['bot', 'analysis'], default: 'bot', describe: 'What the engine does' })
  .option('every', { type: 'number', default: 5, describe: 'Seconds between two samples' })
  .option('samples', { type: 'string', describe: 'File for the samples, one JSON object a line' })
  .version(false)
  .strict()
  .parseSync();
const { minutes } = flags;
const [command, ...args] = flags.engine.split(' ');
const engine = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = createInterface({ input: engine.stdout })[Symbol.asyncIterator]();

const send = (line) => engine.stdin.write(`${line}\n`);
async function waitFor(prefix) {
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The engine ended before ${prefix}`);
    if (/^error|^info string (?:Cannot|The search )|Internal error|evaluated any more/.test(value))
      throw new Error(value);
    if (value.startsWith(prefix)) return value;
  }
}

const startedAt = Date.now();
const readSeconds = () => Math.round((Date.now() - startedAt) / 1000);
const samples = [];
let games = 0;
let plies = 0;
/** The last `nodes` and `nps` that the engine reported. */
let report = {};

function sample() {
  const status = readFileSync(`/proc/${engine.pid}/status`, 'utf8');
  const read = (key) => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]);
  const files = readdirSync(`/proc/${engine.pid}/fd`).length;
  const one = { seconds: readSeconds(), memoryMb: Math.round(read('VmRSS') / 1024), threads: read('Threads'), files };
  samples.push(one);
  const work = flags.session === 'bot' ? { games, plies } : report;
  if (flags.samples !== undefined) appendFileSync(flags.samples, `${JSON.stringify({ ...one, ...work })}\n`);
  console.error(JSON.stringify({ ...one, ...work }));
}

async function playGame() {
  const moves = [];
  send('ucinewgame');
  while (moves.length < 120) {
    send(`position startpos${moves.length > 0 ? ` moves ${moves.join(' ')}` : ''}`);
    send('go wtime 1000 btime 1000 winc 20 binc 20 movestogo 40');
    const [, move, , ponder] = (await waitFor('bestmove')).split(' ');
    if (move === '(none)') break;
    moves.push(move);
    // As for a bot: the engine ponders, then hears that the opponent played another move.
    if (ponder === undefined || moves.length % 8 !== 0) continue;
    send(`position startpos moves ${moves.join(' ')} ${ponder}`);
    send('go ponder wtime 1000 btime 1000');
    send(moves.length % 16 === 0 ? 'ponderhit' : 'stop');
    await waitFor('bestmove');
  }
  return moves.length;
}

async function analyse() {
  send('ucinewgame');
  send(ANALYSED);
  send('go infinite');
  void sleep(minutes * 60_000).then(() => send('stop'));
  for (;;) {
    const line = await waitFor('');
    const [, nodes, nps] = / nodes (\d+).* nps (\d+)/.exec(line) ?? [];
    if (nodes !== undefined) report = { nodes: Number(nodes), nps: Number(nps) };
    if (line.startsWith('bestmove')) return;
  }
}

send('uci');
await waitFor('uciok');
if (flags.samples !== undefined) writeFileSync(flags.samples, '');
const timer = setInterval(sample, 1000 * flags.every);
if (flags.session === 'analysis') await analyse();
else
  while (Date.now() - startedAt < minutes * 60_000) {
    plies += await playGame();
    games++;
  }
clearInterval(timer);
sample();
send('quit');
if (flags.session === 'bot' && games < FEWEST_GAMES) {
  console.error(`${games} games in ${minutes} minutes are too few to tell: at least ${FEWEST_GAMES} are needed`);
  process.exit(1);
}

const settled = samples.slice(Math.floor(samples.length / 3));
const half = Math.floor(settled.length / 2);
const peak = (part, key) => Math.max(...part.map((one) => one[key]));
const result = flags.session === 'bot' ? { games, plies, minutes } : { ...report, minutes };
let isFlat = true;
for (const [key, allowance] of [
  ['memoryMb', 1.05],
  ['threads', 1],
  ['files', 1],
]) {
  const before = peak(settled.slice(0, half), key);
  const after = peak(settled.slice(half), key);
  result[key] = { before, after };
  if (after > before * allowance) isFlat = false;
}
console.log(JSON.stringify({ ...result, isFlat }));
process.exitCode = isFlat ? 0 : 1;
