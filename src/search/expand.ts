/**
 * The second verb: an evaluator's answer becomes a node. It copies moves and priors, already sorted, out of the slot and
 * says what value goes up the tree. Draws, mates and tablebase hits were seen by the evaluator, which knows the rules.
 */
import { CHECKMATE, EVALUATED, FLAG_CACHE_HIT, FLAG_OF_PATH, MAX_EDGES, TABLEBASE, TWO_FOLD } from '../nn/index.js';
import { removePrior, writeTerminalValue } from './bounds.js';
import type { LeafChannel } from './leaf-channel.js';
import {
  DRAWN,
  END_OF_GAME,
  FORGOTTEN_BIT,
  LOSS,
  NO_NODE,
  NODE_META,
  NODE_WORDS,
  NOT_TERMINAL,
  type NodeIndex,
  packBounds,
  packEdge,
  RECORD_M,
  RECORD_VISITS,
  RECORD_WORDS,
  type RecordIndex,
  TABLEBASE_END,
  TWO_FOLD_DRAW,
  UNKNOWN_BOUNDS,
  WIN,
} from './tree/layout.js';
import { NO_EDGES } from './tree/store.js';
import type { Tree } from './tree/tree.js';
import { rescaled, rescaleWdl, type WdlRescale } from './wdl-rescale.js';

export class Expander {
  /** Value of the last leaf in its record's view. */
  wl = 0;
  d = 0;
  m = 0;
  /** Whether the last answer came from the network itself. */
  isNetworkEvaluation = false;
  isTablebaseHit = false;

  private readonly tree: Tree;
  private readonly channel: LeafChannel;
  private rescale: WdlRescale | null = null;
  /** +1 when contempt favours the root's mover, -1 when it favours the other side. */
  private contemptSign = 1;

  constructor(tree: Tree, channel: LeafChannel) {
    this.tree = tree;
    this.channel = channel;
  }

  /** @param rescale null when contempt changes nothing */
  beginSearch(rescale: WdlRescale | null, contemptSign: number): void {
    this.rescale = rescale;
    this.contemptSign = contemptSign;
  }

  /**
   * Stores the answer of a slot. When memory is full the value still counts, and the record stays a leaf.
   * @param parent,child the step that leads to the leaf; parent is NO_NODE for the root
   */
  expand(
    slot: number,
    record: RecordIndex,
    depth: number,
    parent: NodeIndex,
    parentRecord: RecordIndex,
    child: number,
  ): void {
    const { tree, channel } = this;
    const kind = channel.kind[slot];
    this.isNetworkEvaluation = false;
    this.isTablebaseHit = false;
    if (kind === EVALUATED) {
      this.isNetworkEvaluation = (channel.flags[slot] & FLAG_CACHE_HIT) === 0;
      this.expandEvaluated(slot, record, depth);
      return;
    }
    if (tree.graph !== null) tree.unlink(record);
    let terminalKind = END_OF_GAME;
    let result = DRAWN;
    let m = 0;
    if (kind === CHECKMATE) {
      result = WIN;
    } else if (kind === TWO_FOLD || (tree.graph !== null && (channel.flags[slot] & FLAG_OF_PATH) !== 0)) {
      terminalKind = TWO_FOLD_DRAW;
      m = channel.movesLeft[slot];
    } else if (kind === TABLEBASE) {
      this.isTablebaseHit = true;
      terminalKind = TABLEBASE_END;
      result = -Math.sign(channel.valueWl[slot]);
      const { recordFloats } = tree.store;
      m = parent === NO_NODE ? 0 : Math.max(0, recordFloats[parentRecord * RECORD_WORDS + RECORD_M] - 1);
    }
    this.wl = result;
    this.d = result === DRAWN ? 1 : 0;
    this.m = m;
    const bounds = terminalKind === TWO_FOLD_DRAW ? UNKNOWN_BOUNDS : packBounds(result, result);
    const node = tree.createNode(this.wl, this.d, m, terminalKind, bounds);
    if (node === NO_NODE) return;
    tree.graph?.describe(node, channel.keyLow[slot], channel.keyHigh[slot], channel.tag[slot]);
    tree.link(record, node);
    writeTerminalValue(tree, record, result, m);
    if (result === LOSS && parent !== NO_NODE) removePrior(tree, parent, child);
  }

  private expandEvaluated(slot: number, record: RecordIndex, depth: number): void {
    const { tree, channel } = this;
    this.wl = -channel.valueWl[slot];
    this.d = channel.valueD[slot];
    this.m = channel.movesLeft[slot];
    if (this.rescale !== null) {
      // The record of the root is in the view of the other side.
      const sign = (depth & 1) === 0 ? -this.contemptSign : this.contemptSign;
      rescaleWdl(this.wl, this.d, this.rescale, sign);
      this.wl = rescaled.wl;
      this.d = rescaled.d;
    }
    const { graph } = tree;
    if (graph !== null) {
      // A draw by repetition on another path, if anything.
      tree.unlink(record);
      const known = depth === 0 ? NO_NODE : graph.find(channel.keyLow[slot], channel.keyHigh[slot], channel.tag[slot]);
      if (known !== NO_NODE) {
        tree.link(record, known);
        return;
      }
    }
    const node = tree.createNode(this.wl, this.d, this.m, NOT_TERMINAL, UNKNOWN_BOUNDS);
    if (node === NO_NODE) return;
    const count = channel.edgeCount[slot];
    const first = tree.createEdges(node, count);
    if (first === NO_EDGES) {
      tree.store.releaseNode(node);
      return;
    }
    const { edges, recordWords } = tree.store;
    const { edgeMoves, edgePriors } = channel;
    const from = slot * MAX_EDGES;
    for (let i = 0; i < count; i++) edges[first + i] = packEdge(edgeMoves[from + i], edgePriors[from + i]);
    if (graph !== null) {
      if (!tree.share(node, depth === 0, channel.keyLow[slot], channel.keyHigh[slot], channel.tag[slot])) {
        tree.store.releaseEdges(first, count);
        tree.store.releaseNode(node);
        return;
      }
    } else if (recordWords[record * RECORD_WORDS + RECORD_VISITS] > 0) {
      // Earlier visits found no memory: what they would have had below it is as good as forgotten.
      tree.store.nodeWords[node * NODE_WORDS + NODE_META] |= FORGOTTEN_BIT;
    }
    tree.link(record, node);
  }
}
