import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatMoveNumber } from '#sardonyx/board/game/board-moves.js';
import { type LinePart, layOutVariations } from '#sardonyx/board/game/move-lines.js';
import { parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { readCommentBefore } from '#sardonyx/board/game/move-tree-text.js';

function formatPart(part: LinePart): string {
  if (typeof part === 'string') return part;
  if ('comment' in part) return `{${part.isBefore ? readCommentBefore(part.comment) : part.comment.comment}}`;
  const { node, hasNumber } = part;
  return (hasNumber ? `${formatMoveNumber(node.gamePly - 1, node.gamePly % 2 === 0)} ` : '') + node.san;
}

/** The variations of the second move, each line with its depth. */
function layOut(pgn: string): string[] {
  const { root } = unwrap(parseTree(pgn)).tree;
  return layOutVariations(root.children[0]).map(
    ({ depth, parts, isComputer }) =>
      `${depth}${isComputer ? '*' : ''} ${parts.map(formatPart).join(' ').replace('( ', '(').replace(' )', ')')}`,
  );
}

test('a single short alternative stands in brackets; at other forks each move begins a line one step further in', () => {
  assert.deepEqual(
    layOut(`1. e4 e5 (1... Nf6 2. e5 (2. Nc3 d5) 2... Nd5 3. d4 (3. c4 Nb6 4. d4 (4. c5 Nd5) 4... d6) 3... d6)
      ({ worse } 1... c5 2. Nf3 d6 (2... Nc6) (2... e6) 3. d4) *`),
    [
      '1 1… Nf6 2. e5 (2. Nc3 d5) 2… Nd5',
      '2 3. d4 d6',
      '2 3. c4 Nb6 4. d4 (4. c5 Nd5) 4… d6',
      '1 {worse}',
      '1 1… c5 2. Nf3',
      '2 2… d6 3. d4',
      '2 2… Nc6',
      '2 2… e6',
    ],
  );
});

test('comments break the numbers; a better line of a review is known until somebody adds to it', () => {
  assert.deepEqual(layOut('1. e4 e5 (1... c5 {sharp} 2. Nf3 {and} 2... d6) *'), ['1 1… c5 {sharp} 2. Nf3 {and} 2… d6']);
  const blunder = '1. e4 f6 { Mistake. e5 was best. } (1... e5 2. Nf3';
  assert.deepEqual(layOut(`${blunder} Nc6) *`), ['1* 1… e5 2. Nf3 Nc6']);
  assert.deepEqual(layOut(`${blunder} {nice} Nc6) *`), ['1 1… e5 2. Nf3 {nice} 2… Nc6']);
});

test('a variation of very many forks is laid out in one pass', () => {
  const count = 3000;
  const round = ['Nf3', 'Nf6', 'Ng1', 'Ng8'];
  let pgn = '1. e4 e5 (1... Nc6';
  for (let ply = 2; ply < count; ply++) {
    const number = `${(ply >> 1) + 1}${ply % 2 === 0 ? '.' : '...'}`;
    pgn += ` ${number} ${round[(ply - 2) % 4]} (${number} ${ply % 2 === 0 ? 'h3' : 'h6'})`;
  }
  assert.equal(layOut(`${pgn}) *`).length, 1);
});
