/**
 * The interface of input encodings. Each turns a position into a number of planes, and each plane into a 64-bit mask
 * and one float. Training shards store this packed form, the CPU expands it to floats, and some graphs expand it on the
 * GPU. An encoding keeps no state between positions: it reads the position's own history.
 */
import { Position } from '../chess/index.js';

/**
 * What fills the planes of history before the first known position (lc0's HistoryFill): zeros, or copies of the first
 * known position. `fen_only` copies it unless it is the standard start position.
 */
export type HistoryFill = 'no' | 'fen_only' | 'always';

export interface InputEncoding {
  /** The name in model files and shards (docs/networks.md). */
  readonly name: string;
  readonly planes: number;
  /** Number of positions it encodes, with the current one. */
  readonly historyLength: number;
  /** Planes whose float may differ from 1; all others are plain masks. */
  readonly valuePlanes: readonly number[];
  /**
   * Writes the planes of a position, with the mover's side at the bottom. It takes moves back to read the history and
   * makes them again, so the position is unchanged afterwards.
   * @param masks two words a plane from `maskOffset` on: squares a1..h4, then a5..h8
   * @param values one float a plane from `valueOffset` on; 1 for plain masks
   * @returns the board transform it applied (see transform.ts), which the policy encoding needs; 0 for none
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
