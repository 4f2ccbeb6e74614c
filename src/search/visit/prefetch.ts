/**
 * Prefetch, as in lc0's classic search (PrefetchIntoCache): when a leaf is evaluated, positions that will probably be visited
 * soon are evaluated for the cache as well. A node shares their number among its moves, best score first: a move gets as many
 * as selection would give it before it prefers the next one.
 *
 * The tree does not change, but what the cache holds does: it keeps the first evaluation of a position, which has seen the
 * history of the line that was fetched first. So a search in minibatches of one equals lc0's only if it fetches the same lines
 * in the same order, in single precision.
 */
import { MAX_EDGES, MAX_PATH_LENGTH } from '../../networks/leaves/index.js';
import {
  computeDrawScore,
  computeExploration,
  computeFpu,
  computePuctScore,
  computeUtility,
  getFpuParams,
  getPuctParams,
  NEVER,
} from '../formulas/puct.js';
import { defaultSearchParams, type SearchParams } from '../protocol/params.js';
import { NO_NODE, NOT_TERMINAL, type NodeIndex, type RecordIndex } from '../tree/layout.js';
import {
  countChildren,
  getChildRecord,
  getEdgeCount,
  getInFlight,
  getMove,
  getPrior,
  getRecordD,
  getRecordNode,
  getRecordPrior,
  getRecordTerminalKind,
  getRecordVisits,
  getRecordWl,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import { VisitPath } from '../tree/visit-list.js';
import type { LeafChannel } from './leaf-channel.js';
import { findForgottenPrior } from './move-scores.js';

const { fround } = Math;

/** So many moves of a node are sorted at once, as they are needed (lc0's partial_sort). */
const SORTED_AT_ONCE = 3;

/** The moves of a node of the walk. */
class Level {
  /** The moves in the order of their scores, as far as they are sorted, and these scores. */
  readonly moves = new Uint8Array(MAX_EDGES);
  readonly scores = new Float32Array(MAX_EDGES);
  /** By move: its prior; its visits, finished and in flight; its value. */
  readonly priors = new Float32Array(MAX_EDGES);
  readonly started = new Int32Array(MAX_EDGES);
  readonly values = new Float32Array(MAX_EDGES);
}

function getFormulas(params: SearchParams, isRoot: boolean) {
  return { puct: getPuctParams(params, isRoot), fpu: getFpuParams(params, isRoot) };
}

export class Prefetcher {
  private readonly levels: Level[] = [];
  private readonly path = new VisitPath();
  private drawScore = 0;
  private inTree = getFormulas(defaultSearchParams, false);
  private atRoot = getFormulas(defaultSearchParams, true);
  private isBlackToMove = false;
  private solidRoot = NEVER;
  private slots: number[] = [];

  constructor(
    private readonly tree: Tree,
    private readonly channel: LeafChannel,
    private readonly rootRow: number,
  ) {}

  beginSearch(params: SearchParams, isBlackToMove: boolean, solidRoot: number): void {
    this.drawScore = params.drawScore;
    this.inTree = getFormulas(params, false);
    this.atRoot = getFormulas(params, true);
    this.solidRoot = solidRoot;
    this.isBlackToMove = isBlackToMove;
  }

  /** Sends up to `budget` positions. @returns their slots, for the caller to release when they are done */
  send(budget: number): number[] {
    const { tree } = this;
    this.slots = [];
    if (tree.rootNode !== NO_NODE) this.walk(tree.rootNode, tree.rootRecord, 0, budget);
    return this.slots;
  }

  /** @returns the part of the budget that was spent below the node */
  private walk(node: NodeIndex, record: RecordIndex, depth: number, budget: number): number {
    const { tree, path } = this;
    const childCount = countChildren(tree, node);
    const count = getEdgeCount(tree, node);
    this.levels[depth] ??= new Level();
    const level = this.levels[depth];
    const exploration = this.load(level, node, record, depth);
    let left = budget;
    let share = budget;
    let sorted = 0;
    for (let i = 0; i < count && left > 0; i++) {
      if (sorted < count && i + 2 >= sorted) {
        const end = Math.min(count, sorted + SORTED_AT_ONCE - Number(left < 2));
        sortPart(level, sorted, end, count);
        sorted = end;
      }
      const move = level.moves[i];
      const started = level.started[move];
      if (i + 1 < count) {
        const gap = fround(level.scores[i + 1] - level.values[move]);
        share = gap > 0 ? Math.min(left, countVisits(level.priors[move], exploration, gap, started)) : left;
      }
      if (share <= 0 || depth + 1 >= MAX_PATH_LENGTH) continue;
      path.moves[depth] = getMove(tree, node, move);
      if (started === 0) {
        this.slots.push(this.channel.send(this.rootRow, path.moves, depth + 1, true));
        left--;
      } else if (move < childCount) {
        const child = getChildRecord(tree, node, move);
        const childNode = getRecordNode(tree, child);
        if (childNode === NO_NODE || getRecordTerminalKind(tree, child) !== NOT_TERMINAL) continue;
        left -= this.walk(childNode, child, depth + 1, share);
      }
    }
    return budget - left;
  }

  /** Reads the moves of a node. @returns the factor of U that they share */
  private load(level: Level, node: NodeIndex, record: RecordIndex, depth: number): number {
    const { tree } = this;
    const { moves, scores, priors, started, values } = level;
    const isRoot = depth === 0;
    const { puct, fpu: fpuParams } = isRoot ? this.atRoot : this.inTree;
    const drawScore = computeDrawScore(this.drawScore, this.isBlackToMove, depth % 2 === 1);
    const exploration = computeExploration(getRecordVisits(tree, record), puct);
    const childCount = countChildren(tree, node);
    const count = getEdgeCount(tree, node);
    const forgotten = isRoot ? findForgottenPrior(tree, this.solidRoot) : 0;
    let visitedPrior = 0;
    for (let move = 0; move < count; move++) {
      const child = move < childCount ? getChildRecord(tree, node, move) : null;
      priors[move] = child === null ? getPrior(tree, node, move) : getRecordPrior(tree, child);
      started[move] = child === null ? 0 : getRecordVisits(tree, child) + getInFlight(tree, child);
      values[move] = Number.NaN;
      if (child === null || getRecordVisits(tree, child) === 0) continue;
      values[move] = computeUtility(getRecordWl(tree, child), getRecordD(tree, child), drawScore);
      if (priors[move] >= forgotten) visitedPrior = fround(visitedPrior + priors[move]);
    }
    const [wl, d] = [getRecordWl(tree, record), getRecordD(tree, record)];
    const fpu = computeFpu(fpuParams, wl, d, drawScore, visitedPrior);
    for (let move = 0; move < count; move++) {
      const isVisited = !Number.isNaN(values[move]);
      moves[move] = move;
      scores[move] = computePuctScore(priors[move], exploration, started[move], isVisited ? values[move] : fpu);
      // lc0 gives unvisited moves a value of the wrong sign where it shares the budget.
      if (!isVisited) values[move] = -fpu;
    }
    return exploration;
  }
}

/** Visits that a move takes until the next one overtakes it. A number too large for lc0's integers becomes a negative one. */
function countVisits(prior: number, exploration: number, gap: number, started: number): number {
  const visits = fround(fround(fround(prior * exploration) / gap) - started);
  return 1 + (visits < 2 ** 31 ? Math.trunc(visits) : -(2 ** 31));
}

/**
 * Puts the best moves of [start, count) into [start, end), best first. Moves with equal scores are common, and which of them
 * comes first decides what is fetched: they fall as in the heaps of C++'s partial_sort, which have the worst move on top.
 */
function sortPart(level: Level, start: number, end: number, count: number): void {
  const { moves, scores } = level;
  const size = end - start;
  for (let at = (size >> 1) - 1; at >= 0; at--) sift(level, start, at, size, scores[start + at], moves[start + at]);
  for (let i = end; i < count; i++) if (scores[i] > scores[start]) replaceTop(level, start, size, i);
  for (let last = size - 1; last > 0; last--) replaceTop(level, start, last, start + last);
}

/** Exchanges the top of the heap of `size` moves from `start` on for the move at `from`. */
function replaceTop(level: Level, start: number, size: number, from: number): void {
  const { moves, scores } = level;
  const [score, move] = [scores[from], moves[from]];
  scores[from] = scores[start];
  moves[from] = moves[start];
  sift(level, start, 0, size, score, move);
}

/** Puts a move into the heap from place `top` on: a hole sinks to a leaf, then the move rises from there. */
function sift({ moves, scores }: Level, start: number, top: number, size: number, score: number, move: number): void {
  let hole = top;
  for (let child = 2 * hole + 1; child < size; child = 2 * hole + 1) {
    if (child + 1 < size && scores[start + child + 1] <= scores[start + child]) child++;
    scores[start + hole] = scores[start + child];
    moves[start + hole] = moves[start + child];
    hole = child;
  }
  for (let parent = (hole - 1) >> 1; hole > top && scores[start + parent] > score; parent = (hole - 1) >> 1) {
    scores[start + hole] = scores[start + parent];
    moves[start + hole] = moves[start + parent];
    hole = parent;
  }
  scores[start + hole] = score;
  moves[start + hole] = move;
}
