import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { formatUciMove, parseEpdLine, START_FEN } from '#sardonyx/chess/index.js';
import type { Opening } from '#sardonyx/selfplay/openings/book.js';
import { createOpeningSequence, openBook } from '#sardonyx/selfplay/openings/book.js';
import { unwrap } from '#sardonyx/util/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-openings-'));
after(() => rmSync(folder, { recursive: true }));

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  return path;
}

const listMoves = ({ moves }: Opening): string[] => moves.map((move) => formatUciMove(move, false));

const BOARD = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq';

const PGN = `[Event "A"]
[Result "1-0"]

1. e4 {the best [by test] (1. d4)} e5 (1... c5 2. Nf3 (2. Nc3)) 2. Nf3 $1 Nc6!? ; a remark
3. Bb5 1-0

[FEN "4k3/8/8/8/8/8/8/4K2R w K - 0 1"]

1.O-O Ke7 *
[Event "no moves but a result"]

1/2-1/2
`;

test('EPD lines give their counters, as fields or as operations', () => {
  assert.equal(unwrap(parseEpdLine(`${BOARD} -  `)), `${BOARD} - 0 1`);
  assert.equal(unwrap(parseEpdLine(`${BOARD} - 0 7`)), `${BOARD} - 0 7`);
  assert.equal(unwrap(parseEpdLine(`${BOARD} - bm e5; hmvc 3; fmvn 12; id "x";`)), `${BOARD} - 3 12`);
  assert.equal(parseEpdLine('rubbish').ok, false);
});

test('a PGN book gives each game’s moves without its comments and variations', () => {
  const book = unwrap(openBook(write('book.pgn', PGN)));
  assert.equal(book.size, 3);
  const first = unwrap(book.read(0));
  assert.equal(first.fen, START_FEN);
  assert.deepEqual(listMoves(first), ['e2e4', 'e7e5', 'g1f3', 'b8c6', 'f1b5']);
  assert.deepEqual(listMoves(unwrap(book.read(1))), ['e1g1', 'e8e7']);
  assert.deepEqual(unwrap(book.read(2)).moves, []);
});

test('a line of a PGN book can be cut', () => {
  const book = unwrap(openBook(write('cut.pgn', PGN), 2));
  assert.deepEqual(listMoves(unwrap(book.read(0))), ['e2e4', 'e7e5']);
});

test('a gzipped EPD book is read, and an error names its line', () => {
  const book = unwrap(openBook(write('book.epd.gz', `# a remark\n${BOARD} - 0 1\r\n\nrubbish\n`)));
  assert.equal(book.size, 2);
  assert.equal(unwrap(book.read(0)).origin, 'book.epd.gz, line 2');
  const damaged = book.read(1);
  assert.match(damaged.ok ? '' : damaged.error, /^book\.epd\.gz, line 4: /);
});

test('a missing book and an empty book are errors', () => {
  assert.equal(openBook(join(folder, 'none.epd')).ok, false);
  assert.equal(openBook(write('empty.epd', '\n\n')).ok, false);
});

test('the three orders of openings depend on the seed alone', () => {
  const list = (order: 'sequential' | 'shuffled' | 'random', seed: number): number[] => {
    const at = createOpeningSequence(50, order, seed);
    return Array.from({ length: 100 }, (_, n) => at(n));
  };
  assert.deepEqual(list('sequential', 1).slice(48, 52), [48, 49, 0, 1]);
  const shuffled = list('shuffled', 1);
  assert.deepEqual(list('shuffled', 1), shuffled);
  assert.notDeepEqual(list('shuffled', 2), shuffled);
  assert.equal(new Set(shuffled.slice(0, 50)).size, 50);
  assert.deepEqual(shuffled.slice(50), shuffled.slice(0, 50));
  assert.deepEqual(list('random', 3), list('random', 3));
  assert.ok(new Set(list('random', 3).slice(0, 50)).size < 50);
});

test('comments wrapped over lines do not split a game', () => {
  const text = '[Event "A"]\n\n1. e4 { so far so good\n[%clk 0:01:00] } e5 { again\n[%eval 0.3] } 2. Nf3 *\n';
  const book = unwrap(openBook(write('wrapped.pgn', text)));
  assert.equal(book.size, 1);
  assert.deepEqual(listMoves(unwrap(book.read(0))), ['e2e4', 'e7e5', 'g1f3']);
});

test('games without tags are told apart by their results, and a byte order mark is no move', () => {
  const book = unwrap(openBook(write('bare.pgn', '\ufeff1. e4 e5 *\r\n\r\n1. d4\r\nd5 1/2-1/2\r\n\r\n1. c4 c5\r\n')));
  const games = Array.from({ length: book.size }, (_, game) => listMoves(unwrap(book.read(game))));
  assert.deepEqual(games, [
    ['e2e4', 'e7e5'],
    ['d2d4', 'd7d5'],
    ['c2c4', 'c7c5'],
  ]);
});
