/** The state of a search after each batch, for the stoppers: counters and a summary of the root's moves (lc0: IterationStats). */

import { MAX_EDGES } from '../../networks/leaves/index.js';
import type { SearchParams } from '../protocol/params.js';
import { NOT_TERMINAL, TABLEBASE_END, TWO_FOLD_DRAW } from '../tree/layout.js';
import {
  getEdgeCount,
  getOutcome,
  getRecordM,
  getRecordQ,
  getRecordTerminalKind,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import type { Pipeline } from '../visit/pipeline.js';
import type { RootMoves } from '../visit/root-moves.js';
import { computeRootFpu, createRootMovesLeft } from './root-utility.js';

/** If no move has a higher value, the game may be resigned: smart pruning then stops only when every move is proven lost. */
const RESIGN_Q = -0.98;

export class IterationStats {
  /** Milliseconds since the clock of this move started, and since the first batch was finished; 0 until then. */
  elapsedMs = 0;
  sinceFirstBatchMs = 0;
  /** Visits of the root, reused ones included; `playouts` are those of this search. */
  totalVisits = 0;
  playouts = 0;
  batches = 0;
  averageDepth = 0;
  /** Playouts that added nothing to the tree, and the average depth of the others. */
  knownVisits = 0;
  newDepth = 0;
  /** Moves of the root that may be played in this search, 0 until the root is evaluated, and their visits in edge order. */
  moveCount = 0;
  readonly moveVisits = new Uint32Array(MAX_EDGES);
  winningMoves = 0;
  losingMoves = 0;
  /** Moves whose result is proven: won, drawn or lost. */
  settledMoves = 0;
  mayResign = true;
  /** Moves to the shortest mate found, Infinity without one. */
  mateInMoves = Number.POSITIVE_INFINITY;
  /** The most visited move is not the one with the highest utility, so more time may change the choice. */
  isBestMoveDoubtful = false;
}

/** The root between two batches, and the settings that its values depend on. */
export interface RootContext {
  readonly tree: Tree;
  readonly pipeline: Pipeline;
  readonly rootMoves: RootMoves;
  readonly params: SearchParams;
  readonly hasMovesLeft: boolean;
  /** Value of a draw for the root's mover. */
  readonly drawScore: number;
}

/**
 * Fills in everything but the times.
 * @param asksForDoubt whether to compute `isBestMoveDoubtful`, another loop over the moves that only time managers need
 */
export function fillIterationStats(stats: IterationStats, context: RootContext, asksForDoubt: boolean): void {
  const { tree, pipeline, rootMoves, drawScore } = context;
  const { counters } = pipeline;
  stats.totalVisits = pipeline.totalVisits;
  stats.playouts = counters.playouts;
  stats.batches = counters.batches;
  stats.averageDepth = computeAverageDepth(pipeline);
  stats.knownVisits = counters.knownVisits;
  const newVisits = counters.playouts - counters.knownVisits;
  stats.newDepth = Math.floor((counters.depthSum - counters.knownDepthSum) / Math.max(1, newVisits));
  stats.moveCount = 0;
  stats.winningMoves = 0;
  stats.losingMoves = 0;
  stats.settledMoves = 0;
  stats.mayResign = true;
  stats.mateInMoves = Number.POSITIVE_INFINITY;
  const root = tree.rootNode;
  const edgeCount = getEdgeCount(tree, root);
  for (let edge = 0; edge < edgeCount; edge++) {
    if (!rootMoves.isAllowed(edge)) continue;
    const record = getVisitedRecord(tree, root, edge);
    stats.moveVisits[stats.moveCount++] = getRecordVisits(tree, record);
    if (record === -1) continue;
    if (getRecordQ(tree, record, drawScore) > RESIGN_Q) stats.mayResign = false;
    const kind = getRecordTerminalKind(tree, record);
    if (kind === NOT_TERMINAL) continue;
    if (kind !== TWO_FOLD_DRAW) stats.settledMoves++;
    const outcome = getOutcome(tree, record);
    if (outcome > 0) stats.winningMoves++;
    if (outcome < 0) stats.losingMoves++;
    if (outcome > 0 && kind !== TABLEBASE_END) {
      const plies = Math.round(getRecordM(tree, record));
      stats.mateInMoves = Math.min(stats.mateInMoves, Math.floor(plies / 2) + 1);
    }
  }
  stats.isBestMoveDoubtful = asksForDoubt && tree.rootVisits > 0 && isBestMoveDoubtful(context);
}

/** Whether some move has a higher utility than the most visited ones; an unvisited move has first play urgency (lc0). */
function isBestMoveDoubtful({ tree, rootMoves, params, hasMovesLeft, drawScore }: RootContext): boolean {
  const root = tree.rootNode;
  const fpu = computeRootFpu(tree, params, drawScore);
  const computeMovesLeft = createRootMovesLeft(tree, params, hasMovesLeft);
  let mostVisits = 0;
  let highest = Number.NEGATIVE_INFINITY;
  let visitsOfHighest = 0;
  for (let edge = 0, edgeCount = getEdgeCount(tree, root); edge < edgeCount; edge++) {
    if (!rootMoves.isAllowed(edge)) continue;
    const record = getVisitedRecord(tree, root, edge);
    const visits = getRecordVisits(tree, record);
    const q = record === -1 ? fpu : getRecordQ(tree, record, drawScore);
    const utility = q + computeMovesLeft(record, q);
    mostVisits = Math.max(mostVisits, visits);
    if (utility > highest || (utility === highest && visits > visitsOfHighest)) {
      highest = utility;
      visitsOfHighest = visits;
    }
  }
  return visitsOfHighest < mostVisits;
}

/** Average depth of this search's leaves, as `info depth` shows it. */
export function computeAverageDepth(pipeline: Pipeline): number {
  const { depthSum, playouts } = pipeline.counters;
  return Math.floor(depthSum / Math.max(1, playouts));
}
