/** The moves under the pointer, in a line, the table or the tree: the board shows where they lead. */
import { computed, signal } from '@preact/signals';
import { formatFen } from '../../../chess/index.js';
import { requireMove } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import { study } from '../study/study.js';

const hovered = signal<{ readonly node: MoveNode; readonly moves: readonly string[] } | null>(null);

/** UCI moves from the position on the board; the board may have moved on since the pointer came. */
export const hoveredMoves = computed<readonly string[]>(() =>
  hovered.value?.node === study.node.value ? hovered.value.moves : [],
);

/** @param moves UCI, from the position on the board; empty when the pointer leaves */
export function hover(moves: readonly string[]): void {
  hovered.value = moves.length === 0 ? null : { node: study.node.value, moves };
}

/** Where the line leads; null for none and for a single move, which is shown as an arrow. */
export const previewFen = computed(() => {
  if (hoveredMoves.value.length < 2) return null;
  const position = study.position.value.clone();
  for (const uci of hoveredMoves.value) position.makeMove(requireMove(position, uci));
  return formatFen(position);
});

/** @param moves UCI, from the position on the board */
export function playMoves(moves: readonly string[]): void {
  hover([]);
  for (const uci of moves) study.play(requireMove(study.position.value, uci));
}
