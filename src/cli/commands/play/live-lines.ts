/**
 * `sardonyx match --live`: a match for other programs to watch, which have stdout to themselves. Every finished game is a JSON line
 * of the type `result`, and the positions of running games are lines of the type `position`; one of the type `report` comes last.
 * Of games that are played fast, only some positions are shown.
 */

import type { LivePosition, LoggedGame } from '../../../games/match/index.js';
import { printJson } from '../../output.js';

/** Longest time by which a position is late. */
const INTERVAL_MS = 100;

export class LiveLines {
  /** By number of the game. */
  private readonly waiting = new Map<number, LivePosition>();
  private readonly timer = setInterval(() => this.flush(), INTERVAL_MS);

  show(position: LivePosition): void {
    this.waiting.set(position.game, position);
  }

  finish(game: LoggedGame): void {
    this.waiting.delete(game.game);
    printJson({ type: 'result', ...game });
  }

  close(): void {
    clearInterval(this.timer);
  }

  private flush(): void {
    for (const position of this.waiting.values()) printJson({ type: 'position', ...position });
    this.waiting.clear();
  }
}
