import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { describeJudgement, GameReview } from '#sardonyx/board/game/game-review.js';
import { parseTree } from '#sardonyx/board/game/move-tree-text.js';
import type { ThoughtReply } from '#sardonyx/board/protocol/replies.js';
import { computeMoveAccuracy } from '#sardonyx/chess/pgn/remarks.js';

function createReview(pgn: string): GameReview {
  return new GameReview(unwrap(parseTree(pgn)).tree);
}

/** @param win per mille for the player to move, the rest lost */
function think(win: number, pv: string): ThoughtReply {
  const moves = pv.split(' ').filter((move) => move !== '');
  const line = {
    score: { kind: 'cp' as const, value: win - 500 },
    wdl: { win, draw: 0, loss: 1000 - win },
    pv: moves,
  };
  const state = {
    timeMs: 1,
    nodes: 1,
    nodesPerSecond: null,
    depth: 1,
    seldepth: 1,
    tablebaseHits: 0,
    lines: [line],
    moves: [],
  };
  return { best: moves[0] ?? null, state };
}

test('a blunder gets its glyph, its words and the better line; the rest is left alone', () => {
  const review = createReview('1. e4 e5 2. Qh5 { bold } Ke7 3. Qxe5# 1-0');
  const thoughts = [
    think(550, 'e2e4'),
    think(450, 'e7e5'),
    think(550, 'g1f3'),
    think(480, 'b8c6 f1c4'),
    think(1000, 'h5e5'),
    think(0, ''),
  ];
  for (const [index, thought] of thoughts.entries()) review.add(index, thought);
  review.annotate();
  const [, , , qh5, ke7] = review.nodes;
  assert.deepEqual([qh5.nags, ke7.nags], [[], [4]]);
  assert.equal(ke7.comment, 'Blunder. Nc6 was best.');
  assert.deepEqual(
    qh5.children.map(({ san }) => san),
    ['Ke7', 'Nc6'],
  );
  assert.equal(describeJudgement(ke7), '+5.00');
  const pgn = review.formatPgn();
  assert.match(pgn, /2\. Qh5 \{ \[%eval 0\.20\] bold \}/);
  assert.match(
    pgn.replace(/\s+/g, ' '),
    /Ke7 \$4 \{ \[%eval 5\.00\] Blunder\. Nc6 was best\. \} \(2\.\.\. Nc6 3\. Bc4\)/,
  );
  review.annotate();
  assert.equal(review.formatPgn(), pgn);
  const [white, black] = [review.summarise('white'), review.summarise('black')];
  assert.deepEqual([white.blunders, black.blunders, black.mistakes], [0, 1, 0]);
  assert.ok((white.accuracy ?? 0) > 95 && (black.accuracy ?? 100) < 60, `${white.accuracy} ${black.accuracy}`);
});

test('an unfinished review knows what it has', () => {
  const review = createReview('1. e4 e5 2. Nf3 *');
  review.add(0, think(550, 'e2e4'));
  assert.deepEqual(review.whitePoints, [0.55, null, null, null]);
  review.annotate();
  assert.equal(review.summarise('white').accuracy, null);
});

test('accuracy falls with the loss of expected points, from 100 to 0', () => {
  assert.ok(Math.abs(computeMoveAccuracy(0) - 100) < 0.01);
  assert.ok(computeMoveAccuracy(-5) <= 100);
  assert.ok(Math.abs(computeMoveAccuracy(10) - 63.6) < 0.1);
  assert.equal(computeMoveAccuracy(100), 0);
});
