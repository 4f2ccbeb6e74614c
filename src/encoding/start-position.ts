/** lc0's `fen_only` fills the history of every first position but this one. */
import { Position } from '../chess/index.js';

const startPosition = new Position();

export function isStartPosition(position: Position): boolean {
  return position.keyLow === startPosition.keyLow && position.keyHigh === startPosition.keyHigh;
}
