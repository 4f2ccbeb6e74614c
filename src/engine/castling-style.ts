/** How moves are written for people and programs that did not say how they read castling. */

import { hasChess960Castling, type Position } from '../chess/index.js';
import type { OptionStore } from '../options/index.js';

/**
 * Whether castling is written king takes rook: with UCI_Chess960, and in any case where it starts from other squares than in
 * standard chess, since the king's new square may be that of a plain move. UCI itself goes by the option alone: the GUI set it.
 */
export function writesKingTakesRook(options: OptionStore, position: Position): boolean {
  return options.getBoolean('UCI_Chess960') || hasChess960Castling(position);
}
