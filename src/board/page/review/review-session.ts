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
/** Number of the question under way. */
let asked = 0;

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
      const { id, answer } = port.send('think', question);
      asked = id;
      const thought = await answer;
      if (own !== run) return;
      current.add(index, thought);
      progress.value++;
    }
  } catch (error) {
    if (own === run) reportError(error);
  }
  if (own === run) finish(current);
}

/** What is known of the game stays, also of a review that was cut short. */
function finish(reviewed: GameReview): void {
  isReviewing.value = false;
  reviewed.annotate();
  study.touch();
}

export function stopReview(): void {
  run++;
  port.send('hurry', { think: asked }).answer.catch(reportError);
  if (review.value !== null) finish(review.value);
}
