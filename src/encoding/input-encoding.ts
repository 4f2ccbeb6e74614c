/**
 * What every input encoding offers: a position becomes `planes` pairs of (64-bit mask, one float), whatever the
 * network. The packed form feeds the shards as it is, the float expansion on the CPU, and graphs that expand on a GPU.
 * An encoding keeps no state between positions: it walks the position's own history.
 */
import type { Position } from '../chess/index.js';

/** What stands in for positions before the first known one; lc0's HistoryFill. */
export type HistoryFill = 'no' | 'fen_only' | 'always';

export interface InputEncoding {
  /** The name in model files and shards (docs/networks.md). */
  readonly name: string;
  readonly planes: number;
  /** Positions that it looks at, the current one included. */
  readonly historyLength: number;
  /** Planes whose value may differ from 1; all others are plain masks. */
  readonly valuePlanes: readonly number[];
  /**
   * Writes the canonical view (mover's side at the bottom) of the position.
   * @param masks two words a plane, from `maskOffset` on: squares a1..h4, then a5..h8; an empty mask is a zero plane
   * @param values one float a plane, from `valueOffset` on; 1 for plain masks
   * @returns the board transform it applied, to be handed to the policy encoding (see transform.ts); 0 for none
   *
   * The position is walked back and forth and stands as before when the call returns.
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
