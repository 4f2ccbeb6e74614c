/** The message that starts a search: its options, position and limits. */

import { BLACK } from '../chess/index.js';
import type { OptionStore } from '../options/index.js';
import { createSearchParams, type SearchLimits, type SearchOrder, type SearchParams } from '../search/index.js';
import type { ActiveSearch } from './active-search.js';
import { type ClockSettings, createSearchLimits } from './go-request.js';
import { createPonderLimits, stepBack } from './ponder.js';
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
      // A search that was stopped before it began is no move of the game for the time manager.
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

function readStatsWish(
  { request, wantsStats }: ActiveSearch,
  options: OptionStore,
): Pick<SearchLimits, 'reportedStats'> {
  if (options.getBoolean('LogLiveStats')) return { reportedStats: 'always' };
  return wantsStats || request.reportsMoves === true || options.getBoolean('VerboseMoveStats')
    ? { reportedStats: 'atEnd' }
    : {};
}

function readClockSettings(options: OptionStore): ClockSettings {
  return {
    timeManager: options.getString('TimeManager'),
    slowmover: options.getNumber('Slowmover'),
    moveOverheadMs: options.getNumber('MoveOverheadMs'),
  };
}
