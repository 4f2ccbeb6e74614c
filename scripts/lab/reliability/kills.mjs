#!/usr/bin/env node
// Kills long-running commands with SIGKILL at random moments, starts them again, and compares their output with that of an
// undisturbed run: every game must be there exactly once. Each command is killed until it has had its share of --kills, and
// then runs to its end. If it ends earlier, the next round begins with another seed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const flags = yargs(hideBin(process.argv))
  .usage(
    'node scripts/lab/reliability/kills.mjs [command..]\n\nKills commands at random moments and checks their output.',
  )
  .option('kills', { type: 'number', default: 20, describe: 'Kills for each command' })
  .option('engine', { type: 'string', default: 'dist/cli/main.js', describe: 'The main.js of a built Sardonyx' })
  .option('opponent', { type: 'string', default: 'stockfish', describe: 'The engine that labels' })
  .option('out', { type: 'string', default: 'runs/kills', describe: 'Scratch folder; emptied' })
  .option('seed', { type: 'number', default: 1, describe: 'Moments of the kills and seeds of the games' })
  .version(false)
  .strict(false)
  .parseSync();
const program = resolve(flags.engine);
const root = resolve('.');

const digest = (data) => createHash('sha256').update(data).digest('hex').slice(0, 16);
const listFiles = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort();
const readLines = (file) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
const UNEQUAL_FIELDS = /^(seconds|ms|time|pgnBytes|date|started|elapsedMs|durationMs|origin)$/;
/** A game's or header's line without the fields that depend on time or on the folder. */
const withoutTimes = (line) =>
  JSON.stringify(JSON.parse(line), (name, value) => (UNEQUAL_FIELDS.test(name) ? undefined : value));

const countPgnGames = (folder) =>
  readLines(join(folder, 'games.pgn')).filter((line) => line.startsWith('[Result ')).length;

/**
 * name → args: the command that makes `folder`; collect: what a finished folder holds, as sorted lines that are equal
 * for equal seeds.
 */
const COMMANDS = {
  match: {
    args: (folder, seed) => [
      ...[program, 'match', '--backend=hash', '--threads=1', '--nncache=0', '--concurrency=2', '--rating-interval=0'],
      ...[
        '--engine=models/tiny-test.onnx',
        '--engine=random',
        '--nodes=60',
        '--games=60',
        `--seed=${seed}`,
        '--max-plies=120',
      ],
      ...[`--results=${join(folder, 'results.jsonl')}`, `--pgnout=${join(folder, 'games.pgn')}`],
    ],
    collect: (folder) => readLines(join(folder, 'results.jsonl')).map(withoutTimes).sort(),
    also: (folder) => `${countPgnGames(folder)} PGN games`,
  },
  selfplay: {
    args: (folder, seed) => [
      ...[program, 'selfplay', '--backend=hash', '--threads=1', '--nncache=0', '--training', '--games=200'],
      ...['--visits=40', '--concurrency=8', '--max-plies=80', `--seed=${seed}`, `--out=${folder}`],
      `--pgnout=${join(folder, 'games.pgn')}`,
    ],
    collect: (folder) => readLines(join(folder, 'games.jsonl')).map(withoutTimes).sort(),
    also: (folder) =>
      listFiles(folder)
        .filter((file) => file.endsWith('.gz'))
        .map((file) => digest(gunzipSync(readFileSync(file))))
        .concat(`${countPgnGames(folder)} PGN games`)
        .join(' '),
  },
  label: {
    args: (folder, seed) => [
      ...[program, 'label', `--engine=${flags.opponent}`, `--out=${folder}`, '--games=60', '--nodes=300'],
      ...['--multipv=2', '--max-plies=60', '--plies-per-file=600', '--concurrency=2', `--seed=${seed}`],
    ],
    collect: (folder) =>
      listFiles(folder)
        .filter((file) => /\.jsonl\.gz$/.test(file))
        .flatMap((file) => gunzipSync(readFileSync(file)).toString('utf8').split('\n'))
        .filter((line) => line !== '')
        .map((line) => digest(withoutTimes(line)))
        .sort(),
  },
  shards: {
    args: (folder) => [program, 'shards', join(resolve(flags.out), 'games.jsonl.gz'), `--out=${folder}`, '--threads=1'],
    collect: (folder) =>
      listFiles(folder)
        .filter((file) => file.endsWith('.arrow'))
        .map((file) => digest(readFileSync(file))),
  },
};

/** A linear congruential generator: equal seeds kill at equal moments. */
let state = flags.seed >>> 0;
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 4294967296;
}

/** @returns seconds that it ran; `code` null when it was killed */
function run(args, killAfterMs) {
  return new Promise((done) => {
    const started = Date.now();
    const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'pipe'], detached: true });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(-4000);
    });
    // The whole process group, as when a machine loses power.
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => process.kill(-child.pid, 'SIGKILL'), killAfterMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      done({ code, stderr, ms: Date.now() - started });
    });
  });
}

async function runToEnd(args) {
  const end = await run(args);
  if (end.code !== 0) throw new Error(`${args.slice(1).join(' ')} ended with ${end.code}: ${end.stderr}`);
  return end;
}

async function testCommand(name) {
  const { args, collect, also } = COMMANDS[name];
  const total = { command: name, kills: 0, rounds: 0, different: 0, items: 0 };
  for (let seed = flags.seed; total.kills < flags.kills; seed++) {
    const calm = join(resolve(flags.out), `${name}-calm`);
    const killed = join(resolve(flags.out), `${name}-killed`);
    for (const folder of [calm, killed]) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder, { recursive: true });
    }
    const { ms } = await runToEnd(args(calm, seed));
    for (let inRound = 0; inRound < 12 && total.kills < flags.kills; ) {
      const end = await run(args(killed, seed), 100 + random() * ms * 0.6);
      if (end.code !== null) {
        if (end.code !== 0) throw new Error(`${name} did not go on after a kill: ${end.stderr}`);
        break;
      }
      inRound++;
      total.kills++;
    }
    await runToEnd(args(killed, seed));
    const [expected, found] = [collect(calm), collect(killed)];
    total.rounds++;
    total.items += expected.length;
    const isSame = JSON.stringify(expected) === JSON.stringify(found) && also?.(calm) === also?.(killed);
    if (!isSame) {
      total.different++;
      console.error(
        `${name}, seed ${seed}: ${expected.length} items undisturbed, ${found.length} (${new Set(found).size} different) after ` +
          `kills; ${also?.(calm) ?? ''} / ${also?.(killed) ?? ''}; kept in ${flags.out}`,
      );
      break;
    }
    console.error(`${name}: ${total.kills} kills, ${total.rounds} rounds, all equal`);
  }
  return total;
}

rmSync(flags.out, { recursive: true, force: true });
mkdirSync(flags.out, { recursive: true });
const names = flags._.length > 0 ? flags._.map(String) : Object.keys(COMMANDS);
if (names.includes('shards')) {
  const source = join(flags.out, 'source');
  await runToEnd([...COMMANDS.label.args(source, flags.seed)]);
  const first = listFiles(source).find((file) => file.endsWith('.jsonl.gz'));
  if (first === undefined || !existsSync(first)) throw new Error('label made no file');
  copyFileSync(first, join(flags.out, 'games.jsonl.gz'));
}
const totals = [];
for (const name of names) totals.push(await testCommand(name));
console.log('| command | kills | rounds | games or files compared | rounds that differ |\n|---|---|---|---|---|');
for (const { command, kills, rounds, items, different } of totals)
  console.log(`| ${command} | ${kills} | ${rounds} | ${items} | ${different} |`);
process.exitCode = totals.some(({ different }) => different > 0) ? 1 : 0;
