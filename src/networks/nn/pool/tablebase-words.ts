/**
 * The tablebase settings of the evaluators, in shared memory, because a message would not reach an evaluator that blocks. The pool
 * writes them while no leaf is in flight. An evaluator that sees a new version opens the tables again.
 *
 * | word | meaning                                       |
 * |------|-----------------------------------------------|
 * | 0    | version, atomic                               |
 * | 1    | largest number of men to look up              |
 * | 2    | 1 if the fifty-move rule counts               |
 * | 3    | length of the folder names that follow, UTF-8 |
 */

import type { TablebaseSettings } from '../../../chess/syzygy/index.js';

const VERSION = 0;
const MEN_LIMIT = 1;
const FIFTY_MOVE_RULE = 2;
const PATH_LENGTH = 3;
const WORDS = 4;
const PATH_BYTES = 32768;

export class TablebaseWords {
  private readonly words: Int32Array;
  private readonly path: Uint8Array;

  constructor(buffer: SharedArrayBuffer) {
    this.words = new Int32Array(buffer, 0, WORDS);
    this.path = new Uint8Array(buffer, 4 * WORDS);
  }

  static createBuffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(4 * WORDS + PATH_BYTES);
  }

  get version(): number {
    return Atomics.load(this.words, VERSION);
  }

  write({ paths, menLimit, fiftyMoveRule }: TablebaseSettings): void {
    const { words } = this;
    const bytes = new TextEncoder().encode(paths);
    words[MEN_LIMIT] = menLimit;
    words[FIFTY_MOVE_RULE] = fiftyMoveRule ? 1 : 0;
    // If the names do not fit, use no tables rather than those of a truncated name.
    words[PATH_LENGTH] = bytes.length <= PATH_BYTES ? bytes.length : 0;
    this.path.set(bytes.subarray(0, words[PATH_LENGTH]));
    Atomics.add(words, VERSION, 1);
  }

  read(): TablebaseSettings {
    const { words, path } = this;
    return {
      paths: new TextDecoder().decode(path.slice(0, words[PATH_LENGTH])),
      menLimit: words[MEN_LIMIT],
      fiftyMoveRule: words[FIFTY_MOVE_RULE] === 1,
    };
  }
}
