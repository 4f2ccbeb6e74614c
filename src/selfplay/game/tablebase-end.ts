/**
 * Games end where tablebases know the result: right after a capture or pawn move, so that the count of the fifty-move rule
 * is the tables' own (lc0's self-play; `-tb` of cutechess-cli).
 */
import type { Position } from '../../chess/index.js';
import { MOST_MEN, NO_VALUE, Tablebases } from '../../syzygy/index.js';
import { failure, type Result, success } from '../../util/index.js';
import { createDraw, createWin, type GameEnd } from './game-end.js';

/** @param paths folders as in SyzygyPath; empty = no tables */
export function openGameTables(paths: string, onWarning: (text: string) => void): Result<Tablebases | null> {
  if (paths === '') return success(null);
  const tables = new Tablebases(paths, onWarning);
  const [warning] = tables.warnings;
  return tables.mostMen === 0 ? failure(warning ?? `There are no tablebases in ${paths}`) : success(tables);
}

export function findTablebaseEnd(tables: Tablebases | null, position: Position): GameEnd | null {
  const result = tables?.probeResult(position, MOST_MEN, true) ?? NO_VALUE;
  if (result === NO_VALUE) return null;
  if (result === 0) return createDraw('tablebase');
  const mover = position.sideToMove;
  return createWin(result > 0 ? mover : mover === 0 ? 1 : 0, 'tablebase');
}
