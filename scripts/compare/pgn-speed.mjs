#!/usr/bin/env node
// Reads a PGN file on one thread, moves checked, by our reader and by python-chess (pip install chess), and prints CPU time and
// peak memory of both. usage: node scripts/compare/pgn-speed.mjs games.pgn
import { spawnSync } from 'node:child_process';
import { createReadStream, statSync } from 'node:fs';
import { readPgn, readPgnGame } from '../../dist/pgn/index.js';
import { decodeText } from '../../dist/util/index.js';

const PYTHON = `
import chess.pgn, resource, sys
file, games = open(sys.argv[1]), 0
while chess.pgn.read_game(file) is not None: games += 1
usage = resource.getrusage(resource.RUSAGE_SELF)
print(games, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)
`;

const [path] = process.argv.slice(2);
const megabytes = statSync(path).size / 1e6;

function report(name, games, seconds, peakMegabytes) {
  const rates = `${(megabytes / seconds).toFixed(2)} MB/s, ${Math.round(games / seconds)} games/s`;
  console.log(
    `${name}: ${games} games, ${seconds.toFixed(1)} s of CPU, ${rates}, peak ${Math.round(peakMegabytes)} MB`,
  );
}

let games = 0;
for await (const text of readPgn(decodeText(createReadStream(path)))) {
  readPgnGame(text);
  games++;
}
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
report('Sardonyx', games, (userCPUTime + systemCPUTime) / 1e6, maxRSS / 1000);
const python = spawnSync('python3', ['-c', PYTHON, path], { encoding: 'utf8' });
if (python.status === 0) report('python-chess', ...python.stdout.trim().split(' ').map(Number));
else console.error('python-chess is not installed');
