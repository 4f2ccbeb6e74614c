/** How limited strength mates a bare king. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, type Prng, unwrap } from '#sardonyx/base/util/index.js';
import { computeOutcome, formatUciMove, listLegalMoves, type Position, parseFen } from '#sardonyx/chess/rules/index.js';
import { Tablebases } from '#sardonyx/chess/syzygy/index.js';
import { listMopUpMoves } from '#sardonyx/engine/core/mop-up.js';
import { findShared } from '../../support/shared-folder.js';

const list = (fen: string): string[] | null =>
  listMopUpMoves(unwrap(parseFen(fen)))?.map((move) => formatUciMove(move, false)) ?? null;

test('a queen or rook against a bare king has moves that make progress; other positions have none', () => {
  assert.deepEqual(list('7k/8/5K2/8/8/8/8/6Q1 w - - 0 1'), ['g1g7']);
  assert.deepEqual(list('7K/8/5k2/8/8/8/8/6r1 b - - 0 1')?.length, 1);
  for (const fen of [
    '7k/8/5K2/8/8/8/7p/6Q1 w - - 0 1',
    '7k/8/5K2/8/8/8/8/6B1 w - - 0 1',
    '7k/8/5KP1/8/8/8/8/8 w - - 0 1',
    '7k/8/5K2/8/8/8/8/6Q1 b - - 0 1',
    'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  ])
    assert.equal(list(fen), null, fen);
});

test('neither a stalemate nor a piece is given away, and no position is repeated', () => {
  assert.ok(list('k7/8/1K6/8/8/8/8/2Q5 w - - 0 1')?.every((move) => ['c1c8', 'c1a1', 'c1a3'].includes(move)));
  assert.ok(!list('8/8/8/8/8/2k5/8/1R5K w - - 0 1')?.includes('b1b2'));
  const position = unwrap(parseFen('8/8/8/3k4/8/8/8/R3K3 w - - 0 1'));
  for (const text of ['a1a2', 'd5e5', 'a2a1', 'e5d5'])
    position.makeMove(listLegalMoves(position).find((move) => formatUciMove(move, false) === text) ?? assert.fail());
  assert.ok(!listMopUpMoves(position)?.some((move) => formatUciMove(move, false) === 'a1a2'));
});

/** Plays on, White with any of the moves. @returns the outcome */
function play(position: Position, random: Prng, defend: (position: Position) => number) {
  while (computeOutcome(position) === 'ongoing') {
    const moves = listMopUpMoves(position);
    position.makeMove(
      (moves === null ? defend(position) : moves[Math.floor(random.nextFloat() * moves.length)]) as never,
    );
  }
  return computeOutcome(position);
}

function drawPosition(piece: string, random: Prng): Position {
  for (;;) {
    const squares = new Array(64).fill('1');
    for (const man of ['K', 'k', piece]) squares[Math.floor(64 * random.nextFloat())] = man;
    const ranks = Array.from({ length: 8 }, (_, rank) => squares.slice(8 * rank, 8 * rank + 8).join(''));
    const position = parseFen(`${ranks.join('/')} w - - 0 1`);
    if (position.ok && listMopUpMoves(position.value) !== null && computeOutcome(position.value) === 'ongoing')
      return position.value;
  }
}

const tables = findShared('syzygy');

test('a queen and a rook mate within fifty moves, against best defence', { skip: tables.skip }, (t) => {
  const random = createPrng(3);
  const tablebases = new Tablebases(tables.path, assert.fail);
  t.after(() => tablebases.close());
  const defend = (position: Position): number => {
    const worth = (move: number): number => {
      const dtz = tablebases.probeDtzOfMove(position, move);
      return dtz < 0 ? -dtz : 1000;
    };
    return listLegalMoves(position).reduce((best, move) => (worth(move) > worth(best) ? move : best));
  };
  for (let game = 0; game < 20; game++) {
    for (const piece of 'QR') {
      const start = drawPosition(piece, random);
      if (tablebases.probeWdl(start) === 2)
        assert.equal(play(start, random, defend), 'checkmate', `game ${game}, ${piece}`);
    }
  }
});
