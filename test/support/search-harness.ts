/** Runs a TreeSearch over a fake channel from start to best move, and reads its tree back as plain objects. */

import assert from 'node:assert/strict';
import { createPrng } from '#sardonyx/base/util/index.js';
import type { MoveStats, PositionMessage } from '#sardonyx/search/index.js';
import {
  type Batching,
  defaultSearchParams,
  type SearchInfo,
  type SearchLimits,
  type SearchParams,
  TreeSearch,
} from '#sardonyx/search/index.js';
import {
  getChildCount,
  getTerminalKind,
  NO_NODE,
  NODE_BLOCK,
  NODE_META,
  NODE_WORDS,
  type NodeIndex,
  RECORD_D,
  RECORD_DOUBLES,
  RECORD_M,
  RECORD_NODE,
  RECORD_VISITS,
  RECORD_WL,
  RECORD_WORDS,
  type RecordIndex,
} from '#sardonyx/search/tree/layout.js';
import { getMove } from '#sardonyx/search/tree/read-tree.js';
import type { FakeLeafChannel } from './fake-leaf-channel.js';
import { verifyTree } from './verify-tree.js';

export interface HarnessOptions {
  readonly params?: Partial<SearchParams>;
  readonly minibatch?: number;
  readonly batchesInFlight?: number;
  readonly mostBatchesInFlight?: number;
  readonly prefetch?: number;
  readonly maxBytes?: number;
  readonly initialNodes?: number;
  /** Milliseconds that pass at each look at the clock. */
  readonly tickMs?: number;
  readonly seed?: number;
}

export interface Outcome {
  readonly move: number;
  readonly ponder: number;
  readonly infos: readonly SearchInfo[];
  readonly warnings: readonly string[];
  readonly rows: readonly MoveStats[];
}

export interface PlainNode {
  readonly move: number;
  readonly visits: number;
  readonly wl: number;
  readonly d: number;
  readonly m: number;
  readonly terminal: number;
  readonly children: readonly PlainNode[];
}

export class SearchHarness {
  readonly search: TreeSearch;
  readonly channel: FakeLeafChannel;
  readonly played: number[] = [];
  blackToMove = false;
  now = 1000;
  private readonly params: SearchParams;
  private readonly batching: Batching;

  constructor(channel: FakeLeafChannel, options: HarnessOptions = {}) {
    this.channel = channel;
    this.params = { ...defaultSearchParams, ...options.params };
    const { minibatch = 1, batchesInFlight = 1, mostBatchesInFlight = batchesInFlight, prefetch = 0 } = options;
    this.batching = { minibatch, batchesInFlight, mostBatchesInFlight, prefetch };
    this.search = new TreeSearch(
      {
        channel,
        rootRow: 0,
        store: { maxBytes: options.maxBytes ?? 64 << 20, initialNodes: options.initialNodes ?? 1000 },
        random: createPrng(options.seed ?? 1),
        clock: () => (this.now += options.tickMs ?? 0),
      },
      this.params,
      this.batching,
    );
    this.setPosition();
  }

  configure(changes: Partial<SearchParams>, batching: Batching = this.batching): void {
    this.search.configure({ ...this.params, ...changes }, batching);
  }

  setPosition(changes: Partial<PositionMessage> = {}): boolean {
    return this.search.setPosition({
      rootFen: 'start',
      chess960: false,
      moves: [...this.played],
      blackToMove: this.blackToMove,
      gamePly: this.played.length,
      pliesSinceRepetition: Number.POSITIVE_INFINITY,
      ...changes,
    });
  }

  play(...moves: number[]): boolean {
    this.played.push(...moves);
    if (moves.length % 2 === 1) this.blackToMove = !this.blackToMove;
    return this.setPosition();
  }

  /** The tree must obey its laws after every search. @param onStep called after each step, for instance to stop */
  run(limits: Partial<SearchLimits>, onStep: (search: TreeSearch, steps: number) => void = () => undefined): Outcome {
    const infos: SearchInfo[] = [];
    const warnings: string[] = [];
    let rows: readonly MoveStats[] = [];
    let answer: { move: number; ponder: number } | null = null;
    this.search.start(
      { startedAtMs: this.now, ...limits },
      {
        onInfo: (info) => infos.push(info),
        onStats: (stats) => {
          rows = stats;
        },
        onWarning: (text) => warnings.push(text),
        onBestMove: (move, ponder) => {
          if (answer !== null) throw new Error('Two best moves');
          answer = { move, ponder };
        },
      },
    );
    for (let steps = 0; this.search.step() !== 'done'; steps++) {
      onStep(this.search, steps);
      if (steps > 5_000_000) throw new Error('The search does not end');
    }
    if (answer === null) throw new Error('No best move');
    assert.deepEqual(verifyTree(this.search.tree).faults, []);
    return { ...(answer as { move: number; ponder: number }), infos, warnings, rows };
  }

  readTree(): PlainNode {
    const { tree } = this.search;
    const { nodeWords, recordWords, recordFloats, recordDoubles } = tree.store;
    const read = (record: RecordIndex, move: number): PlainNode => {
      const at = record * RECORD_WORDS;
      const node = recordWords[at + RECORD_NODE] as NodeIndex;
      const meta = node === NO_NODE ? 0 : nodeWords[node * NODE_WORDS + NODE_META];
      const block = node === NO_NODE ? 0 : nodeWords[node * NODE_WORDS + NODE_BLOCK];
      const children = Array.from({ length: getChildCount(meta) }, (_, i) =>
        read((block + i) as RecordIndex, getMove(tree, node, i)),
      );
      return {
        move,
        visits: recordWords[at + RECORD_VISITS],
        wl: recordDoubles[record * RECORD_DOUBLES + RECORD_WL],
        d: recordFloats[at + RECORD_D],
        m: recordFloats[at + RECORD_M],
        terminal: getTerminalKind(meta),
        children: children.filter(({ visits }) => visits > 0),
      };
    };
    return read(tree.rootRecord, 0);
  }
}
