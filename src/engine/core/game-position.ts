/** The position of the game, as the client's `position` commands say, and how its castling moves are written. */

import type { OptionStore } from '../../base/options/index.js';
import { failure, type Result, success } from '../../base/util/index.js';
import {
  formatFen,
  hasChess960Castling,
  type Move,
  type Position,
  parseFen,
  parseUciMove,
  START_FEN,
} from '../../chess/rules/index.js';

/** The game's first FEN and the moves since. A wrong FEN or move creates nothing, so the previous position stays. */
export interface GamePosition {
  /** Normalised, so that two spellings of one position find the same tree. */
  readonly rootFen: string;
  readonly moves: readonly Move[];
  /** The position after the moves, which are its history. */
  readonly position: Position;
  /** What the FEN's position did not allow and was dropped, a sentence each; empty when the last position went on. */
  readonly notes: readonly string[];
  /** The client has set another position since, which was refused: this one is not on its board. */
  readonly isRefused?: true;
}

/** What the client is told instead of a move. */
export const POSITION_REFUSED = 'The last position was refused, so there is no move for it: set another one';

/** @param fen null = the start position */
export function createGamePosition(fen: string | null, moveTexts: readonly string[]): Result<GamePosition> {
  const notes: string[] = [];
  const parsed = parseFen(fen ?? START_FEN, notes);
  if (!parsed.ok) return failure(`Illegal position: ${parsed.error}`);
  return playOn({ rootFen: formatFen(parsed.value, 'shredder'), moves: [], position: parsed.value, notes }, moveTexts);
}

/** Reads `position` commands. If one continues the last game, only the new moves are read. */
export class PositionReader {
  private fen: string | null = null;
  private moveTexts: readonly string[] = [];
  private last: GamePosition | null = null;

  /** Parameters and result as createGamePosition. */
  read(fen: string | null, moveTexts: readonly string[]): Result<GamePosition> {
    const { last, moveTexts: known } = this;
    const goesOn = last !== null && fen === this.fen && known.every((text, i) => text === moveTexts[i]);
    const game = goesOn
      ? playOn({ ...last, position: last.position.clone(), notes: [] }, moveTexts.slice(known.length))
      : createGamePosition(fen, moveTexts);
    if (game.ok) {
      this.fen = fen;
      // Copied, because the caller's list may grow.
      this.moveTexts = [...moveTexts];
      this.last = game.value;
    }
    return game;
  }
}

/** @param game its position object is reused and changed */
function playOn(
  { rootFen, position, moves: earlier, notes }: GamePosition,
  moveTexts: readonly string[],
): Result<GamePosition> {
  const moves = [...earlier];
  for (const text of moveTexts) {
    const move = parseUciMove(position, text);
    if (!move.ok) return failure(`Illegal move: ${move.error}`);
    position.makeMove(move.value);
    moves.push(move.value);
  }
  return success({ rootFen, moves, position, notes });
}

/**
 * Whether commands and the library write castling as king takes rook: with UCI_Chess960, and always where king and rook start
 * on other squares than in standard chess, because there the king may reach the same square by a plain move. UCI output follows
 * the option alone, which the GUI sets.
 */
export function writesKingTakesRook(options: OptionStore, position: Position): boolean {
  return options.getBoolean('UCI_Chess960') || hasChess960Castling(position);
}
