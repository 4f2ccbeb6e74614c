/**
 * Entry of the search thread: one TreeSearch, driven by messages. The thread blocks while it searches, so messages wait until
 * the best move is out; only the stop flag gets through. An exception ends the search with an error message and, if the
 * tree has one, a best move; then the tree is dropped.
 */
import { onParentMessage, postToParent, runNextTurn } from '#platform/threads.js';
import { createPrng, drawSeed } from '../../base/util/index.js';
import { LeafQueue, type SharedPoolHandle } from '../../networks/leaves/index.js';
import type { SearchParams } from '../protocol/params.js';
import { type FromSearch, NO_SEARCH, type SearchOrder, StopFlag, type ToSearch } from '../protocol/search-protocol.js';
import { dumpTree } from '../report/tree-dump.js';
import { computeTreeBytes } from '../root/game-tree.js';
import { type SearchListener, TreeSearch } from '../search.js';
import type { Batching } from '../visit/pipeline.js';

/** Row of the evaluators' root table: the engine plays one game and needs only the first. */
const ROOT_ROW = 0;
const GARBAGE_SLICE = 5000;
/** In a large tree: an evaluator works on one, and two are ready for it. */
const BATCHES_PER_EVALUATOR = 3;

interface Attachment {
  readonly pool: SharedPoolHandle;
  readonly queue: LeafQueue;
  readonly stopFlag: StopFlag;
}

let attachment: Attachment | null = null;
let search: TreeSearch | null = null;
/** The RamLimitMb with which `search` was created. */
let ramLimitMb = 0;

function post(message: FromSearch): void {
  postToParent(message);
}

function computeBatching(pool: SharedPoolHandle, params: SearchParams): Batching {
  // When evaluation has fallen back to the CPU, the pool's minibatch may be smaller than the option.
  const minibatch = Math.min(params.minibatchSize || pool.minibatch, pool.minibatch);
  const isSequential = pool.workers === 1 && minibatch === 1;
  const fits = (count: number): number => Math.max(1, Math.min(count, Math.floor(pool.slotCount / minibatch)));
  const least = params.batchesInFlight || (isSequential ? 1 : pool.workers + 1);
  // The user's own number is kept in a large tree too.
  const isFixed = isSequential || params.batchesInFlight > 0;
  const most = isFixed ? least : Math.max(least, BATCHES_PER_EVALUATOR * pool.workers);
  const batching = { minibatch, batchesInFlight: fits(least), mostBatchesInFlight: fits(most) };
  // Only if the user has set a minibatch of 1: a slow backend's default of 1 does not ask for lc0's visits.
  const isLc0Like = isSequential && params.minibatchSize === 1 && params.search === 'tree';
  if (!isLc0Like) return batching;
  return { ...batching, prefetch: params.maxPrefetch, solidTree: params.solidTreeThreshold };
}

function createSearch({ pool, queue }: Attachment, params: SearchParams): TreeSearch {
  return new TreeSearch(
    {
      channel: queue,
      rootRow: ROOT_ROW,
      store: { maxBytes: computeTreeBytes(params, pool.reservedBytes) },
      random: createPrng(drawSeed()),
      clock: () => performance.timeOrigin + performance.now(),
    },
    params,
    computeBatching(pool, params),
  );
}

/** Keeps the search and its tree, unless RamLimitMb has changed: a tree cannot change its limit. */
function prepareSearch(attached: Attachment, { params, position }: SearchOrder): TreeSearch {
  if (search === null || params.ramLimitMb !== ramLimitMb) search = createSearch(attached, params);
  else search.configure(params, computeBatching(attached.pool, params));
  ramLimitMb = params.ramLimitMb;
  search.setPosition(position);
  return search;
}

function go(id: number, order: SearchOrder): void {
  let hasAnswered = false;
  const listener: SearchListener = {
    onInfo: (info) => post({ type: 'info', id, info }),
    onStats: (rows, node) => post({ type: 'stats', id, rows, node }),
    onBudget: (limitMs) => post({ type: 'budget', id, limitMs }),
    onWarning: (text) => post({ type: 'warning', id, text }),
    onBestMove: (move, ponder) => {
      hasAnswered = true;
      post({ type: 'bestMove', id, move, ponder });
    },
  };
  try {
    if (attachment === null) throw new Error('The search has no evaluators');
    const running = prepareSearch(attachment, order);
    running.start(order.limits, listener);
    run(running, attachment, id);
  } catch (error) {
    post({ type: 'error', id, text: `The search failed: ${describe(error)}` });
    try {
      search?.giveUp();
    } catch {
      search = null;
    }
    if (!hasAnswered) listener.onBestMove(0, 0);
  }
}

/** Steps a search until it has answered, and sleeps while only the evaluators have work. */
function run(running: TreeSearch, { queue, stopFlag }: Attachment, id: number): void {
  for (;;) {
    // Read before looking at slots: an answer that comes in between changes the word, and the thread does not sleep.
    const seen = Atomics.load(queue.event, 0);
    if (stopFlag.isRaisedFor(id)) running.stop();
    const result = running.step();
    if (result === 'done') return;
    if (result !== 'worked') queue.waitForEvent(seen, running.maxWaitMs);
  }
}

/** Frees, between two searches, what the played moves have dropped. */
function tidyUp(): void {
  if (search === null || !search.tree.hasGarbage) return;
  search.tree.collectGarbage(GARBAGE_SLICE);
  runNextTurn(tidyUp);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function receive(message: ToSearch): void {
  switch (message.type) {
    case 'attach':
      attachment = {
        pool: message.pool,
        queue: new LeafQueue(message.pool),
        stopFlag: new StopFlag(message.stopFlag),
      };
      search = null;
      post({ type: 'ready' });
      break;
    case 'newGame':
      search?.newGame();
      break;
    case 'clearTree':
      search?.clearTree();
      break;
    case 'dumpTree': {
      const hasMovesLeft = attachment?.queue.hasMovesLeft ?? false;
      post({ type: 'tree', tree: search === null ? null : dumpTree(search.tree, message.limits, hasMovesLeft) });
      break;
    }
    case 'go':
      go(message.id, message);
      runNextTurn(tidyUp);
      break;
  }
}

onParentMessage((message: ToSearch) => {
  try {
    receive(message);
  } catch (error) {
    post({ type: 'error', id: NO_SEARCH, text: describe(error) });
  }
});
