/**
 * The words through which a search is stopped while its thread blocks. Written by the main thread, read by the search
 * thread between two steps; each names the search it means, so that a late one never hits the next search.
 *
 * | word        | type    | meaning                                                                |
 * |-------------|---------|------------------------------------------------------------------------|
 * | STOP        | Int32   | id of the search to stop; 0 = none                                     |
 * | PONDER_HIT  | Int32   | id of the search whose ponder move was played, written after STARTED   |
 * | STARTED     | Float64 | when the clock started                                                 |
 */
const STOP_WORD = 0;
const PONDER_HIT_WORD = 1;
const STARTED_DOUBLE = 1;
const SIZE_BYTES = 16;

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

  /** @param startedAtMs when the clock of the move began */
  requestPonderHit(id: number, startedAtMs: number): void {
    this.doubles[STARTED_DOUBLE] = startedAtMs;
    Atomics.store(this.words, PONDER_HIT_WORD, id);
  }

  /** When the clock began, of a hit meant for this search; null without one. Once. */
  takePonderHit(id: number): number | null {
    if (Atomics.compareExchange(this.words, PONDER_HIT_WORD, id, 0) !== id) return null;
    return this.doubles[STARTED_DOUBLE];
  }
}
