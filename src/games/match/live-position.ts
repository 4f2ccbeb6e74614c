/** A game of a match as it stands, for those who watch. */

import { unwrap } from '../../base/util/index.js';
import { formatFen, formatSanLine, formatUciMove, parseFen } from '../../chess/rules/index.js';
import { decodeMate } from '../engines/index.js';
import type { Game } from '../play/index.js';

interface LiveThought {
  /** From White's view; null when the player did not say. */
  readonly score: { readonly kind: 'cp' | 'mate'; readonly value: number } | null;
  readonly depth: number;
  readonly nodes: number;
  readonly timeMs: number;
  /** In SAN, its own move first. */
  readonly line: readonly string[];
}

/** Moves of a line that are told. */
const LONGEST_LINE = 12;

export interface LivePosition {
  /** Its number in the schedule. */
  readonly game: number;
  readonly white: string;
  readonly black: string;
  readonly startFen: string;
  readonly fen: string;
  /** From the start of the opening. */
  readonly plies: number;
  /** UCI, castling king takes rook; null before the first one. */
  readonly lastMove: string | null;
  /** Of the opening, in UCI as `lastMove`, and of the game. */
  readonly moves: readonly string[];
  /** What each player thought of its last move; null before it. */
  readonly thoughts: readonly [white: LiveThought | null, black: LiveThought | null];
  /** Null without a clock. */
  readonly remainingMs: readonly [white: number | null, black: number | null];
}

export function createLivePosition(
  names: Pick<LivePosition, 'game' | 'white' | 'black'>,
  game: Game,
  remainingMs: LivePosition['remainingMs'],
): LivePosition {
  const { position, opening, played } = game;
  const all = [...opening.moves, ...played.map(({ move }) => move)];
  const moves = all.map((move) => formatUciMove(move, true));
  const recall = (side: 0 | 1): LiveThought | null => {
    // The last mover is the one who does not move now.
    const back = position.sideToMove === side ? 2 : 1;
    const thought = played.at(-back);
    if (thought === undefined) return null;
    const before = unwrap(parseFen(opening.fen));
    for (const move of all.slice(0, -back)) before.makeMove(move);
    const { score, depth, nodes, timeMs, line = [] } = thought;
    return {
      score: score === null ? null : createScore(side === 0 ? score : -score),
      depth,
      nodes,
      timeMs,
      line: formatSanLine(before, line.slice(0, LONGEST_LINE)),
    };
  };
  return {
    ...names,
    startFen: opening.fen,
    fen: formatFen(position),
    plies: moves.length,
    lastMove: moves.at(-1) ?? null,
    moves,
    thoughts: [recall(0), recall(1)],
    remainingMs: [roundUp(remainingMs[0]), roundUp(remainingMs[1])],
  };
}

/** @param coded as encodeScore makes it */
function createScore(coded: number): LiveThought['score'] {
  const mate = decodeMate(coded);
  return mate === null ? { kind: 'cp', value: coded } : { kind: 'mate', value: mate };
}

function roundUp(ms: number | null): number | null {
  return ms === null ? null : Math.ceil(ms);
}
