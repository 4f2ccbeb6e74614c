/**
 * The interface of policy encodings. Each numbers the moves as seen from the mover's side of the board. Castling is
 * always the king taking its own rook, which is unambiguous in Chess960 too.
 */
import { MAX_MOVES, type Move, NO_MOVE, type Position } from '../chess/index.js';

export type PolicyIndex = number & { readonly __policyIndex: unique symbol };

/** `moveToIndex` returns this for a move that no piece can make on an empty board. */
export const NO_POLICY_INDEX = 0xffff as PolicyIndex;

export interface PolicyEncoding {
  /** The name in model files and shards (docs/networks.md). */
  readonly name: string;
  /** Number of indices. */
  readonly size: number;
  /** False if underpromotions share the index of the promotion to a queen. */
  readonly injective: boolean;
  /** @param transform the board transform that `writePacked` returned for this position */
  moveToIndex(position: Position, move: Move, transform: number): PolicyIndex;
  /** The legal move with this index (the promotion to a queen if several share it), or NO_MOVE. */
  indexToMove(position: Position, index: PolicyIndex, transform: number): Move;
}

const QUEEN_PROMOTION = 5 << 12;
const PROMOTION_BITS = 7 << 12;
const legalMoves = new Uint16Array(MAX_MOVES);

/** Implements `indexToMove` for any `moveToIndex`: it compares the indices of all legal moves. */
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
