import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AnalysedPosition, createComments, formatEvaluation } from '#sardonyx/cli/analysis.js';
import { formatGame, formatSanLine, parseGames } from '#sardonyx/cli/pgn-game.js';

const TWO_GAMES = `[Event "A"]
[White "X"]
[Black "Y"]
[Result "1-0"]

1. e4 {best by test} e5 2. Qh5 (2. Nf3 Nc6) Nc6 3. Bc4 Nf6 4. Qxf7# 1-0

[Event "B"]
[SetUp "1"]
[FEN "4k3/8/8/8/8/8/4P3/4K3 b - - 0 10"]
[Result "*"]

10... Kd7 11. e4 *
`;

test('a PGN file is split into games, with their starts', () => {
  const games = parseGames(TWO_GAMES);
  assert.equal(games.length, 2);
  assert.deepEqual(
    games[0].moves.map((move) => move.uci),
    ['e2e4', 'e7e5', 'd1h5', 'b8c6', 'f1c4', 'g8f6', 'h5f7'],
  );
  assert.equal(games[1].startFen, '4k3/8/8/8/8/8/4P3/4K3 b - - 0 10');
  assert.equal(games[1].headers.Event, 'B');
});

test('a game that cannot be read is named', () => {
  assert.throws(() => parseGames('[Event "A"]\n\n1. e4 e6 2. Ke3 *\n'), /Game 1 of the PGN cannot be read/);
});

test('an annotated game can be read again', () => {
  for (const game of parseGames(TWO_GAMES)) {
    const comments = game.moves.map((_, index) => ({ nag: index === 1 ? 6 : 0, text: `[%eval 0.${index}0]` }));
    const [again] = parseGames(formatGame(game, comments));
    assert.deepEqual(again.moves, game.moves);
    assert.equal(again.startFen, game.startFen);
    assert.equal(again.headers.Event, game.headers.Event);
  }
});

test('lines are turned into SAN, castling and promotion included', () => {
  assert.deepEqual(formatSanLine('r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1', ['e1g1', 'e8c8']), ['O-O', 'O-O-O']);
  assert.deepEqual(formatSanLine('1r2k3/P7/8/8/8/8/8/4K3 w - - 0 1', ['a7b8q', 'e8e7']), ['axb8=Q+', 'Ke7']);
  assert.deepEqual(formatSanLine('4k3/8/8/8/8/8/8/4K3 w - - 0 1', ['e1e2', 'a1a2']), ['Ke2']);
});

function createPosition(changes: Partial<AnalysedPosition>): AnalysedPosition {
  return {
    ply: 0,
    fen: '4k3/8/8/8/8/8/8/4K3 w - - 0 1',
    played: 'e1e2',
    playedSan: 'Ke2',
    best: 'e1d1',
    bestSan: 'Kd1',
    score: { kind: 'cp', value: 50 },
    wdl: [600, 300, 100],
    depth: 3,
    nodes: 100,
    lines: [{ score: { kind: 'cp', value: 50 }, wdl: [600, 300, 100], pv: ['e1d1'], pvSan: ['Kd1'] }],
    ...changes,
  };
}

test('comments tell the evaluation in White’s view and mark what was lost', () => {
  const black = '4k3/8/8/8/8/8/4K3/8 b - - 1 1';
  const fine = createPosition({ fen: black, score: { kind: 'cp', value: -45 }, wdl: [100, 310, 590] });
  assert.deepEqual(createComments([createPosition({}), fine]), [{ nag: 0, text: '[%eval 0.45]' }]);
  const blunder = createPosition({ fen: black, score: { kind: 'mate', value: 3 }, wdl: [1000, 0, 0] });
  assert.deepEqual(createComments([createPosition({}), blunder]), [{ nag: 4, text: '[%eval #-3] Kd1 was better' }]);
});

test('evaluations are pawns or mates', () => {
  assert.equal(formatEvaluation({ kind: 'cp', value: -7 }, false), '-0.07');
  assert.equal(formatEvaluation({ kind: 'cp', value: -7 }, true), '0.07');
  assert.equal(formatEvaluation({ kind: 'mate', value: 2 }, true), '#-2');
  assert.equal(formatEvaluation({ kind: 'mate', value: 0 }, false), '#-0');
  assert.equal(formatEvaluation({ kind: 'mate', value: 0 }, true), '#0');
});
