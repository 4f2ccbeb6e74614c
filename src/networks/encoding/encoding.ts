/**
 * The interfaces of the room: what turns positions into planes, and moves into entries of a network's policy.
 */
import { MAX_MOVES, type Move, movePromotion, NO_MOVE, Position, QUEEN } from '../../chess/rules/index.js';

// The interface of input encodings. Each turns a position into a number of planes, and each plane into a 64-bit mask
// and one float. Training shards store this packed form, the CPU expands it to floats, and some graphs expand it on the
// GPU. An encoding keeps no state between positions: it reads the position's own history.

/**
 * What fills the planes of history before the first known position (lc0's HistoryFill): zeros, or copies of the first
 * known position. `fen_only` copies it unless it is the standard start position.
 */
export type HistoryFill = 'no' | 'fen_only' | 'always';

export interface InputEncoding {
  /** The name in model files and shards (docs/networks.md). */
  readonly name: string;
  readonly planes: number;
  /** Planes whose float may differ from 1; all others are plain masks. */
  readonly valuePlanes: readonly number[];
  /**
   * Writes the planes of a position, with the mover's side at the bottom. It takes moves back to read the history and
   * makes them again, so the position is unchanged afterwards.
   * @param masks two words a plane from `maskOffset` on: squares a1..h4, then a5..h8
   * @param values one float a plane from `valueOffset` on; 1 for plain masks
   * @returns the board transform it applied (see planes.ts), which the policy encoding needs; 0 for none
   */
  writePacked(
    position: Position,
    historyFill: HistoryFill,
    masks: Uint32Array,
    maskOffset: number,
    values: Float32Array,
    valueOffset: number,
  ): number;
}

const startPosition = new Position();

/** Whether this is the standard start position, which `fen_only` does not copy into the history. */
export function isStartPosition(position: Position): boolean {
  return position.keyLow === startPosition.keyLow && position.keyHigh === startPosition.keyHigh;
}

// The interface of policy encodings. Each numbers the moves as seen from the mover's side of the board. Castling is
// always the king taking its own rook, which is unambiguous in Chess960 too.

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

const legalMoves = new Uint16Array(MAX_MOVES);

/** Makes a policy encoding of a numbering; `indexToMove` compares the indices of all legal moves. */
export function createPolicyEncoding(
  name: string,
  size: number,
  injective: boolean,
  moveToIndex: PolicyEncoding['moveToIndex'],
): PolicyEncoding {
  const indexToMove = (position: Position, index: PolicyIndex, transform: number): Move => {
    const count = position.generateLegalMoves(legalMoves);
    let found = NO_MOVE;
    for (let i = 0; i < count; i++) {
      const move = legalMoves[i] as Move;
      if (moveToIndex(position, move, transform) !== index) continue;
      if (found === NO_MOVE || movePromotion(move) === QUEEN) found = move;
    }
    return found;
  };
  return { name, size, injective, moveToIndex, indexToMove };
}
