/** The message that starts a search: its options, position and limits. */

import { BLACK } from '../chess/index.js';
import type { OptionStore } from '../options/index.js';
import {
  createSearchParams,
  type SearchInfo,
  type SearchLimits,
  type SearchLine,
  type SearchOrder,
  type SearchParams,
} from '../search/index.js';
import type { ActiveSearch } from './active-search.js';
import type { GamePosition } from './game-position.js';
import { type ClockOptions, createSearchLimits } from './go-request.js';
import { weaken } from './strength.js';

export function createSearchOrder(search: ActiveSearch, options: OptionStore): SearchOrder {
  const { game, startsEarlier, limitedRequest } = search;
  const { position, rootFen, moves } = startsEarlier ? stepBack(game) : game;
  const { clock, ...limits } = createSearchLimits(limitedRequest, position, readClockSettings(options), search);
  return {
    params: createParams(search, options),
    position: {
      rootFen,
      moves,
      chess960: options.getBoolean('UCI_Chess960'),
      blackToMove: position.sideToMove === BLACK,
      gamePly: position.gamePly,
      pliesSinceRepetition: position.pliesSinceAnyRepetition(),
    },
    limits: {
      ...limits,
      // A search that was stopped before it began must not count as a move for the time manager.
      ...(clock !== undefined && !search.stopRequested && { clock }),
      reportedLines: options.getNumber('MultiPV'),
      reportIntervalMs: options.getNumber('InfoIntervalMs'),
      ...readStatsWish(search, options),
      ...(startsEarlier ? createPonderLimits(game) : search.tablebaseLimits),
    },
  };
}

function createParams({ strength }: ActiveSearch, options: OptionStore): SearchParams {
  const params = createSearchParams(options.values);
  return strength === null ? params : weaken(params, strength);
}

function readStatsWish({ request, purpose }: ActiveSearch, options: OptionStore): Pick<SearchLimits, 'reportedStats'> {
  if (options.getBoolean('LogLiveStats')) return { reportedStats: 'always' };
  return purpose === 'evaluation' || request.reportsMoves === true || options.getBoolean('VerboseMoveStats')
    ? { reportedStats: 'atEnd' }
    : {};
}

function readClockSettings(options: OptionStore): ClockOptions {
  return {
    timeManager: options.getString('TimeManager'),
    slowmover: options.getNumber('Slowmover'),
    moveOverheadMs: options.getNumber('MoveOverheadMs'),
  };
}

/**
 * Pondering as in lc0: the search starts one ply earlier, before the expected reply. It looks at every reply, so nothing is lost
 * if the opponent plays another one. Reports are about the expected reply, from the waiting player's view, as if the search
 * had started after it.
 */

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
