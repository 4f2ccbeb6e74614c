/**
 * The shared memory between the search thread (the producer of leaves) and the evaluator threads: a table of leaf slots, the
 * ring buffer that hands them over, and the words on which both sides sleep. This file defines the layout and the meaning of
 * each column; the producer's side is leaf-queue.ts, the evaluators' side leaf-claims.ts.
 *
 * Life of a slot (column `state`):
 *
 *      producer          an evaluator         the same evaluator       producer
 *   FREE ── send ──► SUBMITTED ── claim ──► CLAIMED ── answer ──► DONE ── release ──► FREE
 *
 * | column     | type            | written by            | read by   | when it may be read                          |
 * |------------|-----------------|-----------------------|-----------|----------------------------------------------|
 * | state      | Int32, atomic   | both, see the picture | both      | always                                       |
 * | owner      | Uint8           | evaluator, on claim   | evaluator | state CLAIMED: index of the evaluator        |
 * | root       | Uint16          | producer              | evaluator | from SUBMITTED on: row of the root table     |
 * | pathLength | Uint16          | producer              | evaluator | from SUBMITTED on: plies from the root       |
 * | pathMoves  | Uint16 × path   | producer              | evaluator | from SUBMITTED on                            |
 * | prefetch   | Uint8           | producer              | evaluator | from SUBMITTED on: 1 = for the cache alone, if |
 * |            |                 |                       |           | the last leaf with 0 was evaluated             |
 * | number     | Int32           | producer              | evaluator | from SUBMITTED on: its ring position; they grow|
 * | horizon    | Int32           | producer              | evaluator | from SUBMITTED on: all leaves with lower       |
 * |            |                 |                       |           | numbers were released before it was submitted  |
 * | kind       | Uint8           | evaluator             | producer  | state DONE (so have all columns below)       |
 * | flags      | Uint8           | evaluator             | producer  | FLAG_… bits                                  |
 * | valueWl    | Float32         | evaluator             | producer  | W − L, view of the player to move in the leaf|
 * | valueD     | Float32         | evaluator             | producer  | probability of a draw                        |
 * | movesLeft  | Float32         | evaluator             | producer  | plies to the end, 0 when not known; of a draw|
 * |            |                 |                       |           | by repetition inside the path: of the cycle  |
 * | edgeCount  | Uint16          | evaluator             | producer  | number of legal moves; 0 for terminals       |
 * | edgeMoves  | Uint16 × 256    | evaluator             | producer  | sorted by prior, descending                  |
 * | edgePriors | Uint16 × 256    | evaluator             | producer  | codes of edge-priors.ts, sorted descending   |
 * | keyLow/High| Int32           | evaluator             | producer  | the position's 64-bit key                    |
 * | tag        | Int32           | evaluator             | producer  | see node-tag.ts; with the key: which node       |
 * | ring       | Int32           | producer, on send     | evaluator | positions CLAIMED_WORD … SUBMITTED_WORD − 1  |
 * | live       | Int32, atomic   | evaluator, own entry  | anyone    | always: 1 = it can evaluate, see             |
 * |            |                 |                       |           | LiveEvaluators                               |
 * | settings   | Float64         | the pool              | evaluator | between batches; SETTING_… indices           |
 * | counters   | Float64         | evaluator, own line   | anyone    | always                                       |
 *
 * `state` is stored with Atomics after the plain columns, so a thread that sees the new state also sees the columns.
 * Control words are 64 bytes apart, so that writing one does not slow down the readers of another (false sharing).
 */
import { MAX_MOVES } from '../../chess/rules/index.js';

export const FREE = 0;
export const SUBMITTED = 1;
export const CLAIMED = 2;
export const DONE = 3;

/** What a leaf turned out to be (column `kind`). */
export const EVALUATED = 0;
export const CHECKMATE = 1;
/** Stalemate, insufficient material, fifty moves or threefold repetition. */
export const DRAW = 2;
/** Second occurrence inside the search path. */
export const TWO_FOLD = 3;
export const TABLEBASE = 4;
/** No evaluator could answer, not even on the CPU. The values are those of a draw, and there are no edges. */
export const FAILED = 5;

export const FLAG_CACHE_HIT = 1;
/** The draw follows from the fifty-move rule or a repetition, so it holds for this path only. */
export const FLAG_OF_PATH = 2;

export const MAX_EDGES = MAX_MOVES;
export const MAX_PATH_LENGTH = 1024;

/** Indices into `control`. */
const WORDS_PER_LINE = 16;
/** Ring positions handed over so far; wraps at 2^32. Written by the producer. */
export const SUBMITTED_WORD = 0 * WORDS_PER_LINE;
/** Ring positions claimed so far. Evaluators advance it by compare-and-exchange. */
export const CLAIMED_WORD = 1 * WORDS_PER_LINE;
/** Increased by evaluators after answers, and by any thread that wakes the producer. The producer sleeps on it. */
export const EVENT_WORD = 2 * WORDS_PER_LINE;
/** Number of evaluators asleep or about to sleep. */
export const SLEEPERS_WORD = 3 * WORDS_PER_LINE;
/** 1 while the producer is asleep or about to sleep. */
export const PRODUCER_WAITS_WORD = 4 * WORDS_PER_LINE;
/** 1 = evaluators must end. */
export const STOP_WORD = 5 * WORDS_PER_LINE;
/** Largest number of positions in one network call. */
export const MINIBATCH_WORD = 6 * WORDS_PER_LINE;
/** Increased by flush and stop. Idle evaluators sleep on it. */
export const WORK_WORD = 7 * WORDS_PER_LINE;
/** Increased when the set of threads that can evaluate changes. Threads that cannot evaluate sleep on it. */
export const LIVE_CHANGES_WORD = 8 * WORDS_PER_LINE;
const CONTROL_WORDS = 9 * WORDS_PER_LINE;

/** `counters` has a row of 8 doubles for each evaluator, which only that evaluator writes. */
export const COUNTERS_PER_WORKER = 8;
export const COUNT_EVALUATIONS = 0;
export const COUNT_BATCHES = 1;
export const COUNT_TERMINALS = 2;

export const SETTING_POLICY_TEMPERATURE = 0;
/** Index into HISTORY_FILLS (options.ts). */
export const SETTING_HISTORY_FILL = 1;
const SETTINGS = 8;

export interface LeafSlotsShape {
  /** A power of two. The ring has the same length, so it cannot overflow. */
  readonly slotCount: number;
  readonly workers: number;
}

/** A typed array's constructor. */
interface ArrayType {
  readonly BYTES_PER_ELEMENT: number;
  readonly prototype: object;
  new (buffer: SharedArrayBuffer, offset: number, length: number): object;
}
type Count = (shape: LeafSlotsShape) => number;
type Columns = Readonly<Record<string, readonly [type: ArrayType, countElements: Count]>>;

const perSlot =
  (width = 1): Count =>
  ({ slotCount }) =>
    width * slotCount;
const perWorker =
  (width = 1): Count =>
  ({ workers }) =>
    width * workers;

/** The columns in the order of the buffer; the table above says what they mean. First those with which threads meet and leaves travel. */
const MEETING_COLUMNS = {
  control: [Int32Array, () => CONTROL_WORDS],
  live: [Int32Array, perWorker()],
  settings: [Float64Array, () => SETTINGS],
  counters: [Float64Array, perWorker(COUNTERS_PER_WORKER)],
  ring: [Int32Array, perSlot()],
  state: [Int32Array, perSlot()],
  owner: [Uint8Array, perSlot()],
  root: [Uint16Array, perSlot()],
  pathLength: [Uint16Array, perSlot()],
  pathMoves: [Uint16Array, perSlot(MAX_PATH_LENGTH)],
  prefetch: [Uint8Array, perSlot()],
  number: [Int32Array, perSlot()],
  horizon: [Int32Array, perSlot()],
} as const satisfies Columns;

/** The answers. */
const LEAF_COLUMNS = {
  kind: [Uint8Array, perSlot()],
  flags: [Uint8Array, perSlot()],
  valueWl: [Float32Array, perSlot()],
  valueD: [Float32Array, perSlot()],
  movesLeft: [Float32Array, perSlot()],
  edgeCount: [Uint16Array, perSlot()],
  keyLow: [Int32Array, perSlot()],
  keyHigh: [Int32Array, perSlot()],
  tag: [Int32Array, perSlot()],
  edgeMoves: [Uint16Array, perSlot(MAX_EDGES)],
  edgePriors: [Uint16Array, perSlot(MAX_EDGES)],
} as const satisfies Columns;

type ViewsOf<Table extends Columns> = { readonly [Name in keyof Table]: Table[Name][0]['prototype'] };
export type LeafColumns = ViewsOf<typeof LEAF_COLUMNS>;
export type LeafSlots = LeafSlotsShape & LeafColumns & ViewsOf<typeof MEETING_COLUMNS>;

export function createLeafSlotsBuffer(shape: LeafSlotsShape): SharedArrayBuffer {
  const { slotCount, workers } = shape;
  if (slotCount < 1 || slotCount > 65536 || (slotCount & (slotCount - 1)) !== 0) {
    throw new Error(`A leaf table needs a power of two up to 65536 slots, not ${slotCount}`);
  }
  if (workers < 1 || workers > 255) throw new Error(`A leaf table serves 1 to 255 evaluators, not ${workers}`);
  return new SharedArrayBuffer(layOut(shape).at(-1)?.end ?? 0);
}

export function viewLeafSlots(buffer: SharedArrayBuffer, shape: LeafSlotsShape): LeafSlots {
  const { slotCount, workers } = shape;
  const views = layOut(shape).map(({ name, type: View, offset, length }) => [name, new View(buffer, offset, length)]);
  return { slotCount, workers, ...(Object.fromEntries(views) as Omit<LeafSlots, keyof LeafSlotsShape>) };
}

/** Columns begin on cache lines. */
function layOut(shape: LeafSlotsShape) {
  let end = 0;
  return Object.entries<Columns[string]>({ ...MEETING_COLUMNS, ...LEAF_COLUMNS }).map(([name, [type, count]]) => {
    const offset = end;
    const length = count(shape);
    end += Math.ceil((type.BYTES_PER_ELEMENT * length) / 64) * 64;
    return { name, type, offset, length, end };
  });
}

/** What a thread needs to use a pool. It can be sent in messages (structured cloning). */
export interface SharedPoolHandle extends LeafSlotsShape {
  readonly slots: SharedArrayBuffer;
  readonly roots: SharedArrayBuffer;
  readonly tablebases: SharedArrayBuffer;
  /** Positions in one network call, at the time the pool was created. */
  readonly minibatch: number;
  /** If false, `movesLeft` of evaluated leaves is always 0. */
  readonly hasMovesLeft: boolean;
  /** Bytes that the process takes without a search tree, at most: itself, the networks and the evaluation cache. */
  readonly reservedBytes: number;
}
