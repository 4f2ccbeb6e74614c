/**
 * What every policy encoding offers: a number for each move, seen from the mover's side of the board. Castling is
 * always king takes own rook, which stays unambiguous in Chess960.
 */
import { MAX_MOVES, type Move, NO_MOVE, type Position } from '../chess/index.js';

export type PolicyIndex = number & { readonly __policyIndex: unique symbol };

/** What `moveToIndex` gives for a from-to pair that no piece can travel. */
export const NO_POLICY_INDEX = 0xffff as PolicyIndex;

export interface PolicyEncoding {
  /** The name in model files and shards (docs/networks.md). */
  readonly name: string;
  readonly size: number;
  /** False when underpromotions share the index of the queen promotion. */
  readonly injective: boolean;
  /** @param transform what `writePacked` returned for this position; 0 for encodings that do not transform */
  moveToIndex(position: Position, move: Move, transform: number): PolicyIndex;
  /** The legal move of this index (a queen promotion where promotions share it); NO_MOVE when none has it. */
  indexToMove(position: Position, index: PolicyIndex, transform: number): Move;
}

const QUEEN_PROMOTION = 5 << 12;
const PROMOTION_BITS = 7 << 12;
const legalMoves = new Uint16Array(MAX_MOVES);

/** `indexToMove` for any `moveToIndex`: an index means nothing without the legal moves, so they are searched. */
export function findMoveOfIndex(
  encoding: Pick<PolicyEncoding, 'moveToIndex'>,
  position: Position,
  index: PolicyIndex,
  transform: number,
): Move {
  const count = position.generateLegalMoves(legalMoves);
  let found = NO_MOVE;
  for (let i = 0; i < count; i++) {
    const move = legalMoves[i] as Move;
    if (encoding.moveToIndex(position, move, transform) !== index) continue;
    if (found === NO_MOVE || (move & PROMOTION_BITS) === QUEEN_PROMOTION) found = move;
  }
  return found;
}
