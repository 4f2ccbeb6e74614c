/** Where a game starts: a position and the book moves from it. */
import { type Move, type Position, parseFen } from '../../chess/index.js';
import { unwrap } from '../../util/index.js';

export interface Opening {
  readonly fen: string;
  readonly moves: readonly Move[];
  /** Where it came from, for messages: "noob_3moves.epd, line 17". */
  readonly origin: string;
}

/** The position after the book moves, with its history. The opening must have been checked when it was read. */
export function createOpeningPosition(opening: Opening): Position {
  const position = unwrap(parseFen(opening.fen));
  for (const move of opening.moves) position.makeMove(move);
  return position;
}
