/**
 * The first verb, select: walks from the root to the leaves to visit next and adds virtual loss on the way.
 * One call hands out many visits (lc0: PickNodesToExtend): each node gives visits to its best move until another move
 * overtakes it, then the walk descends once into every move that got some. New leaves are sent to the evaluators at once.
 *
 * A walk that ends at a leaf in flight is a COLLISION, as in lc0. Its visits find nothing to do; they stay in flight on the path to
 * the leaf's parent until a batch is backed up, and with them as many more as turn the next walk to another move higher up. The
 * parent's own moves keep their order: a lesser move beside the leaf is not searched in its place. When it was, at the price of the
 * virtual visits that made it the best, the root's visits were 0.015 to 0.020 further from those of a sequential search (total
 * variation, 64 to 800 nodes; docs/dev/lab-book.md, 2026-11-27, with the speeds).
 */
import { MAX_EDGES, MAX_PATH_LENGTH } from '../../networks/leaves/index.js';
import { computeDrawScore, computeWidth } from '../formulas/puct.js';
import { defaultSearchParams, type SearchParams } from '../protocol/params.js';
import { addInFlight, cancelVisit } from '../tree/backup.js';
import {
  COUNT_MASK,
  getChildCount,
  getEdgeMove,
  NO_NODE,
  NO_RECORD,
  NODE_BLOCK,
  NODE_EDGES,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_IN_FLIGHT,
  RECORD_NODE,
  RECORD_WORDS,
  type RecordIndex,
} from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import { CATCH_UP_VISIT, COLLISION, GO_ON, LEAF, VisitList, VisitPath } from '../tree/visit-list.js';
import type { LeafChannel } from './leaf-channel.js';
import { MoveScores } from './move-scores.js';
import type { RootMoves } from './root-moves.js';

/** The result of `pick`. */
class PickResult {
  /** Visits that end at a node whose value is known. */
  readonly terminals = new VisitList();
  /** Collisions, and the visits that they keep on their paths. */
  collisions = 0;
  collisionVisits = 0;
  /** Playouts that were taken back: they ended in a draw whose repetition no longer lies within the searched tree. */
  revertedVisits = 0;
  /** A new move was given up because its path would be longer than evaluators accept. */
  hasReachedLongestPath = false;
}

export class Selector {
  private params = defaultSearchParams;
  /** Value of a draw for the player to move, at even and at odd depth. */
  private readonly drawScores = new Float64Array(2);

  /** The result of `pick`, reused for every call. */
  private readonly picked = new PickResult();
  /** The list to which the running `pick` appends the leaves it sends. */
  private leaves = new VisitList();
  /** All collisions; those of the last pick start at `firstCollision`. */
  private readonly collisions = new VisitList();
  private firstCollision = 0;

  /** The moves of the node that `handOut` looks at. */
  private readonly moves: MoveScores;
  /** Visits handed out to each move: MAX_EDGES words for each depth of the walk. */
  private readonly handedOut = new Int32Array(MAX_PATH_LENGTH * MAX_EDGES);
  /** The move to which `handOut` gave its last visits; it would have got `lastSpare` more. */
  private lastMove = 0;
  private lastSpare = 0;
  private readonly path = new VisitPath();

  constructor(
    private readonly tree: Tree,
    private readonly channel: LeafChannel,
    private readonly rootRow: number,
    private readonly root: RootMoves,
  ) {
    this.moves = new MoveScores(tree, channel.hasMovesLeft);
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
   * Hands out `limit` visits; each becomes a leaf, a terminal or part of a collision. There must be `limit` free slots, and memory
   * reserved for as many new records.
   * @param leaves the leaves that are sent are appended here
   * @param mostVisits that may collide, at least `limit`
   * @returns an object that the next call overwrites
   */
  pick(leaves: VisitList, limit: number, mostVisits: number): Readonly<PickResult> {
    const { tree, picked } = this;
    this.leaves = leaves;
    this.firstCollision = this.collisions.end;
    picked.terminals.clear();
    picked.collisions = 0;
    picked.collisionVisits = 0;
    picked.revertedVisits = 0;
    picked.hasReachedLongestPath = false;
    const words = tree.store.recordWords;
    const record = tree.rootRecord;
    const at = record * RECORD_WORDS;
    const node = words[at + RECORD_NODE] as NodeIndex;
    const isFirstVisit = node === NO_NODE && words[at + RECORD_IN_FLIGHT] === 0;
    words[at + RECORD_IN_FLIGHT] += limit;
    if (node !== NO_NODE) {
      this.descend(node, record, 0, limit, mostVisits - limit);
    } else {
      if (isFirstVisit) leaves.push(this.channel.send(this.rootRow, this.path.moves, 0), 0, 1, this.path);
      if (!isFirstVisit || limit > 1) this.collide(0, isFirstVisit ? limit - 1 : limit, 0);
    }
    return picked;
  }

  /** Takes back the collisions of the last `pick`. */
  cancelLastCollisions(): void {
    this.cancelCollisionsFrom(this.firstCollision);
  }

  cancelAllCollisions(): void {
    this.cancelCollisionsFrom(0);
  }

  private cancelCollisionsFrom(start: number): void {
    const { collisions } = this;
    for (let at = start; at < collisions.end; at = collisions.next(at)) cancelVisit(this.tree, collisions, at);
    collisions.truncate(start);
  }

  /** Hands out visits below a node. @param spare as many more would have come here until a move above it overtakes */
  private descend(node: NodeIndex, record: RecordIndex, depth: number, limit: number, spare: number): void {
    const { handedOut } = this;
    const { nodeWords, recordWords, edges } = this.tree.store;
    const nodeAt = node * NODE_WORDS;
    const base = depth * MAX_EDGES;
    const last = this.handOut(node, record, depth, limit, spare);
    const { lastMove, lastSpare } = this;
    for (let i = 0; i <= last; i++) {
      const given = handedOut[base + i];
      if (given === 0) continue;
      const childRecord = (nodeWords[nodeAt + NODE_BLOCK] + i) as RecordIndex;
      const child = recordWords[childRecord * RECORD_WORDS + RECORD_NODE] as NodeIndex;
      this.path.setStep(depth, node, i, getEdgeMove(edges[nodeWords[nodeAt + NODE_EDGES] + i]));
      this.descend(child, childRecord, depth + 1, given, i === lastMove ? lastSpare : 0);
    }
  }

  /**
   * Shares visits among the moves of one node: sends leaves, and writes to `handedOut` how many visits are to descend into
   * each move. Where the best move is a leaf in flight, the visits that are left collide.
   * @returns the last move that got visits to descend with; -1 = none
   */
  private handOut(node: NodeIndex, record: RecordIndex, depth: number, limit: number, spare: number): number {
    const { tree, moves, handedOut } = this;
    const { started } = moves;
    const { nodeWords, recordWords } = tree.store;
    const nodeAt = node * NODE_WORDS;
    const base = depth * MAX_EDGES;
    const meta = nodeWords[nodeAt + NODE_META];
    const isRoot = depth === 0;
    const filter = isRoot ? this.root : null;
    const targets = isRoot ? this.root.visitTargets : null;
    moves.load(node, record, isRoot, this.drawScores[depth & 1]);
    let edgeCount = isRoot ? Math.min(this.root.edgeLimit, meta & COUNT_MASK) : meta & COUNT_MASK;
    if (this.params.wideningFactor > 0 && targets === null)
      edgeCount = Math.min(edgeCount, computeWidth(moves.visits, this.params));
    let childCount = getChildCount(meta);
    let block = nodeWords[nodeAt + NODE_BLOCK];
    let last = -1;
    let left = limit;
    while (left > 0) {
      moves.rank(Math.max(childCount, Math.min(edgeCount, childCount + 2)), filter);
      const { best } = moves;
      if (best < 0) break;
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
      const at = (block + best) * RECORD_WORDS;
      const child = recordWords[at + RECORD_NODE] as NodeIndex;
      const end = child === NO_NODE ? LEAF : tree.findEnd(child, depth + 1, started[best], this.path);
      let most = moves.computeVisitsOfBest();
      if (targets !== null) most = Math.min(most, targets[best] - started[best]);
      let share = Math.min(left, most);
      if (end === LEAF) {
        if (recordWords[at + RECORD_IN_FLIGHT] > 0 || !this.fitsPath(depth)) break;
        share = 1;
        this.sendLeaf(node, child, best, depth);
      } else if (end === GO_ON) {
        while (last < best) handedOut[base + ++last] = 0;
        handedOut[base + best] += share;
        this.lastMove = best;
        this.lastSpare = Math.min(spare, most - share);
      } else {
        if (end === CATCH_UP_VISIT) share = 1;
        this.path.setStep(depth, node, best, 0);
        for (let i = 0; i < share; i++) this.picked.terminals.push(end, depth + 1, 1, this.path);
      }
      left -= share;
      recordWords[at + RECORD_IN_FLIGHT] += share;
      moves.addVisits(best, share);
    }
    if (left > 0) this.collide(depth, left, spare);
    return last;
  }

  /** Whether evaluators accept the path to a leaf below a node. */
  private fitsPath(depth: number): boolean {
    const fits = depth + 1 < MAX_PATH_LENGTH;
    if (!fits) this.picked.hasReachedLongestPath = true;
    return fits;
  }

  /** @param drawn the node of a draw by repetition that no longer is one and becomes a leaf again; NO_NODE = an unvisited leaf */
  private sendLeaf(node: NodeIndex, drawn: NodeIndex, move: number, depth: number): void {
    const { nodeWords, edges } = this.tree.store;
    this.path.setStep(depth, node, move, getEdgeMove(edges[nodeWords[node * NODE_WORDS + NODE_EDGES] + move]));
    if (drawn !== NO_NODE) this.picked.revertedVisits += this.tree.reopenDraw(this.path, depth);
    const slot = this.channel.send(this.rootRow, this.path.moves, depth + 1);
    this.leaves.push(slot, depth + 1, 1, this.path);
  }

  /** Keeps visits in flight on the first `depth` steps of the path, until they are cancelled. @param spare as many besides */
  private collide(depth: number, visits: number, spare: number): void {
    const at = this.collisions.push(COLLISION, depth, visits + spare, this.path);
    if (spare > 0) addInFlight(this.tree, this.collisions, at, spare);
    this.picked.collisions++;
    this.picked.collisionVisits += visits + spare;
  }
}
