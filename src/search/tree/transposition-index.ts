/**
 * The side tables of a graph: an index from positions to nodes, the number of edges that lead to each node, and how often
 * each edge ended in a draw by repetition. A node is found by its position's key and its tag (networks/leaves/node-tag.ts). The tag
 * holds the ply, so every edge leads one ply on, the graph has no cycles, and counting references suffices to free nodes. The
 * index is a linear hash table (Litwin 1980): it grows by one chain at a time, without a pause.
 *
 * | word of a node | meaning                                            |
 * |----------------|----------------------------------------------------|
 * | KEY_LOW, HIGH  | key of the position; terminals have one, too       |
 * | TAG            | see computeNodeTag                                    |
 * | HOLDERS        | edges and roots that lead to the node              |
 */
import { INDEXED_BIT, NO_NODE, NODE_META, NODE_NEXT, NODE_WORDS, type NodeIndex, type RecordIndex } from './layout.js';
import type { SideTables } from './store.js';

const INDEX_WORDS = 4;
const KEY_LOW = 0;
const KEY_HIGH = 1;
const TAG = 2;
const HOLDERS = 3;
const LAST_WALK = 255;
const FIRST_CHAINS = 1024;

export class TranspositionIndex implements SideTables {
  /** The words of a node, its chain, and the number of the walk that met it last. */
  readonly nodeBytes = INDEX_WORDS * 4 + 4 + 1;
  readonly recordBytes = 4;
  readonly recordShare = 0.6;
  /** By record: visits of an edge that ended in a draw by repetition on their path. */
  repetitionVisits: Int32Array = new Int32Array(0);
  /** Number of nodes in the index. */
  count = 0;

  private nodeWords: Int32Array = new Int32Array(0);
  private words: Int32Array = new Int32Array(0);
  private chains: Int32Array = new Int32Array(0);
  private chainCount = FIRST_CHAINS;
  /** By node: the number of the walk that met it last, 0 = none. Numbers start again after LAST_WALK. */
  private walks: Uint8Array = new Uint8Array(0);
  private walk = 0;

  prepareGrowth(nodeWords: Int32Array, nodeEnd: number, recordCapacity: number, recordEnd: number): () => void {
    const nodeCapacity = nodeWords.length / NODE_WORDS;
    const words = new Int32Array(nodeCapacity * INDEX_WORDS);
    const chains = new Int32Array(Math.max(nodeCapacity, FIRST_CHAINS));
    const repetitionVisits = new Int32Array(recordCapacity);
    const walks = new Uint8Array(nodeCapacity);
    words.set(this.words.subarray(0, nodeEnd * INDEX_WORDS));
    chains.set(this.chains.subarray(0, this.chainCount));
    repetitionVisits.set(this.repetitionVisits.subarray(0, recordEnd));
    walks.set(this.walks.subarray(0, nodeEnd));
    return () => {
      this.nodeWords = nodeWords;
      this.words = words;
      this.chains = chains;
      this.repetitionVisits = repetitionVisits;
      this.walks = walks;
    };
  }

  clear(): void {
    this.chains.fill(NO_NODE, 0, this.chainCount);
    this.chainCount = FIRST_CHAINS;
    this.count = 0;
  }

  resetRecord(record: RecordIndex): void {
    this.repetitionVisits[record] = 0;
  }

  copyRecords(to: RecordIndex, start: RecordIndex, end: number): void {
    this.repetitionVisits.copyWithin(to, start, end);
  }

  find(keyLow: number, keyHigh: number, tag: number): NodeIndex {
    const { words, nodeWords } = this;
    let node = this.chains[this.computeChain(keyLow, tag)];
    while (node !== NO_NODE) {
      const at = node * INDEX_WORDS;
      if (words[at + KEY_LOW] === keyLow && words[at + KEY_HIGH] === keyHigh && words[at + TAG] === tag) break;
      node = nodeWords[node * NODE_WORDS + NODE_NEXT];
    }
    return node as NodeIndex;
  }

  /** Writes the words of a new node, which no edge leads to yet, without putting it into the index. */
  describe(node: NodeIndex, keyLow: number, keyHigh: number, tag: number): void {
    const { words } = this;
    const at = node * INDEX_WORDS;
    words[at + KEY_LOW] = keyLow;
    words[at + KEY_HIGH] = keyHigh;
    words[at + TAG] = tag;
    words[at + HOLDERS] = 0;
    this.walks[node] = 0;
  }

  insert(node: NodeIndex): void {
    if (this.count++ >= this.chainCount && this.chainCount < this.chains.length) this.splitChain();
    const { nodeWords, chains } = this;
    const chain = this.computeChainOf(node);
    nodeWords[node * NODE_WORDS + NODE_NEXT] = chains[chain];
    nodeWords[node * NODE_WORDS + NODE_META] |= INDEXED_BIT;
    chains[chain] = node;
  }

  hold(node: NodeIndex): void {
    this.words[node * INDEX_WORDS + HOLDERS]++;
  }

  /** @returns whether it was the last holder; then the node is out of the index as well */
  release(node: NodeIndex): boolean {
    if (--this.words[node * INDEX_WORDS + HOLDERS] > 0) return false;
    if ((this.nodeWords[node * NODE_WORDS + NODE_META] & INDEXED_BIT) !== 0) this.remove(node);
    return true;
  }

  getHolders(node: NodeIndex): number {
    return this.words[node * INDEX_WORDS + HOLDERS];
  }

  /** Starts a walk over the graph, which has met no node yet. */
  beginWalk(): void {
    if (this.walk === LAST_WALK) {
      this.walks.fill(0);
      this.walk = 0;
    }
    this.walk++;
  }

  /** @returns whether this walk meets the node for the first time */
  meetInWalk(node: NodeIndex): boolean {
    if (this.walks[node] === this.walk) return false;
    this.walks[node] = this.walk;
    return true;
  }

  getTag(node: NodeIndex): number {
    return this.words[node * INDEX_WORDS + TAG];
  }

  isSamePosition(a: number, b: number): boolean {
    const { words } = this;
    return (
      words[a * INDEX_WORDS + KEY_LOW] === words[b * INDEX_WORDS + KEY_LOW] &&
      words[a * INDEX_WORDS + KEY_HIGH] === words[b * INDEX_WORDS + KEY_HIGH]
    );
  }

  /** Whether the index finds a node by its key; for tests. */
  knows(node: NodeIndex): boolean {
    const at = node * INDEX_WORDS;
    return this.find(this.words[at + KEY_LOW], this.words[at + KEY_HIGH], this.words[at + TAG]) === node;
  }

  private remove(node: NodeIndex): void {
    const { nodeWords, chains } = this;
    const chain = this.computeChainOf(node);
    const next = nodeWords[node * NODE_WORDS + NODE_NEXT];
    nodeWords[node * NODE_WORDS + NODE_META] &= ~INDEXED_BIT;
    this.count--;
    if (chains[chain] === node) {
      chains[chain] = next;
      return;
    }
    let before = chains[chain];
    while (nodeWords[before * NODE_WORDS + NODE_NEXT] !== node) before = nodeWords[before * NODE_WORDS + NODE_NEXT];
    nodeWords[before * NODE_WORDS + NODE_NEXT] = next;
  }

  /** Adds a chain and moves about half of the nodes of another one there. */
  private splitChain(): void {
    const { nodeWords, chains } = this;
    const added = this.chainCount++;
    const split = added - 2 ** (31 - Math.clz32(added));
    let node = chains[split];
    chains[split] = NO_NODE;
    chains[added] = NO_NODE;
    while (node !== NO_NODE) {
      const next = nodeWords[node * NODE_WORDS + NODE_NEXT];
      const chain = this.computeChainOf(node);
      nodeWords[node * NODE_WORDS + NODE_NEXT] = chains[chain];
      chains[chain] = node;
      node = next;
    }
  }

  private computeChainOf(node: number): number {
    return this.computeChain(this.words[node * INDEX_WORDS + KEY_LOW], this.words[node * INDEX_WORDS + TAG]);
  }

  private computeChain(keyLow: number, tag: number): number {
    const hash = (keyLow ^ Math.imul(tag, 0x9e3779b1)) >>> 0;
    const size = 2 ** (31 - Math.clz32(this.chainCount));
    const chain = hash & (2 * size - 1);
    return chain < this.chainCount ? chain : chain & (size - 1);
  }
}
