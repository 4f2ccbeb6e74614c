/**
 * Entry of the search thread: one Search, driven by messages. It blocks while it searches (see drive.ts), so messages
 * other than the control words wait until the best move is out. An exception ends the search with an error and, if the
 * tree allows, a best move; the tree is dropped then.
 */
import { parentPort } from 'node:worker_threads';
import { LeafQueue, type SharedPoolHandle } from '../nn/index.js';
import { createPrng, drawSeed } from '../util/index.js';
import { driveSearch } from './drive.js';
import { computeTreeBytes } from './memory-limit.js';
import { defaultSearchParams, type SearchParams } from './params.js';
import { type Batching, Search, type SearchListener } from './search.js';
import {
  type FromSearch,
  NO_SEARCH,
  type PositionMessage,
  type SearchLimits,
  type ToSearch,
} from './search-protocol.js';
import { SearchControl } from './stop-flag.js';
import { dumpTree } from './tree-dump.js';

/** The engine's one game uses the first row of the evaluators' root table. */
const ROOT_ROW = 0;
const GARBAGE_SLICE = 5000;

interface Attachment {
  readonly pool: SharedPoolHandle;
  readonly queue: LeafQueue;
  readonly control: SearchControl;
}

let attachment: Attachment | null = null;
let params: SearchParams = defaultSearchParams;
let search: Search | null = null;
let position: PositionMessage | null = null;

function post(message: FromSearch): void {
  parentPort?.postMessage(message);
}

function computeBatching(pool: SharedPoolHandle): Batching {
  // What was asked for may be more than fits the processor that stands in for a device.
  const minibatch = Math.min(params.minibatchSize || pool.minibatch, pool.minibatch);
  const isSequential = pool.workers === 1 && minibatch === 1;
  const wanted = params.batchesInFlight || pool.batchesInFlight || (isSequential ? 1 : pool.workers + 1);
  return { minibatch, batchesInFlight: Math.max(1, Math.min(wanted, Math.floor(pool.slotCount / minibatch))) };
}

function createSearch({ pool, queue }: Attachment): Search {
  const created = new Search(
    {
      channel: queue,
      rootRow: ROOT_ROW,
      store: { maxBytes: computeTreeBytes(params) },
      random: createPrng(drawSeed()),
      clock: () => performance.timeOrigin + performance.now(),
    },
    params,
    computeBatching(pool),
  );
  if (position !== null) created.setPosition(position);
  return created;
}

function configure(next: SearchParams): void {
  const isOtherMemory = next.ramLimitMb !== params.ramLimitMb;
  params = next;
  if (search === null || attachment === null) return;
  if (isOtherMemory) search = null;
  else search.configure(params, computeBatching(attachment.pool));
}

function go(id: number, limits: SearchLimits): void {
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
    search ??= createSearch(attachment);
    const { queue, control } = attachment;
    driveSearch({ search, channel: queue, control, id, limits, listener });
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

/** Frees what the played moves have dropped while nobody is waiting. */
function tidyUp(): void {
  if (search === null || !search.tree.hasGarbage) return;
  search.tree.collectGarbage(GARBAGE_SLICE);
  setImmediate(tidyUp);
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function receive(message: ToSearch): void {
  switch (message.type) {
    case 'attach':
      attachment = {
        pool: message.pool,
        queue: LeafQueue.attach(message.pool),
        control: new SearchControl(message.control),
      };
      search = null;
      post({ type: 'ready' });
      break;
    case 'configure':
      configure(message.params);
      break;
    case 'position':
      position = message;
      if (search === null) break;
      search.setPosition(message);
      setImmediate(tidyUp);
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
      go(message.id, message.limits);
      setImmediate(tidyUp);
      break;
  }
}

parentPort?.on('message', (message: ToSearch) => {
  try {
    receive(message);
  } catch (error) {
    post({ type: 'error', id: NO_SEARCH, text: describe(error) });
  }
});
