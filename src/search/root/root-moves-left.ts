/** The moves-left utility of the root's moves, as it is once every finished visit is in (lc0: MEvaluator). */
import type { SearchParams } from '../params.js';
import { computeMovesLeftUtility, getMovesLeftParams } from '../puct.js';
import { RECORD_DOUBLES, RECORD_M, RECORD_WL, RECORD_WORDS, type RecordIndex } from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';

/** @returns what a move's record adds to its q; 0 without a visit, and where the game is not decided enough for it to count */
export function createRootMovesLeft(
  { rootRecord, store }: Tree,
  params: SearchParams,
  hasMovesLeft: boolean,
): (record: RecordIndex | -1, q: number) => number {
  const { recordFloats, recordDoubles } = store;
  const movesLeft = getMovesLeftParams(params);
  const rootM = recordFloats[rootRecord * RECORD_WORDS + RECORD_M];
  const isUsed = hasMovesLeft && Math.abs(recordDoubles[rootRecord * RECORD_DOUBLES + RECORD_WL]) > movesLeft.threshold;
  return (record, q) =>
    isUsed && record !== -1
      ? computeMovesLeftUtility(movesLeft, rootM, recordFloats[record * RECORD_WORDS + RECORD_M], q)
      : 0;
}
