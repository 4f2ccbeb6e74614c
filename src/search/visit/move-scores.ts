/**
 * The PUCT scores of one node's moves while `Selector` shares visits among them: columns, loaded from the tree for a node and
 * updated as visits are handed out. Nothing is written to the tree. Visited edges are a prefix of the edge list, and all
 * unvisited edges share one FPU value and are sorted by prior, so only the visited moves and the next two need a score.
 */

import { decodePrior, MAX_EDGES } from '../../networks/leaves/index.js';
import {
  computeExploration,
  computeFpu,
  computeMovesLeftUtility,
  computePuctScore,
  computeUtility,
  computeVisitsToOvertake,
  getFpuParams,
  getPuctParams,
  NEVER,
} from '../formulas/puct.js';
import { defaultSearchParams, type SearchParams } from '../protocol/params.js';
import {
  getChildCount,
  getEdgePrior,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_P,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
} from '../tree/layout.js';
import {
  countChildren,
  getChildRecord,
  getEdgeCount,
  getInFlight,
  getPrior,
  getRecordPrior,
  getRecordVisits,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import type { RootMoves } from './root-moves.js';

/** For fewer visits `computeExploration` is looked up: its logarithm and root cost more than the rest of a small node. */
const EXPLORATION_TABLE_SIZE = 2048;

/** Lifts the score of a move that must be visited above all others. */
const FORCED_BONUS = 1e6;

export class MoveScores {
  /** Visits of each move, finished and in flight. */
  readonly started = new Int32Array(MAX_EDGES);
  /** Finished visits of the node; visits in flight on its moves. */
  visits = 0;
  inFlight = 0;
  /** Visits from which the root forgets values, as lc0 does (findForgottenPrior). */
  solidRoot = NEVER;
  /** The two moves with the highest scores, as of the last `rank`; -1 = none. */
  best = -1;
  second = -1;

  private readonly priors = new Float32Array(MAX_EDGES);
  private readonly utilities = new Float32Array(MAX_EDGES);
  private readonly scores = new Float64Array(MAX_EDGES);
  private params = defaultSearchParams;
  private puct = getPuctParams(defaultSearchParams, false);
  private puctAtRoot = getPuctParams(defaultSearchParams, true);
  private fpuParams = getFpuParams(defaultSearchParams, false);
  private fpuParamsAtRoot = getFpuParams(defaultSearchParams, true);
  private readonly explorations = new Float32Array(EXPLORATION_TABLE_SIZE);
  private exploration = 0;
  private fpu = 0;
  private known = 0;
  /** Of the loaded node: a visited move gets at least sqrt(this · prior) visits (Wu 2019, 3.2); 0 = none are forced. */
  private forced = 0;
  private forcedPlayouts = 0;
  private firstEdge = 0;

  constructor(
    private readonly tree: Tree,
    private readonly hasMovesLeft: boolean,
  ) {
    this.fillExplorations();
  }

  setParams(params: SearchParams): void {
    const before = this.puct;
    this.params = params;
    this.puct = getPuctParams(params, false);
    this.puctAtRoot = getPuctParams(params, true);
    this.fpuParams = getFpuParams(params, false);
    this.fpuParamsAtRoot = getFpuParams(params, true);
    this.forcedPlayouts = params.sequentialHalving ? 0 : params.forcedPlayouts;
    const { init, base, factor } = this.puct;
    if (init !== before.init || base !== before.base || factor !== before.factor) this.fillExplorations();
  }

  private fillExplorations(): void {
    for (let n = 0; n < EXPLORATION_TABLE_SIZE; n++) this.explorations[n] = computeExploration(n, this.puct);
  }

  /** Loads a node. @param drawScore value of a draw for the player to move there */
  load(node: NodeIndex, record: RecordIndex, isRoot: boolean, drawScore: number): void {
    const { tree, priors, utilities, scores, started } = this;
    const { nodeWords, recordWords, recordFloats, recordDoubles } = tree.store;
    const nodeAt = node * NODE_WORDS;
    const childCount = getChildCount(nodeWords[nodeAt + NODE_META]);
    const block = nodeWords[nodeAt + NODE_BLOCK];
    const stats = tree.getStats(node, record);
    const visits = recordWords[stats * RECORD_WORDS + RECORD_VISITS];
    const wl = recordDoubles[stats * RECORD_DOUBLES + RECORD_WL];
    const d = recordFloats[stats * RECORD_WORDS + RECORD_D];
    const parentM = recordFloats[stats * RECORD_WORDS + RECORD_M];
    const usesMovesLeft = this.hasMovesLeft && Math.abs(wl) > this.params.movesLeftThreshold;
    const exploration = isRoot
      ? computeExploration(visits, this.puctAtRoot)
      : visits < EXPLORATION_TABLE_SIZE
        ? this.explorations[visits]
        : computeExploration(visits, this.puct);

    let visitedPrior = 0;
    let inFlight = 0;
    for (let i = 0, at = block * RECORD_WORDS; i < childCount; i++, at += RECORD_WORDS) {
      const prior = recordFloats[at + RECORD_P];
      const childVisits = recordWords[at + RECORD_VISITS];
      const childInFlight = recordWords[at + RECORD_IN_FLIGHT];
      priors[i] = prior;
      started[i] = childVisits + childInFlight;
      inFlight += childInFlight;
      if (childVisits > 0) {
        visitedPrior = Math.fround(visitedPrior + prior);
        const q = computeUtility(recordDoubles[(at >> 1) + RECORD_WL], recordFloats[at + RECORD_D], drawScore);
        utilities[i] = usesMovesLeft
          ? q + computeMovesLeftUtility(this.params, parentM, recordFloats[at + RECORD_M], q)
          : q;
      }
    }
    const fpu = computeFpu(isRoot ? this.fpuParamsAtRoot : this.fpuParams, wl, d, drawScore, visitedPrior);
    for (let i = 0, at = block * RECORD_WORDS; i < childCount; i++, at += RECORD_WORDS) {
      if (recordWords[at + RECORD_VISITS] === 0) utilities[i] = fpu;
      scores[i] = computePuctScore(priors[i], exploration, started[i], utilities[i]);
    }
    this.visits = visits;
    this.inFlight = inFlight;
    this.exploration = exploration;
    this.fpu = fpu;
    this.known = childCount;
    if (isRoot && visits >= this.solidRoot) this.forgetValues(wl, d, drawScore);
    this.firstEdge = nodeWords[nodeAt + NODE_EDGES];
    this.forced = isRoot ? this.forcedPlayouts * (visits + inFlight) : 0;
    if (this.forced > 0) for (let i = 0; i < childCount; i++) this.forceMove(i);
  }

  private forgetValues(wl: number, d: number, drawScore: number): void {
    const { priors, utilities, scores, started, known } = this;
    const forgotten = findForgottenPrior(this.tree, this.solidRoot);
    let visitedPrior = 0;
    for (let i = 0; i < known; i++) {
      if (priors[i] >= forgotten && started[i] > 0) visitedPrior = Math.fround(visitedPrior + priors[i]);
    }
    this.fpu = computeFpu(this.fpuParamsAtRoot, wl, d, drawScore, visitedPrior);
    for (let i = 0; i < known; i++) {
      if (priors[i] < forgotten || started[i] === 0) utilities[i] = this.fpu;
      scores[i] = computePuctScore(priors[i], this.exploration, started[i], utilities[i]);
    }
  }

  /** Finds `best` and `second` among the first `count` moves. @param filter of the root's moves; null = all moves */
  rank(count: number, filter: RootMoves | null): void {
    if (count > this.known) this.extend(count);
    const { scores, started } = this;
    let best = -1;
    let bestScore = -Infinity;
    let second = -1;
    let secondScore = -Infinity;
    for (let i = 0; i < count; i++) {
      const score = scores[i];
      if (score <= secondScore) continue;
      if (filter?.isSkipped(i, started[i])) continue;
      if (score > bestScore) {
        second = best;
        secondScore = bestScore;
        best = i;
        bestScore = score;
      } else {
        second = i;
        secondScore = score;
      }
    }
    this.best = best;
    this.second = second;
  }

  /** Visits that `best` takes until selection prefers `second`. */
  computeVisitsOfBest(): number {
    const { best, second } = this;
    if (second < 0) return NEVER;
    const { priors, exploration, started, utilities, scores } = this;
    if (scores[best] > FORCED_BONUS / 2) return Math.ceil(this.computeForcedVisits(best)) - started[best];
    return computeVisitsToOvertake(priors[best], exploration, started[best], utilities[best], scores[second]);
  }

  addVisits(move: number, visits: number): void {
    const { priors, started, utilities } = this;
    started[move] += visits;
    this.scores[move] = computePuctScore(priors[move], this.exploration, started[move], utilities[move]);
    if (this.forced > 0) this.forceMove(move);
  }

  private computeForcedVisits(move: number): number {
    return Math.sqrt(this.forced * this.priors[move]);
  }

  private forceMove(move: number): void {
    const visits = this.started[move];
    if (visits > 0 && visits < this.computeForcedVisits(move)) this.scores[move] += FORCED_BONUS;
  }

  /** Scores unvisited moves up to number `count`. */
  private extend(count: number): void {
    const { priors, started, utilities, scores, exploration, fpu, firstEdge } = this;
    const { edges } = this.tree.store;
    for (let i = this.known; i < count; i++) {
      const prior = decodePrior(getEdgePrior(edges[firstEdge + i]));
      priors[i] = prior;
      started[i] = 0;
      utilities[i] = fpu;
      scores[i] = computePuctScore(prior, exploration, 0, fpu);
    }
    this.known = count;
  }
}

/**
 * Where lc0's root has a solid tree, its loop over the visited moves ends at the first unvisited one behind the likeliest move.
 * Under `searchmoves` visited moves may lie behind that gap; they count as if they had no value. This is a fault, and only a
 * search that is to make the same visits as lc0 repeats it.
 * @returns the prior of the unvisited move: the values of less likely moves are forgotten; 0 = none are
 */
export function findForgottenPrior(tree: Tree, solidRoot: number): number {
  const root = tree.rootNode;
  const childCount = countChildren(tree, root);
  const count = getEdgeCount(tree, root);
  if (tree.rootVisits < solidRoot) return 0;
  let likeliest = 0;
  let first = 0;
  let second = 0;
  for (let i = 0; i < count; i++) {
    const record = i < childCount ? getChildRecord(tree, root, i) : null;
    const prior = record === null ? getPrior(tree, root, i) : getRecordPrior(tree, record);
    likeliest = Math.max(likeliest, prior);
    if (record !== null && getRecordVisits(tree, record) + getInFlight(tree, record) > 0) continue;
    second = Math.max(second, Math.min(first, prior));
    first = Math.max(first, prior);
  }
  return first === likeliest ? second : first;
}
