/** What stoppers look at after each batch: counters, and a summary of the root's moves (lc0: IterationStats). */
import { MAX_EDGES } from '../nn/index.js';
import { getEdgeCount, getRecordQ, getRecordTerminalKind, getRecordVisits, getVisitedRecord } from './best-move.js';
import type { Pipeline } from './pipeline.js';
import {
  NO_NODE,
  NOT_TERMINAL,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_WL,
  RECORD_WORDS,
  TABLEBASE_END,
  TWO_FOLD_DRAW,
} from './tree/layout.js';
import type { Tree } from './tree/tree.js';

/** A game with no move above this value may be resigned; then it does not matter how long the loss takes. */
const RESIGN_Q = -0.98;

export interface IterationStats {
  /** Milliseconds since the clock of this move started, and since the first batch was finished. */
  elapsedMs: number;
  sinceFirstBatchMs: number;
  /** Visits of the root; those of this search. */
  totalVisits: number;
  playouts: number;
  batches: number;
  averageDepth: number;
  /** Moves of the root that may be played in this search, and their visits in edge order. */
  moveCount: number;
  readonly moveVisits: Uint32Array;
  winFound: boolean;
  losingMoves: number;
  /** Moves whose result is proven, whichever it is. */
  settledMoves: number;
  mayResign: boolean;
  /** Moves to the shortest mate found, Infinity without one. */
  mateInMoves: number;
  /** The most visited move is not the one of the highest value: more time may change the choice. */
  isBestMoveDoubtful: boolean;
}

export function createIterationStats(): IterationStats {
  return {
    elapsedMs: 0,
    sinceFirstBatchMs: 0,
    totalVisits: 0,
    playouts: 0,
    batches: 0,
    averageDepth: 0,
    moveCount: 0,
    moveVisits: new Uint32Array(MAX_EDGES),
    winFound: false,
    losingMoves: 0,
    settledMoves: 0,
    mayResign: true,
    mateInMoves: Number.POSITIVE_INFINITY,
    isBestMoveDoubtful: false,
  };
}

/** @param drawScore value of a draw for the root's mover */
export function fillIterationStats(
  stats: IterationStats,
  tree: Tree,
  pipeline: Pipeline,
  drawScore: number,
  isAllowed: (edge: number) => boolean,
): void {
  const { counters } = pipeline;
  stats.totalVisits = pipeline.totalVisits;
  stats.playouts = counters.playouts;
  stats.batches = counters.batches;
  stats.averageDepth = computeAverageDepth(pipeline);
  stats.moveCount = 0;
  stats.winFound = false;
  stats.losingMoves = 0;
  stats.settledMoves = 0;
  stats.mayResign = true;
  stats.mateInMoves = Number.POSITIVE_INFINITY;
  stats.isBestMoveDoubtful = false;
  const root = tree.rootNode;
  if (root === NO_NODE) return;
  const edgeCount = getEdgeCount(tree, root);
  let mostVisits = 0;
  let bestQ = Number.NEGATIVE_INFINITY;
  let visitsOfBestQ = 0;
  for (let edge = 0; edge < edgeCount; edge++) {
    if (!isAllowed(edge)) continue;
    const record = getVisitedRecord(tree, root, edge);
    const visits = getRecordVisits(tree, record);
    stats.moveVisits[stats.moveCount++] = visits;
    if (record === -1) continue;
    const q = getRecordQ(tree, record, drawScore);
    if (q > RESIGN_Q) stats.mayResign = false;
    if (visits > mostVisits) mostVisits = visits;
    if (q > bestQ || (q === bestQ && visits > visitsOfBestQ)) {
      bestQ = q;
      visitsOfBestQ = visits;
    }
    const kind = getRecordTerminalKind(tree, record);
    if (kind === NOT_TERMINAL) continue;
    if (kind !== TWO_FOLD_DRAW) stats.settledMoves++;
    const wl = tree.store.recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
    if (wl > 0) stats.winFound = true;
    if (wl < 0) stats.losingMoves++;
    if (wl === 1 && kind !== TABLEBASE_END) {
      const plies = Math.round(tree.store.recordFloats[record * RECORD_WORDS + RECORD_M]);
      stats.mateInMoves = Math.min(stats.mateInMoves, Math.floor(plies / 2) + 1);
    }
  }
  stats.isBestMoveDoubtful = visitsOfBestQ < mostVisits;
}

/** Average depth of this search's leaves, as `info depth` shows it. */
export function computeAverageDepth(pipeline: Pipeline): number {
  const { depthSum, playouts } = pipeline.counters;
  return Math.floor(depthSum / Math.max(1, playouts));
}
