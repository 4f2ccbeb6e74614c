/**
 * The word through which a search is stopped while its thread blocks. Written by the main thread, read by the search
 * thread between two steps; it names the search it means (0 = none), so that a late one never hits the next search.
 */
const STOP_WORD = 0;
const SIZE_BYTES = 4;

export class SearchControl {
  readonly buffer: SharedArrayBuffer;
  private readonly words: Int32Array;

  constructor(buffer: SharedArrayBuffer = new SharedArrayBuffer(SIZE_BYTES)) {
    this.buffer = buffer;
    this.words = new Int32Array(buffer);
  }

  requestStop(id: number): void {
    Atomics.store(this.words, STOP_WORD, id);
  }

  isStopRequested(id: number): boolean {
    return Atomics.load(this.words, STOP_WORD) === id;
  }
}
