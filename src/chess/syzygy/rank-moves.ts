/**
 * Finds the moves of a root position that keep its tablebase result (lc0: SyzygyTablebase::root_probe, root_probe_wdl). All sure
 * wins rank equal, so the search chooses among them. If a position was repeated since the last zeroing move, or with
 * SyzygyFastPlay, only the moves with the shortest way to zeroing remain. In a lost position all moves remain unless a draw by
 * the fifty-move rule is near.
 */

import { listLegalMoves, type Move, type Position } from '../rules/index.js';
import { NO_VALUE } from './table-set.js';
import { type TablebaseSettings, type Tablebases, WDL_BLESSED_LOSS, WDL_CURSED_WIN } from './tablebases.js';

/** Rank of a sure win. */
const SURE = 1000;
/** Rank of a win that the fifty-move rule makes a draw. It ranks above a draw, since the opponent may err. */
const CURSED = 899;
const LAST_SAFE_PLY = 99;
const DRAWING_PLY = 100;

export interface RootRanking {
  /** The best moves; at least one. */
  readonly moves: readonly Move[];
  /** False if a DTZ table is missing. Then results alone rank the moves, and the engine may fail to make progress. */
  readonly usesDtz: boolean;
  /** Result for the side to move with best play, the fifty-move rule considered: 1 won, 0 drawn, −1 lost. */
  readonly result: number;
}

type Rank = (position: Position, move: Move) => { readonly rank: number; readonly result: number } | null;

/**
 * Null if the tables do not know the position or the game is over.
 * @param fastPlay rank wins by distance (SyzygyFastPlay)
 */
export function rankRootMoves(
  tables: Tablebases,
  settings: TablebaseSettings,
  position: Position,
  fastPlay: boolean,
): RootRanking | null {
  if (!tables.mayProbe(position, settings.menLimit)) return null;
  const list = listLegalMoves(position);
  if (list.length === 0) return null;
  const isOrdered = fastPlay || Number.isFinite(position.pliesSinceAnyRepetition());
  const { fiftyMoveRule } = settings;
  const count = fiftyMoveRule ? position.rule50 : 0;
  const byDistance: Rank = (root, move) => {
    const dtz = tables.probeDtzOfMove(root, move);
    return dtz === NO_VALUE ? null : rankDistance(dtz, count, isOrdered, fiftyMoveRule);
  };
  const byResult: Rank = (root, move) => {
    root.makeMove(move);
    const wdl = tables.probeWdl(root);
    root.unmakeMove();
    return wdl === NO_VALUE ? null : rankResult(0 - wdl, fiftyMoveRule);
  };
  return keepBest(position, list, byDistance, true) ?? keepBest(position, list, byResult, false);
}

/** The moves of the highest rank; null if `rank` fails for a move. */
function keepBest(position: Position, list: readonly Move[], rank: Rank, usesDtz: boolean): RootRanking | null {
  let best = Number.NEGATIVE_INFINITY;
  let result = 0;
  let moves: Move[] = [];
  for (const move of list) {
    const ranked = rank(position, move);
    if (ranked === null) return null;
    if (ranked.rank > best) {
      best = ranked.rank;
      result = ranked.result;
      moves = [];
    }
    if (ranked.rank === best) moves.push(move);
  }
  return { moves, usesDtz, result };
}

/**
 * @param dtz plies to zeroing with this move, from its player's view
 * @param count plies since the last zeroing move; 0 if the fifty-move rule does not apply
 * @param isOrdered rank wins by distance
 */
function rankDistance(dtz: number, count: number, isOrdered: boolean, fiftyMoveRule: boolean) {
  const plies = Math.abs(dtz);
  const isSure = !fiftyMoveRule || plies + count <= LAST_SAFE_PLY;
  const result = isSure ? Math.sign(dtz) : 0;
  if (dtz > 0) return { rank: isSure && !isOrdered ? SURE : SURE - (plies + count), result };
  if (dtz === 0) return { rank: 0, result };
  const isHopeless = !fiftyMoveRule || 2 * plies + count < DRAWING_PLY;
  return { rank: isHopeless ? -SURE : plies + count - SURE, result };
}

function rankResult(wdl: number, fiftyMoveRule: boolean) {
  const isCursed = wdl === WDL_CURSED_WIN || wdl === WDL_BLESSED_LOSS;
  const sign = Math.sign(wdl);
  if (isCursed && fiftyMoveRule) return { rank: sign * CURSED, result: 0 };
  return { rank: sign * SURE, result: sign };
}
