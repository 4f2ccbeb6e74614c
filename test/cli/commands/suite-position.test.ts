import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import {
  isSolution,
  parsePuzzle,
  parseSuiteLine,
  readPuzzleColumns,
  type SuitePosition,
} from '#sardonyx/cli/commands/suite-position.js';
import { runCommand } from '../../support/run-command.js';

const BOARD = '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - -';

/** @param mate announced by the engine; 0 = none */
function solves(position: SuitePosition, text: string, mate = 0, mateBy: 'score' | 'move' = 'score'): boolean {
  const game = unwrap(parseFen(position.fen));
  const score = mate === 0 ? ({ kind: 'cp', value: 300 } as const) : ({ kind: 'mate', value: mate } as const);
  return isSolution(position, unwrap(parseUciMove(game, text)), { score, game, mateBy });
}

test('a line gives position, name and the moves that solve it', () => {
  const position = unwrap(parseSuiteLine(`${BOARD} bm Qg6 Nxf7+; id "WAC.001"; c0 "bm in a comment";`, 7));
  assert.equal(position.id, 'WAC.001');
  assert.equal(position.task, 'bm Qg6 Nxf7+');
  assert.equal(position.fen, `${BOARD} 0 1`);
  assert.deepEqual(
    position.best.map((move) => formatUciMove(move, false)),
    ['g3g6', 'e5f7'],
  );
  assert.ok(solves(position, 'g3g6'));
  assert.ok(!solves(position, 'g3g7'));
});

test('moves to avoid leave all others; counters and UCI moves are understood', () => {
  assert.equal(unwrap(parseSuiteLine(`${BOARD} bm 1. Qg6 1...Nxf7+;`, 7)).best.length, 2);
  const position = unwrap(parseSuiteLine(`${BOARD} 3 20 am g3g7;`, 7));
  assert.equal(position.id, 'line 7');
  assert.equal(position.fen, `${BOARD} 3 20`);
  assert.ok(!solves(position, 'g3g7'));
  assert.ok(solves(position, 'g3g6'));
});

const FOOLS_MATE = 'rnbqkbnr/ppppp2p/5p2/6p1/3PP3/8/PPP2PPP/RNBQKBNR w KQkq -';

test('check marks and glyphs apart from their move are no moves', () => {
  const position = unwrap(parseSuiteLine(`${FOOLS_MATE} bm Qh5 + Nf3 !? ; id "apart";`, 1));
  assert.deepEqual([position.best.length, position.id], [2, 'apart']);
  assert.equal(unwrap(parseSuiteLine(`${FOOLS_MATE} am Bd3 ? ; id "x";`, 1)).avoided.length, 1);
  assert.equal(unwrap(parseSuiteLine(`${FOOLS_MATE} bm Qh5# id "x";`, 1)).id, 'x');
  for (const task of ['bm Qh5†;', 'bm (Qh5);', 'bm Q\u200bh5 =;', 'bm 1. Qh5⨀;']) {
    assert.ok(solves(unwrap(parseSuiteLine(`${FOOLS_MATE} ${task}`, 1)), 'd1h5'), task);
  }
});

test('a mate of a length is solved by an announced mate that short, or by a move behind which it is proved', () => {
  for (const task of ['bm #1;', 'dm 1;', 'dm #1;', 'bm M1 id "m";', 'bm mate1;', 'bm +M1;', 'bm mate in 1;']) {
    const position = unwrap(parseSuiteLine(`${FOOLS_MATE} ${task}`, 1));
    assert.equal(position.mateIn, 1, task);
    assert.deepEqual(
      [solves(position, 'd1h5', 1), solves(position, 'd1h5', 2), solves(position, 'd1h5')],
      [true, false, false],
    );
    assert.deepEqual([solves(position, 'd1h5', 0, 'move'), solves(position, 'g1f3', 1, 'move')], [true, false]);
  }
  const mated = unwrap(parseSuiteLine('8/8/8/8/8/k7/7r/K7 w - - bm #-1;', 1));
  assert.deepEqual(
    [solves(mated, 'a1b1', -1), solves(mated, 'a1b1', -2), solves(mated, 'a1b1', 1)],
    [true, false, false],
  );
  // Where the suite names moves, these decide.
  const named = unwrap(parseSuiteLine(`${FOOLS_MATE} bm Qh5; dm 1;`, 1));
  assert.deepEqual([solves(named, 'd1h5'), solves(named, 'g1f3', 1)], [true, false]);
});

test('a line of lichess’s puzzles is the position after its first move, and the moves that solve it', () => {
  const header = 'PuzzleId,FEN,Moves,Rating,RatingDeviation,Popularity,NbPlays,Themes,GameUrl,OpeningTags';
  const line =
    '00008,r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2R1/PqP2bPP/7K b - - 0 24,f2g3 e6e7 b2b1 b3c1 b1c1 h6c1,1804,76,95,8404,crushing hangingPiece,https://lichess.org/787zsVup/black#48,';
  const columns = readPuzzleColumns(header) ?? [];
  assert.equal(columns.length, 10);
  const puzzle = unwrap(parsePuzzle(line, readPuzzleColumns(line) ?? []));
  assert.deepEqual(puzzle, unwrap(parsePuzzle(line, columns)));
  const marked = (text: string) =>
    text
      .split(',')
      .map((cell) => `"${cell}"`)
      .join(',');
  assert.deepEqual(unwrap(parsePuzzle(marked(line), readPuzzleColumns(marked(header)) ?? [])), puzzle);
  assert.equal(puzzle.fen, 'r6k/pp2r2p/4Rp1Q/3p4/8/1N1P2b1/PqP3PP/7K w - - 0 25');
  assert.deepEqual(
    [puzzle.id, puzzle.task, puzzle.rating, puzzle.themes],
    ['00008', 'bm Rxe7 Qb1+ Nc1 Qxc1+ Qxc1', 1804, ['crushing', 'hangingPiece']],
  );
  assert.ok(solves(puzzle, 'e6e7') && !solves(puzzle, 'h2g3'));
  assert.equal(readPuzzleColumns(`${FOOLS_MATE} bm Qh5;`), null);
  const short = parsePuzzle('a,8/8/8/8/8/8/8/K1k5 w - - 0 1,a1a2', columns);
  assert.equal(short.ok ? '' : short.error, 'A puzzle needs two moves, the first of them the opponent’s');
});

test('what is no position of a suite says why', () => {
  for (const [line, reason] of [
    [`${BOARD} id "nothing to solve";`, /neither a bm nor an am nor a dm/],
    [`${BOARD} bm Qh8;`, /^bm Qh8: /],
    ['8/8/8/8 w - - bm Ka1;', /./],
  ] as const) {
    const parsed = parseSuiteLine(line, 1);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, reason);
  }
});

test('a file of games, a folder and links in a circle are refused by one sentence', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-suite-'));
  try {
    writeFileSync(join(folder, 'games.epd'), '[Event "x"]\n\n1. e4 *\n');
    writeFileSync(join(folder, 'bad.epd'), `${FOOLS_MATE} bm Qh9;\n`.repeat(1001));
    writeFileSync(join(folder, 'bad.pgn'), '[Event "x"]\n\n1. Sf3 *\n\n'.repeat(1001));
    symlinkSync('circle.epd', join(folder, 'circle.epd'));
    const rows: [command: string[], sentence: RegExp][] = [
      [
        ['suite', 'games.epd'],
        /^games\.epd cannot be read: it holds games, and a suite is a list of positions \(EPD\)\n$/,
      ],
      [
        ['suite', 'bad.epd'],
        /^bad\.epd cannot be read: almost none of its lines can be read \(line 1: bm Qh9: [^;]*; line 2: [^;]*; line 3: [^;]*\)\n$/,
      ],
      [
        ['analyse', 'bad.pgn'],
        /\nbad\.pgn cannot be read: almost none of its games can be read \(line 3, move 1\.Sf3: [^;]*; line 7, [^;]*; line 11, [^;]*\)\n$/,
      ],
      [['suite', '.'], /^\. cannot be read: it is a folder\n$/],
      [['suite', 'circle.epd'], /^circle\.epd cannot be read: its links lead in a circle\n$/],
      [
        ['analyse', 'circle.epd'],
        /^"circle\.epd" is neither a FEN nor a file that can be read: its links lead in a circle\n$/,
      ],
    ];
    for (const [command, sentence] of rows) {
      const { status, stderr } = await runCommand(command, { cwd: folder });
      assert.equal(status, 1);
      assert.match(stderr, sentence);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
