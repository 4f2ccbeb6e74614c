/**
 * The players of the game on the board, as the strips above and below it name them: points, rating and the clock at this move.
 */

import { computed } from '@preact/signals';
import { readClock } from '../../game/move-tree-text.js';
import { splitPoints } from '../../game/page-text.js';
import type { PlayerNote } from '../board/board-panel.js';
import { study } from './study.js';

export const players = computed(() => {
  void study.version.value;
  const { headers } = study.tree.value;
  // The clock of whoever moved last is on that move, the other's on the move before.
  const { parent } = study.node.value;
  const clocks = [readClock(study.node.value), parent === null ? '' : readClock(parent)];
  if (study.turn.value === 'white') clocks.reverse();
  const scores = splitPoints(headers.get('Result'));
  const read = (side: 'White' | 'Black', points: string, clock: string): PlayerNote => {
    const [name, elo] = [headers.get(side), headers.get(`${side}Elo`)].map((text) =>
      text === '?' ? '' : (text ?? ''),
    );
    return { name: name || side, remark: elo, points, clock };
  };
  return { white: read('White', scores[0], clocks[0]), black: read('Black', scores[1], clocks[1]) };
});
