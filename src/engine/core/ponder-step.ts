/**
 * Pondering as in lc0: the search starts one ply earlier, before the expected reply. It looks at every reply, so nothing is lost
 * if the opponent plays another one. Reports are about the expected reply, from the waiting player's view, as if the search had
 * started after it.
 */

import type { SearchInfo, SearchLimits, SearchLine } from '../../search/index.js';
import type { GamePosition } from './game-position.js';

/** The position before the last move. The game must have moves. */
export function stepBack({ rootFen, moves, position }: GamePosition): GamePosition {
  const earlier = position.clone();
  earlier.unmakeMove();
  return { rootFen, moves: moves.slice(0, -1), position: earlier, notes: [] };
}

/** Extra parameters of a search from one ply earlier. */
export function createPonderLimits({ moves }: GamePosition): Partial<SearchLimits> {
  return { infinite: false, ponder: true, reportedMove: moves[moves.length - 1] };
}

/** @param info lines that begin with the expected reply, in the view of the player who makes it */
export function stepForward(info: SearchInfo): SearchInfo {
  return {
    ...info,
    depth: info.depth - 1,
    seldepth: info.seldepth - 1,
    lines: info.lines.map(turnLine),
  };
}

function turnLine(line: SearchLine): SearchLine {
  const { searched, m, mate } = line;
  return {
    ...line,
    wl: 0 - line.wl,
    searched: searched && { wl: 0 - searched.wl, d: searched.d },
    q: 0 - line.q,
    mu: 0 - line.mu,
    m: m === null ? null : Math.max(0, m - 1),
    // The mating side has already made the first move.
    mate: mate === null ? null : mate > 0 ? 1 - mate : -mate,
    pv: line.pv.slice(1),
  };
}
