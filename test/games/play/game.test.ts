import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Chess } from 'chess.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { readPgnGame, splitPgn } from '#sardonyx/chess/pgn/index.js';
import { type Move, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import type { Opening } from '#sardonyx/games/openings/book.js';
import {
  adjudicate,
  findTablebaseEnd,
  NO_ADJUDICATION,
  openGameTables,
  parseDrawRule,
  parseResignRule,
} from '#sardonyx/games/play/adjudication.js';
import { Clock, formatTimeControl, parseTimeControl } from '#sardonyx/games/play/clock.js';
import { Game, type PlayedMove } from '#sardonyx/games/play/game.js';
import { createWin, describeEnd, findEndByLaws } from '#sardonyx/games/play/game-end.js';
import { formatGame } from '#sardonyx/games/play/game-pgn.js';
import { createWonTables, withTableFolder } from '../../support/table-folder.js';

const START: Opening = { fen: START_FEN, moves: [], origin: 'test' };

function playAll(game: Game, moves: string, score: number | null = null): void {
  for (const text of moves.split(' ')) {
    game.play({ move: unwrap(parseUciMove(game.position, text)), score, depth: 3, nodes: 9, timeMs: 12 });
  }
}

/** Scores of successive plies, each from its mover's view. */
function scored(...scores: (number | null)[]): PlayedMove[] {
  return scores.map((score) => ({ move: 1 as Move, score, depth: 0, nodes: 0, timeMs: 0 }));
}

test('a game ends by mate, with the right winner', () => {
  const game = new Game(START, false);
  playAll(game, 'f2f3 e7e5 g2g4');
  assert.equal(findEndByLaws(game.position), null);
  playAll(game, 'd8h4');
  assert.deepEqual(findEndByLaws(game.position), { result: '0-1', reason: 'checkmate' });
  assert.equal(describeEnd({ result: '0-1', reason: 'checkmate' }), 'Black mates');
  assert.equal(describeEnd(createWin(0, 'time')), 'Black loses on time');
});

test('book moves count for repetitions and are told to engines', () => {
  const moves = unwrap(readPgnGame(splitPgn('1. Nf3 Nf6 2. Ng1 Ng8')[0])).moves;
  const game = new Game({ ...START, moves }, false);
  playAll(game, 'g1f3 g8f6 f3g1');
  assert.equal(findEndByLaws(game.position), null);
  playAll(game, 'f6g8');
  assert.equal(findEndByLaws(game.position)?.reason, 'threefold');
  assert.equal(game.formatUciPosition(), `fen ${START_FEN} moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8`);
});

test('time controls are read and written', () => {
  assert.deepEqual(unwrap(parseTimeControl('40/1:30+0.5')), { movesPerPeriod: 40, periodMs: 90_000, incrementMs: 500 });
  assert.equal(formatTimeControl(unwrap(parseTimeControl('10+.1'))), '10+0.1');
  for (const wrong of ['', '0', '10s', '0/5', '5+']) assert.equal(parseTimeControl(wrong).ok, false, wrong);
});

test('a clock adds increments and periods, and its flag falls beyond the margin', () => {
  const clock = new Clock({ movesPerPeriod: 2, periodMs: 1000, incrementMs: 100 });
  assert.equal(clock.press(600, 0), true);
  assert.equal(clock.remainingMs, 500);
  assert.equal(clock.movesToGo, 1);
  assert.equal(clock.press(520, 50), true);
  assert.equal(clock.remainingMs, 1100);
  assert.equal(clock.movesToGo, 2);
  assert.equal(clock.press(1200, 50), false);
});

test('a player whose scores stay hopeless loses; two-sided, its opponent must agree', () => {
  const rules = { ...NO_ADJUDICATION, resign: { moveCount: 2, score: 500, isTwoSided: false } };
  assert.equal(adjudicate(rules, scored(10, -600, 20), 0, 0), null);
  assert.equal(adjudicate(rules, scored(-600, 100, -400), 0, 0), null);
  assert.deepEqual(adjudicate(rules, scored(-600, 100, -700), 0, 0), { result: '0-1', reason: 'adjudicated-win' });
  assert.deepEqual(adjudicate(rules, scored(-600, 100, -700), 1, 0)?.result, '1-0');
  assert.deepEqual(adjudicate(rules, scored(-600, 100, -700), 0, 1)?.result, '1-0');
  const strict = { ...NO_ADJUDICATION, resign: { moveCount: 2, score: 500, isTwoSided: true } };
  assert.equal(adjudicate(strict, scored(600, -600, 100, -700), 0, 0), null);
  assert.deepEqual(adjudicate(strict, scored(600, -600, 700, -700), 0, 0)?.result, '1-0');
});

test('quiet scores draw from the given move on, and a game has a longest length', () => {
  const draw = { moveNumber: 3, moveCount: 2, score: 10 };
  assert.equal(adjudicate({ ...NO_ADJUDICATION, draw }, scored(0, 5, -10, 10), 0, 0), null);
  assert.equal(adjudicate({ ...NO_ADJUDICATION, draw }, scored(0, 5, -10, 10), 2, 0)?.reason, 'adjudicated-draw');
  assert.equal(adjudicate({ ...NO_ADJUDICATION, draw }, scored(0, null, -10, 10), 2, 0), null);
  assert.equal(adjudicate({ ...NO_ADJUDICATION, maxPlies: 6 }, scored(0, 0, 0), 2, 0), null);
  assert.equal(adjudicate({ ...NO_ADJUDICATION, maxPlies: 6 }, scored(0, 0, 0, 0), 2, 0)?.reason, 'max-plies');
});

test('adjudication rules are read in the words of cutechess', () => {
  assert.deepEqual(unwrap(parseResignRule('movecount=4 score=700 twosided=true')), {
    moveCount: 4,
    score: 700,
    isTwoSided: true,
  });
  assert.deepEqual(unwrap(parseDrawRule('movenumber=30 score=5')), { moveNumber: 30, moveCount: 8, score: 5 });
  const wrong = parseResignRule('moves=4');
  assert.match(wrong.ok ? '' : wrong.error, /^--resign takes movecount=N score=N twosided=N, not "moves=4"$/);
});

test('PGN is read by chess.js with its moves, scores and tags', () => {
  const fen = '4k3/P7/8/8/8/8/8/4K3 b - - 5 40';
  const opening: Opening = { fen, moves: [], origin: 'test' };
  const game = new Game(opening, false);
  playAll(game, 'e8f7 a7a8q f7e7', -31_994);
  const format = (event: string, timeControls: [string, string] = ['10+0.1', '10+0.1']): string =>
    formatGame({
      event,
      date: '2026.01.02',
      round: '1.1',
      white: 'A',
      black: 'B',
      timeControls,
      chess960: false,
      opening,
      played: game.played,
      end: createWin(0, 'crash'),
    });
  const pgn = format('An event');
  const reader = new Chess();
  reader.loadPgn(pgn);
  assert.deepEqual(reader.history(), ['Kf7', 'a8=Q', 'Ke7']);
  assert.equal(reader.getHeaders().Termination, 'abandoned');
  assert.equal(reader.getHeaders().FEN, fen);
  assert.equal(reader.getHeaders().TimeControl, '10+0.1');
  assert.match(format('x', ['10+0.1', '1/2']), /\n\[WhiteTimeControl "10\+0\.1"\]\n\[BlackTimeControl "1\/2"\]\n\[Ply/);
  assert.match(pgn, /40\.\.\. Kf7 \{-M3\/3 0\.012s\} 41\. a8=Q/);
  assert.match(format('An "event"'), /^\[Event "An \\"event\\""\]/);
  assert.ok(pgn.split('\n').every((line) => line.length <= 80));
  assert.match(pgn, /\{-M3\/3\s0\.012s,\sBlack\sdisconnects\}\s1-0\n\n$/);
});

test('a game ends where tablebases know the result, right after a capture or pawn move', async () => {
  await withTableFolder(createWonTables('Q'), (folder) => {
    const tables = unwrap(openGameTables(folder, assert.fail));
    const endOf = (fen: string) => findTablebaseEnd(tables, unwrap(parseFen(fen)));
    assert.deepEqual(endOf('8/8/8/4k3/8/8/3QK3/8 w - - 0 70'), { result: '1-0', reason: 'tablebase' });
    assert.deepEqual(endOf('8/8/8/4k3/8/8/3QK3/8 b - - 0 70'), { result: '1-0', reason: 'tablebase' });
    assert.deepEqual(endOf('8/8/8/4K3/8/8/3qk3/8 w - - 0 70'), { result: '0-1', reason: 'tablebase' });
    assert.equal(endOf('8/8/8/4k3/8/8/3QK3/8 w - - 1 70'), null);
    assert.equal(endOf(START_FEN), null);
    tables?.close();
  });
  assert.equal(unwrap(openGameTables('', assert.fail)), null);
  assert.ok(!openGameTables('/no/such/folder', assert.fail).ok);
});
