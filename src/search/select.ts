/**
 * The first verb: walk from the root to the leaves worth visiting next, leaving virtual loss on the way. One call hands
 * out a whole number of visits (lc0's multi-visit picking): each node gives visits to its best move until another
 * overtakes it, then descends once into every move that got some. New leaves are sent to the evaluators at once.
 *
 * Visited edges are a prefix of the edge list and the rest is sorted by prior under one common FPU value, so a scan
 * looks at all visited edges and the next two. A move whose leaf is already under way is a collision: the visits meant
 * for it only leave virtual loss, which is taken back after the next batch.
 */
import { decodePrior } from '../nn/index.js';
import { revertTwoFold } from './backup.js';
import type { LeafSender } from './evaluate.js';
import type { SearchParams } from './params.js';
import {
  computeDrawScore,
  computeExploration,
  computeFpu,
  computeMovesLeftUtility,
  computeScore,
  computeVisitsToOvertake,
  type FpuParams,
  getFpuParams,
  getMovesLeftParams,
  getPuctParams,
  type MovesLeftParams,
  type PuctParams,
} from './puct.js';
import type { GraphIndex } from './tree/graph-index.js';
import {
  COUNT_MASK,
  getChildCount,
  getEdgeMove,
  getEdgePrior,
  getTerminalKind,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_M,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_IN_FLIGHT,
  RECORD_M,
  RECORD_NODE,
  RECORD_P,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TWO_FOLD_DRAW,
} from './tree/layout.js';
import type { Tree } from './tree/tree.js';
import { CATCH_UP_VISIT, COLLISION, REPETITION_VISIT, TERMINAL_VISIT, VisitList } from './visit-list.js';

const MAX_MOVES = 256;
/** Explorations of small visit counts are looked up: a logarithm and a root cost more than the rest of a small node. */
const EXPLORATION_TABLE_SIZE = 2048;
/** How a visit continues at a known node; finished visits have the negative kinds of visit-list.ts. */
const GO_ON = 0;
const LEAF = 1;

/** What the root forbids in this search: `searchmoves`, and moves that can no longer overtake the best. */
export interface RootRestriction {
  /** Unvisited edges at or behind this number are not searched. */
  edgeLimit: number;
  /** 1 = a visited move that is not searched. */
  readonly excluded: Uint8Array;
  /** Best move so far (child number, -1 = none): moves with at least `remainingPlayouts` fewer visits are skipped. */
  bestChild: number;
  remainingPlayouts: number;
}

export class Selector {
  /** Filled by `pick`: leaves that were sent, terminals visited again, and collisions. */
  leaves: VisitList = new VisitList();
  readonly terminals = new VisitList();
  readonly collisions = new VisitList();
  /** When the whole call ended in one collision: how many visits more would have ended there too, plus its own. */
  collisionReach = 0;
  /** Playouts of terminal two-fold draws that were taken back because the repetition no longer lies in the tree. */
  revertedVisits = 0;

  private readonly tree: Tree;
  private readonly sender: LeafSender;
  private readonly root: RootRestriction;
  private readonly hasMovesLeft: boolean;
  private readonly puct: PuctParams;
  private readonly puctAtRoot: PuctParams;
  private readonly fpu: FpuParams;
  private readonly fpuAtRoot: FpuParams;
  private readonly movesLeft: MovesLeftParams;
  /** Value of a draw for the player to move, at even and at odd depth. */
  private readonly drawScores = new Float64Array(2);
  private readonly drawScoreOfWhite: number;
  private readonly explorations = new Float64Array(EXPLORATION_TABLE_SIZE);
  private readonly maxDepth: number;
  private readonly twoFoldDraws: boolean;

  /** The moves of the node that is being looked at. */
  private readonly priors = new Float64Array(MAX_MOVES);
  private readonly utilities = new Float64Array(MAX_MOVES);
  private readonly scores = new Float64Array(MAX_MOVES);
  private readonly started = new Int32Array(MAX_MOVES);
  /** Visits handed out, MAX_MOVES words a level; lives while the walk is below that level. */
  private readonly handedOut: Int32Array;
  private readonly pathNodes: Int32Array;
  private readonly pathChildren: Uint8Array;
  private readonly pathMoves: Uint16Array;
  private callLimit = 0;
  private visitsToChange = 0;

  constructor(tree: Tree, sender: LeafSender, root: RootRestriction, params: SearchParams, hasMovesLeft: boolean) {
    this.tree = tree;
    this.sender = sender;
    this.root = root;
    this.hasMovesLeft = hasMovesLeft;
    this.puct = getPuctParams(params, false);
    this.puctAtRoot = getPuctParams(params, true);
    this.fpu = getFpuParams(params, false);
    this.fpuAtRoot = getFpuParams(params, true);
    this.movesLeft = getMovesLeftParams(params);
    this.drawScoreOfWhite = params.drawScore;
    for (let n = 0; n < EXPLORATION_TABLE_SIZE; n++) this.explorations[n] = computeExploration(n, this.puct);
    this.maxDepth = sender.maxDepth;
    this.twoFoldDraws = params.twoFoldDraws;
    this.handedOut = new Int32Array(this.maxDepth * MAX_MOVES);
    this.pathNodes = new Int32Array(this.maxDepth);
    this.pathChildren = new Uint8Array(this.maxDepth);
    this.pathMoves = new Uint16Array(this.maxDepth);
  }

  beginSearch(blackToMove: boolean): void {
    this.drawScores[0] = computeDrawScore(this.drawScoreOfWhite, blackToMove, false);
    this.drawScores[1] = computeDrawScore(this.drawScoreOfWhite, blackToMove, true);
    this.revertedVisits = 0;
  }

  /**
   * Hands out `limit` visits; each becomes a leaf, a terminal or a collision.
   * The caller has made sure of `limit` free slots and of memory for as many new records.
   */
  pick(limit: number): void {
    const { tree } = this;
    const words = tree.store.recordWords;
    const record = tree.rootRecord;
    const at = record * RECORD_WORDS;
    this.callLimit = limit;
    this.visitsToChange = 1e9;
    this.collisionReach = 0;
    const node = words[at + RECORD_NODE] as NodeIndex;
    if (node === NO_NODE) {
      if (words[at + RECORD_IN_FLIGHT] > 0) {
        this.collisions.push(COLLISION, 0, limit, this.pathNodes, this.pathChildren);
        words[at + RECORD_IN_FLIGHT] += limit;
        return;
      }
      words[at + RECORD_IN_FLIGHT] = 1;
      this.leaves.push(this.sender.send(this.pathMoves, 0), 0, 1, this.pathNodes, this.pathChildren);
      return;
    }
    words[at + RECORD_IN_FLIGHT] += limit;
    this.descend(node, record, 0, limit);
  }

  private descend(node: NodeIndex, record: RecordIndex, depth: number, limit: number): void {
    const { tree, priors, utilities, scores, started, handedOut } = this;
    const { nodeWords, recordWords, recordFloats, recordDoubles, edges } = tree.store;
    const nodeAt = node * NODE_WORDS;
    const firstEdge = nodeWords[nodeAt + NODE_EDGES];
    const meta = nodeWords[nodeAt + NODE_META];
    const isRoot = depth === 0;
    let edgeCount = isRoot ? Math.min(this.root.edgeLimit, meta & COUNT_MASK) : meta & COUNT_MASK;
    let childCount = getChildCount(meta);
    let block = nodeWords[nodeAt + NODE_BLOCK];

    const visits = recordWords[record * RECORD_WORDS + RECORD_VISITS];
    const wl = recordDoubles[record * RECORD_DOUBLES + RECORD_WL];
    const parentM = recordFloats[record * RECORD_WORDS + RECORD_M];
    const drawScore = this.drawScores[depth & 1];
    const usesMovesLeft = this.hasMovesLeft && Math.abs(wl) > this.movesLeft.threshold;
    const exploration = isRoot
      ? computeExploration(visits, this.puctAtRoot)
      : visits < EXPLORATION_TABLE_SIZE
        ? this.explorations[visits]
        : computeExploration(visits, this.puct);

    let visitedPrior = 0;
    for (let i = 0, at = block * RECORD_WORDS; i < childCount; i++, at += RECORD_WORDS) {
      const prior = recordFloats[at + RECORD_P];
      const childVisits = recordWords[at + RECORD_VISITS];
      priors[i] = prior;
      started[i] = childVisits + recordWords[at + RECORD_IN_FLIGHT];
      if (childVisits > 0) {
        visitedPrior += prior;
        const q = recordDoubles[(at >> 1) + RECORD_WL] + drawScore * recordFloats[at + RECORD_D];
        utilities[i] = usesMovesLeft
          ? q + computeMovesLeftUtility(this.movesLeft, parentM, recordFloats[at + RECORD_M], q)
          : q;
      }
    }
    const fpu = computeFpu(
      isRoot ? this.fpuAtRoot : this.fpu,
      wl,
      recordFloats[record * RECORD_WORDS + RECORD_D],
      drawScore,
      visitedPrior,
    );
    for (let i = 0, at = block * RECORD_WORDS; i < childCount; i++, at += RECORD_WORDS) {
      if (recordWords[at + RECORD_VISITS] === 0) utilities[i] = fpu;
      scores[i] = computeScore(priors[i], exploration, started[i], utilities[i]);
    }

    const base = depth * MAX_MOVES;
    let lastHandedOut = -1;
    let known = childCount;
    let left = limit;
    while (left > 0) {
      const candidates = Math.min(edgeCount, childCount + 2);
      for (; known < candidates; known++) {
        const prior = decodePrior(getEdgePrior(edges[firstEdge + known]));
        priors[known] = prior;
        started[known] = 0;
        utilities[known] = fpu;
        scores[known] = computeScore(prior, exploration, 0, fpu);
      }
      let best = -1;
      let bestScore = -Infinity;
      let second = -1;
      let secondScore = -Infinity;
      const seen = Math.max(candidates, childCount);
      for (let i = 0; i < seen; i++) {
        const score = scores[i];
        if (score <= secondScore) continue;
        if (isRoot && this.isSkippedAtRoot(i, childCount, block)) continue;
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
      if (best < 0) break;

      let given = left;
      if (second >= 0) {
        const enough = computeVisitsToOvertake(priors[best], exploration, started[best], utilities[best], secondScore);
        if (enough < this.visitsToChange) this.visitsToChange = enough;
        if (enough < given) given = enough;
      }
      if (best >= childCount) {
        const created = tree.createChild(node);
        if (created === NO_RECORD) {
          // Memory is full: only the moves that were visited before are left to choose from.
          if (childCount === 0) break;
          edgeCount = childCount;
          continue;
        }
        block = created - childCount;
        childCount++;
      }
      left -= given;
      for (; lastHandedOut < best; ) handedOut[base + ++lastHandedOut] = 0;

      const childRecord = block + best;
      const at = childRecord * RECORD_WORDS;
      let child = recordWords[at + RECORD_NODE] as NodeIndex;
      let end = GO_ON;
      if (child !== NO_NODE) {
        end = this.findEnd(child, depth + 1, started[best]);
        if (end === LEAF) {
          if (tree.graph === null) {
            this.stepTo(node, best, depth, 0);
            this.revertedVisits += revertTwoFold(tree, this.pathNodes, this.pathChildren, depth);
          }
          child = NO_NODE;
        }
      }
      if (child === NO_NODE) {
        if (recordWords[at + RECORD_IN_FLIGHT] === 0 && depth + 1 < this.maxDepth) {
          this.stepTo(node, best, depth, getEdgeMove(edges[firstEdge + best]));
          const slot = this.sender.send(this.pathMoves, depth + 1);
          this.leaves.push(slot, depth + 1, 1, this.pathNodes, this.pathChildren);
          recordWords[at + RECORD_IN_FLIGHT] = 1;
          started[best]++;
          scores[best] = computeScore(priors[best], exploration, started[best], utilities[best]);
          given--;
        }
      } else if (end !== GO_ON) {
        this.stepTo(node, best, depth, 0);
        this.terminals.push(end, depth + 1, 1, this.pathNodes, this.pathChildren);
        recordWords[at + RECORD_IN_FLIGHT]++;
        started[best]++;
        scores[best] = computeScore(priors[best], exploration, started[best], utilities[best]);
        given--;
        if (end === CATCH_UP_VISIT) {
          left += given;
          given = 0;
        }
      } else {
        recordWords[at + RECORD_IN_FLIGHT] += given;
        started[best] += given;
        scores[best] = computeScore(priors[best], exploration, started[best], utilities[best]);
      }
      handedOut[base + best] += given;
    }
    if (left > 0) this.collide(depth, left);

    for (let i = 0; i <= lastHandedOut; i++) {
      const given = handedOut[base + i];
      if (given === 0) continue;
      const childRecord = (block + i) as RecordIndex;
      const child = recordWords[childRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      if (child === NO_NODE || !this.isOpen(child, depth + 1)) {
        this.collide(depth, given);
        continue;
      }
      this.stepTo(node, i, depth, getEdgeMove(edges[firstEdge + i]));
      this.descend(child, tree.getStats(child, childRecord), depth + 1, given);
    }
  }

  /** @returns how a visit ends that reaches a known node at `depth`: GO_ON, LEAF, or the kind of a finished visit */
  private findEnd(child: NodeIndex, depth: number, started: number): number {
    const { graph, store } = this.tree;
    const kind = getTerminalKind(store.nodeWords[child * NODE_WORDS + NODE_META]);
    if (kind === TWO_FOLD_DRAW) {
      // Does it still repeat a position of this path? Its M is the length of the cycle, 0 when there is none.
      const cycle = store.nodeFloats[child * NODE_WORDS + NODE_M];
      const isDraw = graph === null ? depth >= cycle : cycle === 0 || this.isRepetition(graph, child, depth);
      return isDraw ? TERMINAL_VISIT : LEAF;
    }
    if (kind !== NOT_TERMINAL) return TERMINAL_VISIT;
    if (graph === null) return GO_ON;
    if (this.isRepetition(graph, child, depth)) return REPETITION_VISIT;
    const stats = this.tree.getStats(child, NO_RECORD);
    return started < store.recordWords[stats * RECORD_WORDS + RECORD_VISITS] ? CATCH_UP_VISIT : GO_ON;
  }

  private isOpen(child: NodeIndex, depth: number): boolean {
    const { graph, store } = this.tree;
    if (getTerminalKind(store.nodeWords[child * NODE_WORDS + NODE_META]) !== NOT_TERMINAL) return false;
    return graph === null || !this.isRepetition(graph, child, depth);
  }

  /** Whether the position of a node that stands at `depth` of this path lies on the path already (lc0: TwoFoldDraws). */
  private isRepetition(graph: GraphIndex, node: NodeIndex, depth: number): boolean {
    if (!this.twoFoldDraws) return false;
    for (let earlier = depth - 4; earlier >= 0; earlier -= 2) {
      if (graph.isSamePosition(this.pathNodes[earlier], node)) return true;
    }
    return false;
  }

  private stepTo(node: NodeIndex, child: number, depth: number, move: number): void {
    this.pathNodes[depth] = node;
    this.pathChildren[depth] = child;
    this.pathMoves[depth] = move;
  }

  /** Visits that end below the node at `depth` without a leaf: their virtual loss lies on it and on its ancestors. */
  private collide(depth: number, visits: number): void {
    this.collisions.push(COLLISION, depth, visits, this.pathNodes, this.pathChildren);
    if (visits === this.callLimit && this.visitsToChange > visits) this.collisionReach = this.visitsToChange;
  }

  private isSkippedAtRoot(child: number, childCount: number, block: number): boolean {
    const root = this.root;
    if (child < childCount && root.excluded[child] !== 0) return true;
    if (root.bestChild < 0 || child === root.bestChild) return false;
    const words = this.tree.store.recordWords;
    const bestVisits = words[(block + root.bestChild) * RECORD_WORDS + RECORD_VISITS];
    const visits = child < childCount ? words[(block + child) * RECORD_WORDS + RECORD_VISITS] : 0;
    return root.remainingPlayouts < bestVisits - visits;
  }
}
