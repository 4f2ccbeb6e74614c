#!/usr/bin/env node
// Reads a PGN file on one thread, moves checked, by our reader and by python-chess (pip install chess), and prints the table of
// docs/dev/benchmarks.md: CPU time and peak memory of both. With files of labelled games it first writes 100 MB of them as PGN, every
// third game with comments and evaluations. usage: node scripts/lab/compare/pgn-speed.mjs games.pgn [LABELS.jsonl.gz…]
import { spawnSync } from 'node:child_process';
import { closeSync, createReadStream, openSync, statSync, writeSync } from 'node:fs';
import { cpus } from 'node:os';
import { decodeText, readLines, unwrap } from '../../../dist/base/util/index.js';
import { createPgnTree, formatPgn, readPgn, readPgnGame } from '../../../dist/chess/pgn/index.js';
import { parseLabelledGame, readChunks } from '../../../dist/games/records/index.js';
import { resolveMoves } from '../../../dist/games/records/labelled-games.js';

const CORPUS_BYTES = 100e6;

const PYTHON = `
import chess.pgn, resource, sys
file, games = open(sys.argv[1]), 0
while chess.pgn.read_game(file) is not None: games += 1
usage = resource.getrusage(resource.RUSAGE_SELF)
print(games, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)
`;

const [path, ...labels] = process.argv.slice(2);
if (labels.length > 0) {
  await writeCorpus();
  // A process of its own, so that its memory is the reader's alone.
  process.exit(spawnSync(process.execPath, [process.argv[1], path], { stdio: 'inherit' }).status ?? 1);
}
async function writeCorpus() {
  const file = openSync(path, 'w');
  let bytes = 0;
  for (let game = 0; bytes < CORPUS_BYTES; ) {
    for (const label of labels) {
      for await (const { text } of readLines(decodeText(readChunks(label, () => undefined, 'labels')))) {
        const labelled = unwrap(parseLabelledGame(text));
        const { moves } = unwrap(resolveMoves(labelled, 0));
        const isAnnotated = game++ % 3 === 0;
        const played = moves.map((move, ply) => {
          const [[, score] = []] = labelled.plies[ply][1];
          return { move, comment: isAnnotated && score !== undefined ? `[%eval ${score / 100}] ply ${ply}` : '' };
        });
        const tags = [
          ['Event', 'Labels'],
          ['Site', '?'],
          ['Date', '????.??.??'],
          ['Round', `${game}`],
        ];
        for (const [name, value] of [
          ['White', 'a'],
          ['Black', 'b'],
          ['Result', '*'],
        ])
          tags.push([name, value]);
        const tree = createPgnTree({ tags, startFen: labelled.fen, isChess960: false, moves: played, comment: '' });
        bytes += writeSync(file, `${formatPgn(tree, { lineWidth: 80 })}\n`);
        if (bytes >= CORPUS_BYTES) break;
      }
      if (bytes >= CORPUS_BYTES) break;
    }
  }
  closeSync(file);
}

const megabytes = statSync(path).size / 1e6;

function report(name, games, seconds, peakMegabytes) {
  const rates = `${(megabytes / seconds).toFixed(1)} MB/s, ${Math.round(games / seconds)} games/s`;
  console.log(`| ${name} | ${seconds.toFixed(1)} s | ${rates} | ${Math.round(peakMegabytes)} MB |`);
}

let games = 0;
console.log(`${megabytes.toFixed(1)} MB, one thread, moves checked, ${cpus()[0].model}\n`);
console.log('| reader | CPU | rate | peak memory |\n|---|---|---|---|');
for await (const text of readPgn(decodeText(createReadStream(path)))) {
  readPgnGame(text);
  games++;
}
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
report('Sardonyx', games, (userCPUTime + systemCPUTime) / 1e6, maxRSS / 1000);
const python = spawnSync('python3', ['-c', PYTHON, path], { encoding: 'utf8' });
if (python.status === 0) report('python-chess', ...python.stdout.trim().split(' ').map(Number));
else console.error('python-chess is not installed');
