import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GameIndex } from '#sardonyx/board/game/game-index.js';
import { formatFen, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/index.js';
import { unwrap } from '#sardonyx/util/index.js';

function createFen(...moves: string[]): string {
  const position = unwrap(parseFen(START_FEN));
  for (const move of moves) position.makeMove(unwrap(parseUciMove(position, move)));
  return formatFen(position);
}

test('games are counted by move and result, whatever the order of moves; a repetition counts once', () => {
  const index = new GameIndex();
  for (const game of [
    '1. e4 e5 2. Nf3 1-0',
    '1. Nf3 e5 2. e4 0-1',
    'nonsense',
    '[FEN "no position"]\n\n1. e4 *',
    '1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 1/2-1/2',
    '1. e4 e5 2. Ke2 Kxe2 *',
  ])
    index.add(game);
  const start = index.find(START_FEN);
  assert.deepEqual(start.total, { white: 1, draws: 1, black: 1, games: 4 });
  assert.deepEqual(
    start.moves.map(({ san, games }) => [san, games]),
    [
      ['e4', 2],
      ['Nf3', 2],
    ],
  );
  const transposed = index.find(createFen('e2e4', 'e7e5', 'g1f3'));
  assert.deepEqual(transposed, { moves: [], total: { white: 1, draws: 0, black: 1, games: 2 }, games: [1, 0] });
  assert.equal(index.find(createFen('d2d4')).total.games, 0);
});

test('many games need more rows than there were at first', () => {
  const index = new GameIndex();
  for (let game = 0; game < 20_000; game++) index.add('1. d4 1-0');
  assert.equal(index.find(createFen('d2d4')).total.games, 20_000);
});
