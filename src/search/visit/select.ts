/**
 * The first verb, select: walks from the root to the leaves to visit next and adds virtual loss on the way.
 * One call hands out many visits (lc0: PickNodesToExtend): each node gives visits to its best move until another move
 * overtakes it, then the walk descends once into every move that got some. New leaves are sent to the evaluators at once.
 *
 * A move whose leaf is in flight stays the best until virtual visits have lowered its score below that of another move. A DETOUR adds
 * those virtual visits at once and gives the visit to the other move; they are taken back after the next batch. Example: a node has
 * moves a (score 0.9, its leaf in flight) and b (0.8). Three visits would lower a below 0.8. The detour puts 3 virtual visits on a
 * and on the path to the node, and sends the leaf of b.
 *
 * The REACH is the number of virtual visits that a detour may add: with more, some node above would choose another move itself. If no
 * leaf lies within reach, the node is closed (closed-nodes.ts), and its visits go back to its parent. A walk from which all
 * visits come back is a COLLISION, the only work that is thrown away.
 */
import { MAX_EDGES } from '../../networks/leaves/index.js';
import { computeDrawScore, computeWidth, NEVER } from '../formulas/puct.js';
import { defaultSearchParams, type SearchParams } from '../protocol/params.js';
import { addVirtualVisits, cancelVisit } from '../tree/backup.js';
import {
  CATCH_UP_VISIT,
  CLOSED_BIT,
  COUNT_MASK,
  GO_ON,
  getChildCount,
  getEdgeMove,
  getTerminalKind,
  LEAF,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_IN_FLIGHT,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WORDS,
  type RecordIndex,
  TWO_FOLD_DRAW,
  VIRTUAL_VISIT,
  VisitList,
  VisitPath,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import { ClosedNodes } from './closed-nodes.js';
import type { LeafSender } from './leaf-channel.js';
import { MoveScores, RootFilter, type RootRestriction } from './move-scores.js';

/** Least reach of a child: a move that is this few virtual visits away is preferred to going back up. */
const LEAST_REACH = 1;
/** Most moves that one detour may pass. */
const LONGEST_DETOUR = 64;

/** The result of `pick`. */
export interface PickResult {
  /** Visits that found no leaf within reach. */
  left: number;
  /** Visits that end at a node whose value is known. */
  readonly terminals: VisitList;
  /** Detours, and the virtual visits that they put on their paths. */
  detours: number;
  detourVisits: number;
  collisions: number;
  /** Playouts that were taken back: they ended in a draw whose repetition no longer lies within the searched tree. */
  revertedVisits: number;
  /** A new move was given up because its path would be longer than evaluators accept. */
  hasReachedLongestPath: boolean;
}

/** The result of `handOut`. */
interface HandOut {
  /** Visits that found no open move within reach. */
  left: number;
  /** The last move that got visits to descend with; -1 = none. */
  last: number;
  /** Virtual visits needed to reach the next open move; 0 = the last visit has found one. */
  need: number;
}

export class Selector {
  readonly closed: ClosedNodes;

  private readonly tree: Tree;
  private readonly sender: LeafSender;
  private readonly root: RootRestriction;
  private readonly maxDepth: number;
  private params = defaultSearchParams;
  /** Value of a draw for the player to move, at even and at odd depth. */
  private readonly drawScores = new Float64Array(2);

  /** The results of `pick` and `handOut`, reused for every call. */
  private readonly picked: PickResult = {
    left: 0,
    terminals: new VisitList(),
    detours: 0,
    detourVisits: 0,
    collisions: 0,
    revertedVisits: 0,
    hasReachedLongestPath: false,
  };
  private readonly handed: HandOut = { left: 0, last: -1, need: 0 };
  /** The list to which the running `pick` appends the leaves it sends. */
  private leaves = new VisitList();
  /** The virtual visits of all detours; those of the last pick start at `firstDetour`. */
  private readonly virtualVisits = new VisitList();
  private firstDetour = 0;

  /** The moves of the node that `handOut` looks at. */
  private readonly moves: MoveScores;
  private readonly rootFilter: RootFilter;
  /** The detour that `handOut` is planning: the moves to pass, and the virtual visits needed to pass each. */
  private readonly passedMoves = new Int32Array(LONGEST_DETOUR);
  private readonly passedVisits = new Int32Array(LONGEST_DETOUR);
  /** Visits handed out to each move, and their reach: MAX_EDGES words for each depth of the walk. */
  private readonly handedOut: Int32Array;
  private readonly reaches: Int32Array;
  private readonly path: VisitPath;

  constructor(tree: Tree, sender: LeafSender, root: RootRestriction, hasMovesLeft: boolean) {
    this.tree = tree;
    this.closed = new ClosedNodes(tree);
    this.sender = sender;
    this.root = root;
    this.moves = new MoveScores(tree, hasMovesLeft);
    this.rootFilter = new RootFilter(tree, root, this.moves.started);
    this.maxDepth = sender.maxDepth;
    this.handedOut = new Int32Array(this.maxDepth * MAX_EDGES);
    this.reaches = new Int32Array(this.maxDepth * MAX_EDGES);
    this.path = new VisitPath(this.maxDepth);
  }

  beginSearch(params: SearchParams, blackToMove: boolean, solidRoot: number): void {
    this.params = params;
    this.moves.setParams(params);
    this.moves.solidRoot = solidRoot;
    this.path.twoFoldDraws = params.twoFoldDraws;
    this.drawScores[0] = computeDrawScore(params.drawScore, blackToMove, false);
    this.drawScores[1] = computeDrawScore(params.drawScore, blackToMove, true);
  }

  /**
   * Hands out up to `limit` visits; each becomes a leaf or a terminal. There must be `limit` free slots, and memory reserved
   * for as many new records.
   * @param leaves the leaves that are sent are appended here
   * @param reach virtual visits that detours may spend
   * @returns an object that the next call overwrites
   */
  pick(leaves: VisitList, limit: number, reach: number): Readonly<PickResult> {
    const { tree, picked } = this;
    this.leaves = leaves;
    this.firstDetour = this.virtualVisits.end;
    picked.terminals.clear();
    picked.detours = 0;
    picked.detourVisits = 0;
    picked.collisions = 0;
    picked.revertedVisits = 0;
    picked.hasReachedLongestPath = false;
    const words = tree.store.recordWords;
    const record = tree.rootRecord;
    const at = record * RECORD_WORDS;
    const node = words[at + RECORD_NODE] as NodeIndex;
    if (node !== NO_NODE) {
      words[at + RECORD_IN_FLIGHT] += limit;
      picked.left = this.descend(node, record, 0, limit, reach);
      words[at + RECORD_IN_FLIGHT] -= picked.left;
    } else if (words[at + RECORD_IN_FLIGHT] > 0) {
      picked.left = limit;
    } else {
      words[at + RECORD_IN_FLIGHT] = 1;
      leaves.push(this.sender.send(this.path, 0), 0, 1, this.path);
      picked.left = limit - 1;
    }
    return picked;
  }

  /** Takes back the virtual visits that the last `pick` spent on detours. */
  cancelLastDetours(): void {
    this.cancelDetoursFrom(this.firstDetour);
  }

  cancelAllDetours(): void {
    this.cancelDetoursFrom(0);
  }

  private cancelDetoursFrom(start: number): void {
    const { virtualVisits } = this;
    for (let at = start; at < virtualVisits.end; at = virtualVisits.next(at)) {
      cancelVisit(this.tree, virtualVisits, at);
    }
    virtualVisits.truncate(start);
  }

  /** Hands out visits below a node. @returns those that found no leaf within reach; if there are any, the node is closed */
  private descend(node: NodeIndex, record: RecordIndex, depth: number, limit: number, reach: number): number {
    const { closed, handedOut, reaches, picked } = this;
    const { nodeWords, recordWords, edges } = this.tree.store;
    const nodeAt = node * NODE_WORDS;
    const base = depth * MAX_EDGES;
    const wasClosed = closed.isClosed(node);
    const reachEnd = picked.detourVisits + reach;
    let left = limit;
    let need = 0;
    let isCollision = true;
    let returned = 0;
    do {
      const handed = this.handOut(node, record, depth, left, reachEnd - picked.detourVisits);
      // Copied, because the descents below overwrite the object.
      const { last } = handed;
      left = handed.left;
      need = handed.need;
      returned = 0;
      for (let i = 0; i <= last; i++) {
        const given = handedOut[base + i];
        if (given === 0) continue;
        const childRecord = (nodeWords[nodeAt + NODE_BLOCK] + i) as RecordIndex;
        const child = recordWords[childRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
        this.path.setStep(depth, node, i, getEdgeMove(edges[nodeWords[nodeAt + NODE_EDGES] + i]));
        const childReach = Math.max(LEAST_REACH, Math.min(reaches[base + i], reachEnd - picked.detourVisits));
        const back = this.descend(child, childRecord, depth + 1, given, childReach);
        recordWords[childRecord * RECORD_WORDS + RECORD_IN_FLIGHT] -= back;
        returned += back;
      }
      left += returned;
      if (returned > 0) isCollision = false;
    } while (returned > 0);
    const isEmpty = left === limit;
    if (isEmpty && isCollision) picked.collisions++;
    // If the node should have been open and is not, the next estimate would be wrong too: it stays closed until a visit ends.
    if (left > 0 || need > 0) closed.close(node, record, left, isEmpty && wasClosed ? NEVER : need);
    else if (wasClosed) closed.postpone(node, limit);
    return left;
  }

  /**
   * Shares visits among the moves of one node: sends leaves, and writes to `handedOut` how many visits are to descend into
   * each move.
   * @returns an object that the next call overwrites
   */
  private handOut(node: NodeIndex, record: RecordIndex, depth: number, limit: number, reachLimit: number): HandOut {
    const { tree, moves, handedOut, handed } = this;
    const { started } = moves;
    const { nodeWords, recordWords } = tree.store;
    const nodeAt = node * NODE_WORDS;
    const meta = nodeWords[nodeAt + NODE_META];
    const isRoot = depth === 0;
    const filter = isRoot ? this.rootFilter : null;
    const targets = isRoot ? this.root.visitTargets : null;
    moves.load(node, record, isRoot, this.drawScores[depth & 1]);
    let edgeCount = isRoot ? Math.min(this.root.edgeLimit, meta & COUNT_MASK) : meta & COUNT_MASK;
    if (this.params.wideningFactor > 0 && targets === null)
      edgeCount = Math.min(edgeCount, computeWidth(moves.visits, this.params));
    let childCount = getChildCount(meta);
    let block = nodeWords[nodeAt + NODE_BLOCK];
    let credit = tree.computeCredit(record, limit, moves.inFlight);

    let lastHandedOut = -1;
    let left = limit;
    let reach = reachLimit + credit;
    let need = 0;
    let passed = 0;
    let hasSent = false;
    // After sending a leaf, looks once more to see whether this has closed the node.
    while (left > 0 || hasSent) {
      moves.rank(Math.max(childCount, Math.min(edgeCount, childCount + 2)), filter);
      const { best } = moves;
      if (best < 0) {
        need = NEVER;
        break;
      }
      const enough = moves.computeVisitsOfBest();
      const waiting = best <= lastHandedOut ? handedOut[depth * MAX_EDGES + best] : 0;
      const opensIn =
        best < childCount
          ? this.computeOpening(block + best, depth, started[best], waiting)
          : this.openingOfNewMove(depth);
      if (opensIn > 0 && opensIn >= Math.min(enough, reach - need + 1)) {
        const step = Math.min(enough, opensIn);
        need = passed === LONGEST_DETOUR ? NEVER : need + step;
        if (need >= NEVER || (step === opensIn && need > reach)) break;
        this.passedMoves[passed] = best;
        this.passedVisits[passed++] = step;
        moves.addVisits(best, step);
        continue;
      }
      if (left === 0 || need > reach) break;
      if (passed > 0) credit = this.takeDetour(node, depth, passed, credit);
      reach -= need;
      need = 0;
      passed = 0;
      if (best >= childCount) {
        const created = tree.createChild(node);
        if (created === NO_RECORD) {
          // Memory is full: only moves that have been visited can be chosen.
          if (childCount === 0) break;
          edgeCount = childCount;
          continue;
        }
        block = created - childCount;
        childCount++;
      }
      let share = Math.min(left, enough - opensIn);
      if (targets !== null) share = Math.min(share, targets[best] - started[best]);
      const end = this.findEndOfMove(node, block + best, best, depth);
      if (end === LEAF) {
        share = 1;
        hasSent = true;
        this.sendLeaf(node, best, depth);
      } else if (end === GO_ON) {
        while (lastHandedOut < best) handedOut[depth * MAX_EDGES + ++lastHandedOut] = 0;
        handedOut[depth * MAX_EDGES + best] += share;
        this.reaches[depth * MAX_EDGES + best] = Math.min(reach - credit, enough - share);
      } else {
        if (end === CATCH_UP_VISIT) share = 1;
        this.path.setStep(depth, node, best, 0);
        for (let i = 0; i < share; i++) this.picked.terminals.push(end, depth + 1, 1, this.path);
      }
      left -= share;
      recordWords[(block + best) * RECORD_WORDS + RECORD_IN_FLIGHT] += share;
      moves.addVisits(best, share);
    }
    handed.left = left;
    handed.last = lastHandedOut;
    handed.need = need > credit ? need - credit : Math.min(need, 1);
    return handed;
  }

  /**
   * Puts the virtual visits of a detour on the moves that it passes.
   * @param credit virtual visits that detours of nodes above have put on this node; they are used up first
   * @returns the rest of the credit
   */
  private takeDetour(node: NodeIndex, depth: number, passed: number, credit: number): number {
    const { passedMoves, passedVisits, path } = this;
    let left = credit;
    for (let i = 0; i < passed; i++) {
      const free = Math.min(left, passedVisits[i]);
      left -= free;
      if (passedVisits[i] === free) continue;
      path.setStep(depth, node, passedMoves[i], 0);
      this.addVirtualVisits(depth, passedVisits[i] - free);
    }
    this.picked.detours++;
    return left;
  }

  /** How a visit to a move goes on (see layout.ts). A draw by repetition that no longer is one becomes a leaf again. */
  private findEndOfMove(node: NodeIndex, record: number, move: number, depth: number): number {
    const child = this.tree.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    if (child === NO_NODE) return LEAF;
    const end = this.tree.findEnd(child, depth + 1, this.moves.started[move], this.path);
    if (end === LEAF) {
      this.path.setStep(depth, node, move, 0);
      this.picked.revertedVisits += this.tree.reopenDraw(this.path, depth);
    }
    return end;
  }

  private sendLeaf(node: NodeIndex, child: number, depth: number): void {
    const { nodeWords, edges } = this.tree.store;
    this.path.setStep(depth, node, child, getEdgeMove(edges[nodeWords[node * NODE_WORDS + NODE_EDGES] + child]));
    const slot = this.sender.send(this.path, depth + 1);
    this.leaves.push(slot, depth + 1, 1, this.path);
  }

  /**
   * Virtual visits that a move needs before a visit to it finds a leaf: 0 = it finds one now, NEVER = its leaf is in flight.
   * @param record the record of the move's edge
   * @param started visits of the edge, finished and in flight
   * @param waiting those of them that have been handed out and have not descended yet
   */
  private computeOpening(record: number, depth: number, started: number, waiting: number): number {
    const { nodeWords, recordWords } = this.tree.store;
    const at = record * RECORD_WORDS;
    const child = recordWords[at + RECORD_NODE] as NodeIndex;
    const inFlight = recordWords[at + RECORD_IN_FLIGHT];
    if (child === NO_NODE) return inFlight > 0 ? NEVER : this.openingOfNewMove(depth);
    const meta = nodeWords[child * NODE_WORDS + NODE_META];
    if (getTerminalKind(meta) === TWO_FOLD_DRAW) {
      return inFlight > 0 && this.tree.findEnd(child, depth + 1, started, this.path) === LEAF ? NEVER : 0;
    }
    if ((meta & CLOSED_BIT) === 0 || this.tree.findEnd(child, depth + 1, started, this.path) !== GO_ON) return 0;
    return Math.max(0, this.closed.getOpening(child) - (started - waiting - recordWords[at + RECORD_VISITS]));
  }

  /** As `computeOpening`, for an unvisited move: NEVER where the path would be longer than evaluators accept. */
  private openingOfNewMove(depth: number): number {
    if (depth + 1 < this.maxDepth) return 0;
    this.picked.hasReachedLongestPath = true;
    return NEVER;
  }

  /** Puts virtual visits on the path that ends with the step at `depth`. */
  private addVirtualVisits(depth: number, visits: number): void {
    const at = this.virtualVisits.push(VIRTUAL_VISIT, depth + 1, 0, this.path);
    addVirtualVisits(this.tree, this.virtualVisits, at, visits);
    this.picked.detourVisits += visits;
  }
}
