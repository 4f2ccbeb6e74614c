import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, listLegalMoves, Position, parseFen } from '#sardonyx/chess/rules/index.js';
import { judgeMove } from '#sardonyx/games/play/judge-move.js';

const FILES = 'abcdefgh';

test('both implementations of the rules call the same moves legal, in random games', () => {
  const prng = createPrng(7);
  const square = (): string => FILES[prng.nextBelow(8)] + String(1 + prng.nextBelow(8));
  for (let game = 0; game < 6; game++) {
    const position = new Position();
    for (let ply = 0; ply < 80; ply++) {
      const legal = listLegalMoves(position);
      if (legal.length === 0) break;
      const move = legal[prng.nextBelow(legal.length)];
      assert.equal(unwrap(judgeMove(position, formatUciMove(move, false), false)), move);
      const texts = Array.from({ length: 3 }, () => square() + square() + ['', '', 'q', 'n'][prng.nextBelow(4)]);
      // judgeMove throws when the two differ.
      for (const text of [...texts, '0000', '(none)', 'e1h1', 'e8a8']) judgeMove(position, text, false);
      position.makeMove(move);
    }
  }
});

test('castling is judged in both spellings, a promotion only with its piece', () => {
  const castling = unwrap(parseFen('4k3/P7/8/8/8/8/8/4K2R w K - 0 1'));
  assert.equal(unwrap(judgeMove(castling, 'e1g1', false)), unwrap(judgeMove(castling, 'e1h1', false)));
  assert.ok(judgeMove(castling, 'a7a8r', false).ok);
  for (const wrong of ['a7a8', 'a7a8k', 'e1f1q', 'e8e7']) {
    const judged = judgeMove(castling, wrong, false);
    assert.match(judged.ok ? '' : judged.error, new RegExp(`^${wrong} is illegal in `));
  }
});

test('our rules judge alone in Chess960', () => {
  const position = unwrap(parseFen('1k6/8/8/8/8/8/PPP5/RK6 w A - 0 1'));
  assert.ok(judgeMove(position, 'b1a1', true).ok);
});
