/**
 * A tree without transpositions: every node has one parent edge, whose record holds the node's visits and values. Only one path
 * leads to a node, so what depends on the path, such as a draw by repetition, is stored in the node.
 */
import { backUp, revertTwoFold } from './backup.js';
import {
  END_OF_GAME,
  FORGOTTEN_BIT,
  getTerminalKind,
  NO_NODE,
  NO_RECORD,
  NODE_M,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  RECORD_IN_FLIGHT,
  RECORD_NODE,
  RECORD_P,
  RECORD_VISITS,
  RECORD_WORDS,
  type RecordIndex,
  TWO_FOLD_DRAW,
} from './layout.js';
import { type StoreOptions, TreeStore } from './store.js';
import { type NodeValue, Tree } from './tree.js';
import { GO_ON, LEAF, TERMINAL_VISIT, type VisitList, type VisitPath } from './visit-list.js';

export class PlainTree extends Tree {
  readonly graph = null;
  readonly hasOtherPaths = false;

  constructor(options: StoreOptions) {
    super(new TreeStore(options));
  }

  getStats(_node: NodeIndex, edge: RecordIndex): RecordIndex {
    return edge;
  }

  countHolders(): number {
    return 1;
  }

  findKnown(): NodeIndex {
    return NO_NODE;
  }

  setKey(): void {}

  introduce(node: NodeIndex, record: RecordIndex): boolean {
    const { nodeWords, recordWords } = this.store;
    // Earlier visits found no memory for the node: what they would have searched below it counts as forgotten.
    if (recordWords[record * RECORD_WORDS + RECORD_VISITS] > 0)
      nodeWords[node * NODE_WORDS + NODE_META] |= FORGOTTEN_BIT;
    return true;
  }

  chooseDrawKind(): number {
    return END_OF_GAME;
  }

  findEnd(child: NodeIndex, depth: number): number {
    const { nodeWords, nodeFloats } = this.store;
    const kind = getTerminalKind(nodeWords[child * NODE_WORDS + NODE_META]);
    if (kind === NOT_TERMINAL) return GO_ON;
    // Played moves shorten the path. If the cycle is longer than the path, the first occurrence now lies before the root.
    return kind === TWO_FOLD_DRAW && depth < nodeFloats[child * NODE_WORDS + NODE_M] ? LEAF : TERMINAL_VISIT;
  }

  reopenDraw(path: VisitPath, depth: number): number {
    return revertTwoFold(this, path, depth);
  }

  backUp(list: VisitList, at: number, leaf: NodeValue | null, sticky: boolean): boolean {
    return backUp(this, list, at, leaf, sticky);
  }

  isRepetition(): boolean {
    return false;
  }

  getRepetitionVisits(): number {
    return 0;
  }

  beginWalk(): void {}

  meetInWalk(): boolean {
    return true;
  }

  moveRootTo(edge: RecordIndex): void {
    const { recordWords, recordFloats } = this.store;
    const root = this.rootNode;
    const to = this.rootRecord;
    if (edge === NO_RECORD) {
      this.resetRecord(to, 1);
    } else {
      recordWords.copyWithin(to * RECORD_WORDS, edge * RECORD_WORDS, (edge + 1) * RECORD_WORDS);
      recordWords[to * RECORD_WORDS + RECORD_IN_FLIGHT] = 0;
      recordFloats[to * RECORD_WORDS + RECORD_P] = 1;
      recordWords[edge * RECORD_WORDS + RECORD_NODE] = NO_NODE;
    }
    if (root !== NO_NODE) this.drop(root);
  }

  releaseRoot(record: RecordIndex): void {
    const node = this.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
    this.store.releaseBlock(record, 0);
    if (node !== NO_NODE) this.drop(node);
  }
}
