/** The graph behind the interface of a tree: a position that two move orders reach is one node, found by its key. */

import { backUpInGraph } from './graph-backup.js';
import {
  END_OF_GAME,
  getTerminalKind,
  NO_NODE,
  NO_RECORD,
  NODE_D,
  NODE_M,
  NODE_META,
  NODE_STATS,
  NODE_WL,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
  TWO_FOLD_DRAW,
} from './layout.js';
import { type StoreOptions, TreeStore } from './store.js';
import { TranspositionIndex } from './transposition-index.js';
import { type NodeKey, type NodeValue, Tree } from './tree.js';
import {
  CATCH_UP_VISIT,
  GO_ON,
  LEAF,
  REPETITION_VISIT,
  TERMINAL_VISIT,
  type VisitList,
  type VisitPath,
} from './visit-list.js';

export class GraphTree extends Tree {
  readonly graph: TranspositionIndex;
  readonly hasOtherPaths = true;

  constructor(options: StoreOptions) {
    const graph = new TranspositionIndex();
    super(new TreeStore(options, graph));
    this.graph = graph;
  }

  getStats(node: NodeIndex, edge: RecordIndex): RecordIndex {
    const stats = this.store.nodeWords[node * NODE_WORDS + NODE_STATS] as RecordIndex;
    return stats === NO_RECORD ? edge : stats;
  }

  countHolders(node: NodeIndex): number {
    return this.graph.getHolders(node);
  }

  override link(record: RecordIndex, node: NodeIndex): void {
    super.link(record, node);
    this.graph.hold(node);
  }

  override drop(node: NodeIndex): void {
    if (this.graph.release(node)) super.drop(node);
  }

  findKnown({ low, high, tag }: NodeKey): NodeIndex {
    return this.graph.find(low, high, tag);
  }

  setKey(node: NodeIndex, { low, high, tag }: NodeKey): void {
    this.graph.describe(node, low, high, tag);
  }

  /** Gives the node its STATS, with the first visit in them, and puts it into the index. */
  introduce(node: NodeIndex, record: RecordIndex, key: NodeKey): boolean {
    const { store } = this;
    const isRoot = record === this.rootRecord;
    const stats = isRoot ? record : store.allocateBlock(0);
    if (stats === NO_RECORD) return false;
    if (!isRoot) this.resetRecord(stats, 1);
    const { nodeWords, nodeFloats, recordWords, recordFloats, recordDoubles } = store;
    const at = node * NODE_WORDS;
    nodeWords[at + NODE_STATS] = stats;
    recordWords[stats * RECORD_WORDS + RECORD_NODE] = node;
    recordWords[stats * RECORD_WORDS + RECORD_VISITS] = 1;
    recordDoubles[stats * RECORD_DOUBLES + RECORD_WL] = nodeFloats[at + NODE_WL];
    recordFloats[stats * RECORD_WORDS + RECORD_D] = nodeFloats[at + NODE_D];
    recordFloats[stats * RECORD_WORDS + RECORD_M] = nodeFloats[at + NODE_M];
    this.setKey(node, key);
    // A new root may stand for a position that the graph knows already: then the index keeps the older node.
    if (!isRoot || this.findKnown(key) === NO_NODE) this.graph.insert(node);
    return true;
  }

  chooseDrawKind(isOfPath: boolean): number {
    return isOfPath ? TWO_FOLD_DRAW : END_OF_GAME;
  }

  findEnd(child: NodeIndex, depth: number, started: number, path: VisitPath): number {
    const { nodeWords, nodeFloats, recordWords } = this.store;
    const kind = getTerminalKind(nodeWords[child * NODE_WORDS + NODE_META]);
    if (kind === TWO_FOLD_DRAW) {
      // M is the length of the cycle; 0 = a draw by the fifty-move rule, for which no position has to repeat.
      const isDraw = nodeFloats[child * NODE_WORDS + NODE_M] === 0 || this.isTwoFoldDraw(child, depth, path);
      return isDraw ? TERMINAL_VISIT : LEAF;
    }
    if (kind !== NOT_TERMINAL) return TERMINAL_VISIT;
    if (this.isTwoFoldDraw(child, depth, path)) return REPETITION_VISIT;
    const stats = this.getStats(child, NO_RECORD);
    return started < recordWords[stats * RECORD_WORDS + RECORD_VISITS] ? CATCH_UP_VISIT : GO_ON;
  }

  private isTwoFoldDraw(node: NodeIndex, depth: number, { nodes, twoFoldDraws }: VisitPath): boolean {
    return twoFoldDraws && this.isRepetition(node, depth, nodes);
  }

  isRepetition(node: NodeIndex, depth: number, nodes: ArrayLike<number>): boolean {
    for (let earlier = depth - 4; earlier >= 0; earlier -= 2) {
      if (this.graph.isSamePosition(nodes[earlier], node)) return true;
    }
    return false;
  }

  /** Takes nothing back, because the position may still be a draw on other paths. The evaluator's answer will replace the edge's node. */
  reopenDraw(): number {
    return 0;
  }

  backUp(list: VisitList, at: number, leaf: NodeValue | null, sticky: boolean): boolean {
    return backUpInGraph(this, list, at, leaf, sticky);
  }

  getRepetitionVisits(record: RecordIndex): number {
    return this.graph.repetitionVisits[record];
  }

  beginWalk(): void {
    this.graph.beginWalk();
  }

  meetInWalk(node: NodeIndex): boolean {
    return this.graph.meetInWalk(node);
  }

  moveRootTo(edge: RecordIndex): void {
    const { nodeWords, recordWords } = this.store;
    const node = (edge === NO_RECORD ? NO_NODE : recordWords[edge * RECORD_WORDS + RECORD_NODE]) as NodeIndex;
    const stats = (node === NO_NODE ? NO_RECORD : nodeWords[node * NODE_WORDS + NODE_STATS]) as RecordIndex;
    // The new root is held before the old one is dropped, or it might be freed with it.
    if (stats !== NO_RECORD) this.graph.hold(node);
    this.releaseRoot(this.rootRecord);
    this.rootRecord = stats === NO_RECORD ? this.store.allocateBlock(0) : stats;
    if (this.rootRecord === NO_RECORD) this.clear();
    else if (stats === NO_RECORD) this.resetRecord(this.rootRecord, 1);
  }

  /** A root that has a node uses the node's STATS as its record; they are freed with the node. */
  releaseRoot(record: RecordIndex): void {
    const node = this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    if (node === NO_NODE) this.store.releaseBlock(record, 0);
    else this.drop(node);
  }
}
