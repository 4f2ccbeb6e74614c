import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { describeJudgement, GameReview } from '#sardonyx/board/game/game-review.js';
import { listJudgements } from '#sardonyx/board/game/move-tree.js';
import { exportPgn, parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { formatTree } from '#sardonyx/board/game/move-tree-text.js';
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
  const pgn = formatTree(review.tree);
  assert.match(pgn, /2\. Qh5 \{ \[%eval 0\.20\] bold \}/);
  assert.match(
    pgn.replace(/\s+/g, ' '),
    /Ke7 \$4 \{ \[%eval 5\.00\] Blunder\. Nc6 was best\. \} \(2\.\.\. Nc6 3\. Bc4\)/,
  );
  review.annotate();
  assert.equal(formatTree(review.tree), pgn);
  // Another review says something else of the same move.
  review.add(3, think(480, 'g8f6 h5e5'));
  review.annotate();
  assert.equal(
    formatTree(review.tree),
    pgn.replace('Nc6 was', 'Nf6 was').replace('Nc6\n3. Bc4', 'Nf6\n3. Qxe5+').replace('Nc6 3. Bc4', 'Nf6 3. Qxe5+'),
  );
  const [white, black] = [review.summarise('white'), review.summarise('black')];
  assert.deepEqual([white.blunders, black.blunders, black.mistakes], [0, 1, 0]);
  assert.ok((white.accuracy ?? 0) > 95 && (black.accuracy ?? 100) < 60, `${white.accuracy} ${black.accuracy}`);
});

test('a review is beside the game: an export has its evaluations, the game has not', () => {
  const review = createReview(
    '1. e4 $1 { [%clk 0:01:00] [%eval 0.9] good } (1. d4 { [%eval 0.1] }) e5 {+0.31/12 0.5s} *',
  );
  for (const index of [0, 1, 2]) review.add(index, think(550, ''));
  const text = formatTree(review.tree);
  const judgements = listJudgements(review.tree);
  const all = { comments: true, variations: true, evaluations: true, clocks: true };
  const save = (parts: Partial<typeof all>, judged = judgements) =>
    exportPgn(text, judged, { ...all, ...parts })
      .split('\n\n')[1]
      .replace(/\s+/g, ' ')
      .trim();
  const clock = '[%clk 0:01:00]';
  assert.equal(exportPgn(text, [], all), text);
  assert.equal(
    save({}),
    `1. e4 $1 { [%eval -0.50] ${clock} good } (1. d4 { [%eval 0.1] }) 1... e5 { [%eval 0.50] +0.31/12 0.5s } *`,
  );
  assert.equal(save({ evaluations: false }), `1. e4 $1 { ${clock} good } (1. d4) 1... e5 *`);
  assert.equal(
    save({ comments: false, clocks: false, variations: false }, []),
    '1. e4 $1 { [%eval 0.9] } 1... e5 { +0.31/12 0.5s } *',
  );
  assert.equal(
    save({ clocks: false, variations: false }, []),
    '1. e4 $1 { [%eval 0.9] good } 1... e5 { +0.31/12 0.5s } *',
  );
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
