/**
 * Which tablebases the evaluators look leaves up in, in shared memory: evaluators block while they serve, so a message would
 * not reach them. Written by the pool while no leaf is in flight; an evaluator that sees another version opens the tables anew.
 *
 * | word | meaning                                       |
 * |------|-----------------------------------------------|
 * | 0    | version, atomic                               |
 * | 1    | most men of a position that is looked up      |
 * | 2    | 1 when the fifty-move rule counts             |
 * | 3    | bytes of the folders' names that follow, UTF-8|
 */
import type { TablebaseSettings } from '../../syzygy/index.js';

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
    // Names too long for the room: no tables, rather than those of a cut name.
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
