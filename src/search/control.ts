/**
 * The words through which a search is stopped while its thread blocks. Written by the main thread, read by the search
 * thread between two steps; each names the search it means, so that a late one never hits the next search.
 *
 * | word        | type    | meaning                                                                |
 * |-------------|---------|------------------------------------------------------------------------|
 * | STOP        | Int32   | id of the search to stop; 0 = none                                     |
 * | PONDER_HIT  | Int32   | id of the search whose ponder move was played, written after the times |
 * | BUDGET      | Float64 | milliseconds it has from STARTED on; negative = no limit               |
 * | STARTED     | Float64 | when the clock started                                                 |
 */
const STOP_WORD = 0;
const PONDER_HIT_WORD = 1;
const BUDGET_DOUBLE = 1;
const STARTED_DOUBLE = 2;
const SIZE_BYTES = 24;

export interface PonderHit {
  readonly budgetMs: number | null;
  readonly startedAtMs: number;
}

export class SearchControl {
  readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;
  private readonly doubles: Float64Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(SIZE_BYTES)) {
    this.buffer = buffer;
    this.words = new Int32Array(buffer);
    this.doubles = new Float64Array(buffer);
  }

  requestStop(id: number): void {
    Atomics.store(this.words, STOP_WORD, id);
  }

  isStopRequested(id: number): boolean {
    return Atomics.load(this.words, STOP_WORD) === id;
  }

  requestPonderHit(id: number, hit: PonderHit): void {
    this.doubles[BUDGET_DOUBLE] = hit.budgetMs ?? -1;
    this.doubles[STARTED_DOUBLE] = hit.startedAtMs;
    Atomics.store(this.words, PONDER_HIT_WORD, id);
  }

  /** The hit meant for this search, once. */
  takePonderHit(id: number): PonderHit | null {
    if (Atomics.compareExchange(this.words, PONDER_HIT_WORD, id, 0) !== id) return null;
    const budget = this.doubles[BUDGET_DOUBLE];
    return { budgetMs: budget < 0 ? null : budget, startedAtMs: this.doubles[STARTED_DOUBLE] };
  }
}
