import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { requireMove } from '#sardonyx/board/game/board-moves.js';
import {
  describeControl,
  describeResult,
  type GameSettings,
  mergeArchives,
  PlayedGame,
} from '#sardonyx/board/game/played-game.js';
import { START_FEN } from '#sardonyx/chess/rules/index.js';

const SETTINGS: GameSettings = { user: 'white', elo: null, clock: null, thinkMs: 1000, startFen: START_FEN };
const CLOCK = { initialMs: 60_000, incrementMs: 2000 };
const DATE = new Date('2026-11-23T10:00:00Z');

function createGame(settings: Partial<GameSettings> = {}): PlayedGame {
  return unwrap(PlayedGame.create({ ...SETTINGS, ...settings }, DATE));
}

function play(game: PlayedGame, moves: string, nowMs = 0): void {
  for (const uci of moves.split(' ')) game.play(requireMove(game.position, uci), nowMs);
}

test('a game ends by mate, and its PGN says how', () => {
  const game = createGame();
  play(game, 'f2f3 e7e5 g2g4 d8h4');
  assert.deepEqual(game.result, { score: '0-1', reason: 'checkmate' });
  assert.equal(describeResult(game.result, 'white'), 'You lose by checkmate');
  const pgn = game.formatPgn('Sardonyx');
  assert.match(pgn, /\[White "You"\]\n\[Black "Sardonyx"\]\n\[Result "0-1"\]/);
  assert.match(pgn, /1\. f3 e5 2\. g4 Qh4# 0-1/);
  assert.equal(game.isUserTurn, false);
});

test('a position that occurs for the third time is a draw', () => {
  const game = createGame();
  play(game, 'g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8');
  assert.deepEqual(game.result, { score: '1/2-1/2', reason: 'threefold' });
});

test('clocks run for the player to move, with increments, and the flag falls', () => {
  const game = createGame({ clock: CLOCK });
  game.startClock(1000);
  assert.equal(game.getRemainingMs('white', 11_000), 50_000);
  assert.equal(game.getRemainingMs('black', 11_000), 60_000);
  play(game, 'e2e4', 11_000);
  assert.equal(game.getRemainingMs('white', 20_000), 52_000);
  assert.equal(game.getRemainingMs('black', 21_000), 50_000);
  game.checkClock(71_000);
  assert.deepEqual(game.result, { score: '1-0', reason: 'time' });
  assert.match(game.formatPgn('Sardonyx'), /1\. e4 \{ \[%clk 0:00:52\] \} 1-0/);
});

test('the engine takes a fifth of a second for a move, and less when its clock is short', () => {
  assert.equal(createGame().getLeastThinkingMs(0), 200);
  const game = createGame({ clock: CLOCK });
  game.startClock(0);
  assert.equal(game.getLeastThinkingMs(0), 200);
  assert.equal(game.getLeastThinkingMs(59_000), 20);
  assert.equal(game.getLeastThinkingMs(60_000), 0);
});

test('whose time is over draws against a bare king', () => {
  const game = createGame({ clock: CLOCK, startFen: '4k3/8/8/8/8/8/8/4K2R w K - 0 1' });
  game.startClock(0);
  game.checkClock(60_001);
  assert.deepEqual(game.result, { score: '1/2-1/2', reason: 'time' });
});

test('a move after the flag has fallen counts no more', () => {
  const game = createGame({ clock: CLOCK });
  game.startClock(0);
  play(game, 'e2e4', 70_000);
  assert.equal(game.end.depth, 0);
  assert.equal(game.result?.score, '0-1');
});

test('taking back goes to the user’s last move and gives the time back', () => {
  const game = createGame({ clock: CLOCK });
  game.startClock(0);
  play(game, 'e2e4', 5000);
  play(game, 'e7e5', 9000);
  play(game, 'g1f3', 12_000);
  game.takeBack(13_000);
  assert.equal(game.end.san, 'e5');
  assert.equal(game.getRemainingMs('white', 13_000), 57_000);
  game.takeBack(14_000);
  assert.equal(game.end.depth, 0);
  game.takeBack(15_000);
  assert.equal(game.end.depth, 0);
  const asBlack = createGame({ user: 'black' });
  play(asBlack, 'e2e4');
  asBlack.takeBack(0);
  assert.equal(asBlack.end.san, 'e4');
});

test('resigning and agreeing to a draw end the game once', () => {
  const game = createGame({ user: 'black' });
  game.resign('black');
  assert.deepEqual(game.result, { score: '1-0', reason: 'resignation' });
  game.agreeToDraw();
  assert.equal(game.result?.score, '1-0');
  assert.equal(describeResult({ score: '1/2-1/2', reason: 'agreement' }, 'black'), 'Draw by agreement');
});

test('a saved game goes on where it was; what cannot be read is refused', () => {
  const game = createGame({ clock: CLOCK, elo: 1500 });
  game.startClock(0);
  play(game, 'e2e4 e7e5', 3000);
  const copy = unwrap(PlayedGame.restore(JSON.parse(JSON.stringify(game.save()))));
  assert.deepEqual(copy.save(), game.save());
  assert.equal(copy.getRemainingMs('white', 99_000), 59_000);
  copy.startClock(100_000);
  assert.equal(copy.getRemainingMs('white', 101_000), 58_000);
  for (const saved of [null, {}, 'x', { ...game.save(), moves: ['e2e5'] }, { ...game.save(), clocks: [] }]) {
    assert.equal(PlayedGame.restore(saved).ok, false);
  }
});

test('Chess960 castles king takes rook', () => {
  const startFen = 'bqnrkbrn/pppppppp/8/8/8/8/PPPPPPPP/BQNRKBRN w GDgd - 0 1';
  const game = createGame({ startFen });
  assert.equal(game.tree.isChess960, true);
  play(game, 'f2f4 f7f5 e1g1'.replace('e1g1', 'g2g3'));
  assert.match(game.formatPgn('Sardonyx'), /\[Variant "Chess960"\]/);
});

test('time controls in words', () => {
  assert.equal(describeControl(null), 'No clock');
  assert.equal(describeControl({ initialMs: 180_000, incrementMs: 2000 }), '3:00 + 2 s');
});

test('a position in which the game is over is refused, each kind by its own sentence', () => {
  for (const [startFen, words] of [
    ['7k/5KQ1/8/8/8/8/8/8 b - - 0 1', /checkmate/],
    ['k7/1R6/1K6/8/8/8/8/8 b - - 0 1', /stalemate/],
    ['8/8/4k3/8/8/3BK3/8/8 w - - 0 1', /neither side can mate/],
    ['8/8/4k3/8/8/3QK3/8/8 w - - 100 80', /fifty moves/],
  ] as const) {
    const refused = PlayedGame.create({ ...SETTINGS, startFen }, DATE);
    assert.ok(!refused.ok && words.test(refused.error), startFen);
  }
});

test('after a loss on time the clock shows nothing left; it stands while the engine is away', () => {
  const game = createGame({ clock: CLOCK });
  game.startClock(0);
  game.pauseClock(10_000);
  assert.equal(game.getRemainingMs('white', 50_000), 50_000);
  game.startClock(60_000);
  game.checkClock(120_000);
  assert.deepEqual([game.result?.reason, game.getRemainingMs('white', 130_000)], ['time', 0]);
});

test('only moves of the user are taken back; a game that ends twice is kept once, two games of one second both', () => {
  const game = createGame({ user: 'black' });
  play(game, 'e2e4');
  assert.equal(game.canTakeBack, false);
  play(game, 'e7e5 g1f3');
  assert.equal(game.canTakeBack, true);
  game.resign('black');
  const kept = mergeArchives([game.formatPgn('Sardonyx')], ['[Date "2026.01.01"]\n\n1. d4 *']);
  game.takeBack(0);
  game.agreeToDraw();
  const again = mergeArchives([game.formatPgn('Sardonyx')], kept);
  assert.equal(again.length, 2);
  assert.match(again[0], /Result "1\/2-1\/2"/);
  const rematch = unwrap(PlayedGame.create(SETTINGS, new Date(DATE.getTime() + 999)));
  rematch.resign('white');
  assert.deepEqual(mergeArchives([rematch.formatPgn('Sardonyx')], again).slice(1), again);
  // Another tab has kept the game's last end; this one knows an earlier one, and one more.
  assert.deepEqual(mergeArchives(again, [kept[0], '1. c4 *']), [...again, '1. c4 *']);
});
