/**
 * The third verb, expand: makes a node of an evaluator's answer. It copies moves and priors, which the evaluator has sorted,
 * out of the slot, and returns the value to back up. The evaluator has also found draws, mates and tablebase hits.
 */
import {
  CHECKMATE,
  EVALUATED,
  FLAG_CACHE_HIT,
  FLAG_OF_PATH,
  type LeafColumns,
  MAX_EDGES,
  TABLEBASE,
  TWO_FOLD,
} from '../../networks/leaves/index.js';
import type { Contempt } from '../formulas/contempt.js';
import { rescaled, rescaleWdl, type WdlRescale } from '../formulas/wdl-rescale.js';
import { getLeafRecord, getStepRecord } from '../tree/backup.js';
import {
  DRAWN,
  END_OF_GAME,
  LOSS,
  NO_NODE,
  NOT_TERMINAL,
  type NodeIndex,
  packBounds,
  packEdge,
  type RecordIndex,
  TABLEBASE_END,
  TWO_FOLD_DRAW,
  UNKNOWN_BOUNDS,
  WIN,
} from '../tree/layout.js';
import { removePrior, writeTerminalValue } from '../tree/proven-results.js';
import { getRecordM } from '../tree/read-tree.js';
import { NO_EDGES } from '../tree/store.js';
import type { NodeKey, NodeValue, Tree } from '../tree/tree.js';
import { ITEM_DEPTH, ITEM_PATH, ITEM_SLOT, type VisitList } from '../tree/visit-list.js';
import type { MoveFilter } from './move-rules.js';

/** The value of an expanded leaf, and where it comes from. */
export class Expansion implements NodeValue {
  wl = 0;
  d = 0;
  m = 0;
  /** The network was run for this leaf: the answer comes neither from the rules nor from the cache. */
  isNetworkEvaluation = false;
  isTablebaseHit = false;
  /** It has become a node with moves: neither an end of the game nor a node that another path has made. */
  growsTree = false;
}

export class Expander {
  /** The result of `expand`, reused for every leaf. */
  private readonly expansion = new Expansion();
  private readonly key: NodeKey = { low: 0, high: 0, tag: 0 };
  private rescale: WdlRescale | null = null;
  /** +1 when contempt favours the root's mover, -1 when it favours the other side. */
  private contemptSign = 1;
  private filter: MoveFilter | null = null;

  constructor(
    private readonly tree: Tree,
    private readonly columns: LeafColumns,
  ) {}

  /** @param filter null when all moves are searched */
  beginSearch({ rescale, sign }: Contempt, filter: MoveFilter | null): void {
    this.rescale = rescale;
    this.contemptSign = sign;
    this.filter = filter;
  }

  /**
   * Makes a node of the answer to the leaf at `at` of a list. When memory is full, the record stays a leaf and the returned
   * value still counts.
   * @returns an object that the next call overwrites
   */
  expand(list: VisitList, at: number): Readonly<Expansion> {
    const { columns, expansion, key } = this;
    const slot = list.data[at + ITEM_SLOT];
    key.low = columns.keyLow[slot];
    key.high = columns.keyHigh[slot];
    key.tag = columns.tag[slot];
    const isEvaluated = columns.kind[slot] === EVALUATED;
    expansion.isNetworkEvaluation = isEvaluated && (columns.flags[slot] & FLAG_CACHE_HIT) === 0;
    expansion.growsTree = false;
    expansion.isTablebaseHit = columns.kind[slot] === TABLEBASE;
    const record = getLeafRecord(this.tree, list, at);
    // In a graph the edge may lead to a node already: a position that is a draw by repetition, but not on this path.
    this.tree.unlink(record);
    if (isEvaluated) this.expandEvaluated(slot, record, list.data[at + ITEM_DEPTH]);
    else this.expandEnd(slot, record, list, at);
    return expansion;
  }

  /** For an answer that ends the line: mate, draw or tablebase hit. */
  private expandEnd(slot: number, record: RecordIndex, list: VisitList, at: number): void {
    const { tree, columns, expansion, key } = this;
    const depth = list.data[at + ITEM_DEPTH];
    const kind = columns.kind[slot];
    let terminalKind = END_OF_GAME;
    let result = DRAWN;
    let m = 0;
    if (kind === CHECKMATE) {
      result = WIN;
    } else if (kind === TABLEBASE) {
      terminalKind = TABLEBASE_END;
      result = -Math.sign(columns.valueWl[slot]);
      if (depth > 0) {
        const parent = getStepRecord(tree, list, at, depth - 1);
        m = Math.max(0, getRecordM(tree, parent) - 1);
      }
    } else {
      const isOfPath = (columns.flags[slot] & FLAG_OF_PATH) !== 0;
      terminalKind = kind === TWO_FOLD ? TWO_FOLD_DRAW : tree.chooseDrawKind(isOfPath);
      if (terminalKind === TWO_FOLD_DRAW) m = columns.movesLeft[slot];
    }
    expansion.wl = result;
    expansion.d = result === DRAWN ? 1 : 0;
    expansion.m = m;
    const bounds = terminalKind === TWO_FOLD_DRAW ? UNKNOWN_BOUNDS : packBounds(result, result);
    const node = tree.createNode(result, expansion.d, m, terminalKind, bounds);
    if (node === NO_NODE) return;
    tree.setKey(node, key);
    tree.link(record, node);
    writeTerminalValue(tree, record, result, m);
    if (result === LOSS && depth > 0) {
      const last = at + ITEM_PATH + 2 * (depth - 1);
      removePrior(tree, list.data[last] as NodeIndex, list.data[last + 1]);
    }
  }

  private expandEvaluated(slot: number, record: RecordIndex, depth: number): void {
    const { tree, columns, expansion, key } = this;
    expansion.wl = -columns.valueWl[slot];
    expansion.d = columns.valueD[slot];
    expansion.m = columns.movesLeft[slot];
    if (this.rescale !== null) {
      // The root's record is in the view of the player who is not to move.
      const sign = (depth & 1) === 0 ? -this.contemptSign : this.contemptSign;
      rescaleWdl(expansion.wl, expansion.d, this.rescale, sign);
      expansion.wl = rescaled.wl;
      expansion.d = rescaled.d;
    }
    const known = depth === 0 ? NO_NODE : tree.findKnown(key);
    if (known !== NO_NODE) {
      tree.link(record, known);
      return;
    }
    if (this.filter !== null) {
      columns.edgeCount[slot] = this.filter.apply(columns, slot * MAX_EDGES, columns.edgeCount[slot], depth);
    }
    const node = tree.createNode(expansion.wl, expansion.d, expansion.m, NOT_TERMINAL, UNKNOWN_BOUNDS);
    if (node === NO_NODE) return;
    const first = this.copyEdges(slot, node);
    if (first === NO_EDGES) {
      tree.store.releaseNode(node);
      return;
    }
    if (!tree.introduce(node, record, key)) {
      tree.store.releaseEdges(first, columns.edgeCount[slot]);
      tree.store.releaseNode(node);
      return;
    }
    tree.link(record, node);
    expansion.growsTree = true;
  }

  /** @returns the first edge of the node; NO_EDGES when memory is full */
  private copyEdges(slot: number, node: NodeIndex): number {
    const { tree, columns } = this;
    const count = columns.edgeCount[slot];
    const first = tree.createEdges(node, count);
    if (first === NO_EDGES) return NO_EDGES;
    const { edges } = tree.store;
    const { edgeMoves, edgePriors } = columns;
    const from = slot * MAX_EDGES;
    for (let i = 0; i < count; i++) edges[first + i] = packEdge(edgeMoves[from + i], edgePriors[from + i]);
    return first;
  }
}
