/** A game of a match as it stands, for those who watch. */

import { formatFen, formatUciMove } from '../../chess/rules/index.js';
import { decodeMate } from '../engines/index.js';
import type { Game } from '../play/index.js';

export interface LivePosition {
  /** Its number in the schedule. */
  readonly game: number;
  readonly white: string;
  readonly black: string;
  readonly fen: string;
  /** From the start of the opening. */
  readonly plies: number;
  /** UCI, castling king takes rook; null before the first one. */
  readonly lastMove: string | null;
  /** What the mover thought of its last move, from White's view; null when it did not say. */
  readonly score: { readonly kind: 'cp' | 'mate'; readonly value: number } | null;
  readonly depth: number;
  readonly nodes: number;
  /** Null without a clock. */
  readonly remainingMs: readonly [white: number | null, black: number | null];
}

export function createLivePosition(
  names: Pick<LivePosition, 'game' | 'white' | 'black'>,
  { position, opening, played }: Game,
  remainingMs: LivePosition['remainingMs'],
): LivePosition {
  const last = played.at(-1);
  const move = last?.move ?? opening.moves.at(-1);
  // The last mover is the one who does not move now.
  const sign = position.sideToMove === 0 ? -1 : 1;
  return {
    ...names,
    fen: formatFen(position),
    plies: opening.moves.length + played.length,
    lastMove: move === undefined ? null : formatUciMove(move, true),
    score: last?.score == null ? null : createScore(sign * last.score),
    depth: last?.depth ?? 0,
    nodes: last?.nodes ?? 0,
    remainingMs: [roundUp(remainingMs[0]), roundUp(remainingMs[1])],
  };
}

/** @param coded as encodeScore makes it */
function createScore(coded: number): LivePosition['score'] {
  const mate = decodeMate(coded);
  return mate === null ? { kind: 'cp', value: coded } : { kind: 'mate', value: mate };
}

function roundUp(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms);
}
