/** The review that is under way: asks the engine about one position after the other and tells the panel. */
import { signal } from '@preact/signals';
import { GameReview } from '../../game/game-review.js';
import { port, reportError } from '../port/engine-state.js';
import { addNotice } from '../shell/notices.js';
import { isNumber, storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';

/** Nodes for each position. */
export const nodes = storedSignal('review.nodes', 400, isNumber);
/** Null before the first review. It is changed in place; `progress` counts its changes. */
export const review = signal<GameReview | null>(null);
export const progress = signal(0);
export const isReviewing = signal(false);

let run = 0;

/** Reviews the game on the board from its start. */
export async function startReview(): Promise<void> {
  const current = new GameReview(study.tree.value);
  if (current.nodes.length < 2) {
    addNotice('warning', 'There is no game to review: load one first');
    return;
  }
  const own = ++run;
  review.value = current;
  isReviewing.value = true;
  progress.value = 0;
  const limits = { nodes: nodes.value };
  try {
    for (const [index, node] of current.nodes.entries()) {
      const question = { position: study.describePosition(node), limits, multiPv: 1, elo: null };
      const thought = await port.send('think', question).answer;
      if (own !== run) return;
      current.add(index, thought);
      progress.value++;
    }
    current.annotate();
    study.touch();
  } catch (error) {
    if (own === run) reportError(error);
  } finally {
    if (own === run) isReviewing.value = false;
  }
}

export function stopReview(): void {
  run++;
  isReviewing.value = false;
  port.send('hurry', {}).answer.catch(reportError);
  review.value?.annotate();
  study.touch();
}
