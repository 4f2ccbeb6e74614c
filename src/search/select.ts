/**
 * The first verb: walk from the root to the leaves worth visiting next, leaving virtual loss on the way. One call hands
 * out a whole number of visits (lc0's multi-visit picking): each node gives visits to its best move until another
 * overtakes it, then descends once into every move that got some. New leaves are sent to the evaluators at once.
 *
 * Visited edges are a prefix of the edge list and the rest is sorted by prior under one common FPU value, so a scan
 * looks at all visited edges and the next two.
 *
 * A move whose leaf is under way would swallow visits until another move overtakes it. Where that is near enough a
 * DETOUR does it at once: so many virtual visits are put on the path, taken back after the next batch, and the visit goes
 * to the other move. "Near" is the reach: the virtual visits that all nodes above would give to this path before they
 * turned elsewhere themselves. Beyond it the node is closed (closed-nodes.ts) and its visits go back up; a walk from which
 * all of them come back is a COLLISION, the only work thrown away.
 */
import { decodePrior } from '../nn/index.js';
import { addVirtualVisits, revertTwoFold } from './backup.js';
import { ClosedNodes, NEVER } from './closed-nodes.js';
import type { LeafSender } from './evaluate.js';
import type { SearchParams } from './params.js';
import {
  computeDrawScore,
  computeExploration,
  computeFpu,
  computeMovesLeftUtility,
  computeScore,
  computeVisitsToOvertake,
  computeWidth,
  type FpuParams,
  getFpuParams,
  getMovesLeftParams,
  getPuctParams,
  type MovesLeftParams,
  type PuctParams,
} from './puct.js';
import type { GraphIndex } from './tree/graph-index.js';
import {
  CLOSED_BIT,
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
import { CATCH_UP_VISIT, REPETITION_VISIT, TERMINAL_VISIT, VIRTUAL_VISIT, VisitList } from './visit-list.js';

const MAX_MOVES = 256;
/** Explorations of small visit counts are looked up: a logarithm and a root cost more than the rest of a small node. */
const EXPLORATION_TABLE_SIZE = 2048;
/** How a visit continues at a known node; finished visits have the negative kinds of visit-list.ts. */
const GO_ON = 0;
const LEAF = 1;
/** A visit turns to the next move rather than go back up when it is this near, even if a node above has one at hand. */
const LEAST_REACH = 1;
/** Moves that one detour may pass; behind them lies nothing that anyone would choose. */
const LONGEST_DETOUR = 64;

/** What the root forbids in this search: `searchmoves`, and moves that can no longer overtake the best. */
export interface RootRestriction {
  /** Unvisited edges at or behind this number are not searched. */
  edgeLimit: number;
  /** 1 = a visited move that is not searched. */
  readonly excluded: Uint8Array;
  /** Best move so far (child number, -1 = none): moves with at least `remainingPlayouts` fewer visits are skipped. */
  bestChild: number;
  remainingPlayouts: number;
  /** Of sequential halving, by edge: visits, those in flight included, that the move may have; null without it. */
  readonly visitTargets: Uint32Array | null;
}

export class Selector {
  /** Filled by `pick`: leaves that were sent, terminals visited again, and the virtual visits of detours. */
  leaves: VisitList = new VisitList();
  readonly terminals = new VisitList();
  readonly virtualVisits = new VisitList();
  /** Playouts of terminal two-fold draws that were taken back because the repetition no longer lies in the tree. */
  revertedVisits = 0;
  /** Counted by the caller, who also sets them back: virtual visits of detours, detours, and collisions. */
  detourVisits = 0;
  detours = 0;
  collisions = 0;
  readonly closed: ClosedNodes;

  private readonly tree: Tree;
  private readonly sender: LeafSender;
  private readonly root: RootRestriction;
  private readonly params: SearchParams;
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
  /** The detour that is being looked for: moves passed, and the virtual visits that pass each. */
  private readonly passedMoves = new Int32Array(LONGEST_DETOUR);
  private readonly passedVisits = new Int32Array(LONGEST_DETOUR);
  /** Visits handed out and how far they may go, MAX_MOVES words a level; lives while the walk is below that level. */
  private readonly handedOut: Int32Array;
  private readonly reaches: Int32Array;
  private readonly pathNodes: Int32Array;
  private readonly pathChildren: Uint8Array;
  private readonly pathMoves: Uint16Array;
  /** Results of `handOut`; lastHandedOut: the last move that has visits to descend with. */
  private lastHandedOut = -1;
  private need = 0;

  constructor(tree: Tree, sender: LeafSender, root: RootRestriction, params: SearchParams, hasMovesLeft: boolean) {
    this.tree = tree;
    this.closed = new ClosedNodes(tree);
    this.sender = sender;
    this.root = root;
    this.params = params;
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
    this.reaches = new Int32Array(this.maxDepth * MAX_MOVES);
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
   * Hands out up to `limit` visits; each becomes a leaf or a terminal.
   * The caller has made sure of `limit` free slots and of memory for as many new records.
   * @param reach virtual visits that may be spent on the way past leaves that are under way
   * @returns visits that found no leaf within reach
   */
  pick(limit: number, reach: number): number {
    const { tree } = this;
    const words = tree.store.recordWords;
    const record = tree.rootRecord;
    const at = record * RECORD_WORDS;
    const node = words[at + RECORD_NODE] as NodeIndex;
    if (node === NO_NODE) {
      if (words[at + RECORD_IN_FLIGHT] > 0) return limit;
      words[at + RECORD_IN_FLIGHT] = 1;
      this.leaves.push(this.sender.send(this.pathMoves, 0), 0, 1, this.pathNodes, this.pathChildren);
      return limit - 1;
    }
    words[at + RECORD_IN_FLIGHT] += limit;
    const left = this.descend(node, record, 0, limit, reach);
    words[at + RECORD_IN_FLIGHT] -= left;
    return left;
  }

  /** @returns visits that found no leaf within reach; then the node is closed */
  private descend(node: NodeIndex, record: RecordIndex, depth: number, limit: number, reach: number): number {
    const { closed, handedOut, reaches } = this;
    const { nodeWords, recordWords, edges } = this.tree.store;
    const nodeAt = node * NODE_WORDS;
    const base = depth * MAX_MOVES;
    const wasClosed = closed.isClosed(node);
    const reachEnd = this.detourVisits + reach;
    let left = limit;
    let need = 0;
    let isCollision = true;
    let returned = 0;
    do {
      left = this.handOut(node, record, depth, left, reachEnd - this.detourVisits);
      const last = this.lastHandedOut;
      need = this.need;
      returned = 0;
      for (let i = 0; i <= last; i++) {
        const given = handedOut[base + i];
        if (given === 0) continue;
        const childRecord = (nodeWords[nodeAt + NODE_BLOCK] + i) as RecordIndex;
        const child = recordWords[childRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
        this.stepTo(node, i, depth, getEdgeMove(edges[nodeWords[nodeAt + NODE_EDGES] + i]));
        const childReach = Math.max(LEAST_REACH, Math.min(reaches[base + i], reachEnd - this.detourVisits));
        const back = this.descend(child, childRecord, depth + 1, given, childReach);
        recordWords[childRecord * RECORD_WORDS + RECORD_IN_FLIGHT] -= back;
        returned += back;
      }
      left += returned;
      if (returned > 0) isCollision = false;
    } while (returned > 0);
    const isEmpty = left === limit;
    if (isEmpty && isCollision) this.collisions++;
    // What should have been open and is not stays closed: the estimate was wrong, and would be again.
    if (left > 0 || need > 0) closed.close(node, record, left, isEmpty && wasClosed ? NEVER : need);
    else if (wasClosed) closed.postpone(node, limit);
    return left;
  }

  /**
   * Shares visits among the moves of one node: sends leaves, and notes in `handedOut` what is to descend further. Then
   * `need` says how many virtual visits would lead to the next open move: 0 = none are needed, or nobody has looked.
   * @returns visits that found no open move within reach
   */
  private handOut(node: NodeIndex, record: RecordIndex, depth: number, limit: number, reachLimit: number): number {
    const { tree, priors, utilities, scores, started, handedOut, reaches, passedMoves, passedVisits } = this;
    const { nodeWords, recordWords, recordFloats, recordDoubles, edges } = tree.store;
    const nodeAt = node * NODE_WORDS;
    const firstEdge = nodeWords[nodeAt + NODE_EDGES];
    const meta = nodeWords[nodeAt + NODE_META];
    const isRoot = depth === 0;
    let edgeCount = isRoot ? Math.min(this.root.edgeLimit, meta & COUNT_MASK) : meta & COUNT_MASK;
    let childCount = getChildCount(meta);
    let block = nodeWords[nodeAt + NODE_BLOCK];

    const stats = tree.getStats(node, record);
    const visits = recordWords[stats * RECORD_WORDS + RECORD_VISITS];
    const wl = recordDoubles[stats * RECORD_DOUBLES + RECORD_WL];
    const parentM = recordFloats[stats * RECORD_WORDS + RECORD_M];
    const drawScore = this.drawScores[depth & 1];
    const usesMovesLeft = this.hasMovesLeft && Math.abs(wl) > this.movesLeft.threshold;
    const targets = isRoot ? this.root.visitTargets : null;
    if (this.params.wideningFactor > 0 && targets === null)
      edgeCount = Math.min(edgeCount, computeWidth(visits, this.params));
    const exploration = isRoot
      ? computeExploration(visits, this.puctAtRoot)
      : visits < EXPLORATION_TABLE_SIZE
        ? this.explorations[visits]
        : computeExploration(visits, this.puct);

    let visitedPrior = 0;
    // Virtual visits that detours of the nodes above have put on this node, not yet on one of its moves.
    let credit = recordWords[record * RECORD_WORDS + RECORD_IN_FLIGHT] - limit;
    for (let i = 0, at = block * RECORD_WORDS; i < childCount; i++, at += RECORD_WORDS) {
      const prior = recordFloats[at + RECORD_P];
      const childVisits = recordWords[at + RECORD_VISITS];
      const inFlight = recordWords[at + RECORD_IN_FLIGHT];
      priors[i] = prior;
      started[i] = childVisits + inFlight;
      credit -= inFlight;
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
      recordFloats[stats * RECORD_WORDS + RECORD_D],
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
    // In a graph visits come by other edges too.
    if (tree.graph !== null) credit = 0;
    let reach = reachLimit + credit;
    let need = 0;
    let passed = 0;
    let hasSent = false;
    // After a leaf was sent one more look says whether it closes the node.
    while (left > 0 || hasSent) {
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
        if (targets !== null && started[i] >= targets[i]) continue;
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
      if (best < 0) {
        need = NEVER;
        break;
      }

      let enough = NEVER;
      if (second >= 0) {
        enough = computeVisitsToOvertake(priors[best], exploration, started[best], utilities[best], secondScore);
      }
      const waiting = best <= lastHandedOut ? handedOut[base + best] : 0;
      const opensIn = best < childCount ? this.computeOpening(block + best, depth, started[best], waiting) : 0;
      if (opensIn > 0 && opensIn >= Math.min(enough, reach - need + 1)) {
        const step = Math.min(enough, opensIn);
        need = passed === LONGEST_DETOUR ? NEVER : need + step;
        if (need >= NEVER || (step === opensIn && need > reach)) break;
        passedMoves[passed] = best;
        passedVisits[passed++] = step;
        started[best] += step;
        scores[best] = computeScore(priors[best], exploration, started[best], utilities[best]);
        continue;
      }
      if (left === 0 || need > reach) break;
      for (let i = 0; i < passed; i++) {
        const free = Math.min(credit, passedVisits[i]);
        credit -= free;
        if (passedVisits[i] === free) continue;
        this.stepTo(node, passedMoves[i], depth, 0);
        this.addVirtualVisits(depth, passedVisits[i] - free);
      }
      if (passed > 0) this.detours++;
      reach -= need;
      need = 0;
      passed = 0;
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
      const at = (block + best) * RECORD_WORDS;
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
      let share = Math.min(left, enough - opensIn);
      if (targets !== null) share = Math.min(share, targets[best] - started[best]);
      if (child === NO_NODE) {
        hasSent = true;
        share = 1;
        this.stepTo(node, best, depth, getEdgeMove(edges[firstEdge + best]));
        const slot = this.sender.send(this.pathMoves, depth + 1);
        this.leaves.push(slot, depth + 1, 1, this.pathNodes, this.pathChildren);
      } else if (end !== GO_ON) {
        if (end === CATCH_UP_VISIT) share = 1;
        this.stepTo(node, best, depth, 0);
        for (let i = 0; i < share; i++) {
          this.terminals.push(end, depth + 1, 1, this.pathNodes, this.pathChildren);
        }
      } else {
        while (lastHandedOut < best) handedOut[base + ++lastHandedOut] = 0;
        handedOut[base + best] += share;
        reaches[base + best] = Math.min(reach - credit, enough - share);
      }
      left -= share;
      recordWords[at + RECORD_IN_FLIGHT] += share;
      started[best] += share;
      scores[best] = computeScore(priors[best], exploration, started[best], utilities[best]);
    }
    this.lastHandedOut = lastHandedOut;
    this.need = need > credit ? need - credit : Math.min(need, 1);
    return left;
  }

  /**
   * Virtual visits until a move that leads to `record` has a leaf to give: 0 = it has one, NEVER = its leaf is under way.
   * @param started its visits, finished and in flight
   * @param waiting those that wait to descend
   */
  private computeOpening(record: number, depth: number, started: number, waiting: number): number {
    const { nodeWords, recordWords } = this.tree.store;
    const at = record * RECORD_WORDS;
    const child = recordWords[at + RECORD_NODE] as NodeIndex;
    const inFlight = recordWords[at + RECORD_IN_FLIGHT];
    if (child === NO_NODE) return inFlight > 0 || depth + 1 >= this.maxDepth ? NEVER : 0;
    const meta = nodeWords[child * NODE_WORDS + NODE_META];
    if (getTerminalKind(meta) === TWO_FOLD_DRAW) {
      return inFlight > 0 && this.findEnd(child, depth + 1, started) === LEAF ? NEVER : 0;
    }
    if ((meta & CLOSED_BIT) === 0 || this.findEnd(child, depth + 1, started) !== GO_ON) return 0;
    return Math.max(0, this.closed.getOpening(child) - (started - waiting - recordWords[at + RECORD_VISITS]));
  }

  /** Virtual visits on the path that ends with the step at `depth`. */
  private addVirtualVisits(depth: number, visits: number): void {
    const at = this.virtualVisits.push(VIRTUAL_VISIT, depth + 1, 0, this.pathNodes, this.pathChildren);
    addVirtualVisits(this.tree, this.virtualVisits, at, visits);
    this.detourVisits += visits;
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

  private isSkippedAtRoot(child: number, childCount: number, block: number): boolean {
    const root = this.root;
    if (child < childCount && root.excluded[child] !== 0) return true;
    if (root.visitTargets !== null || root.bestChild < 0 || child === root.bestChild) return false;
    const words = this.tree.store.recordWords;
    const bestVisits = words[(block + root.bestChild) * RECORD_WORDS + RECORD_VISITS];
    const visits = child < childCount ? words[(block + child) * RECORD_WORDS + RECORD_VISITS] : 0;
    return root.remainingPlayouts < bestVisits - visits;
  }
}
