/**
 * One evaluator's tablebases. As in lc0, they answer leaves right after a capture or pawn move: there the fifty-move count is 0,
 * so the table's result is exact.
 */
import type { Position } from '../../../chess/rules/index.js';
import { NO_VALUE, type TablebaseSettings, Tablebases } from '../../../chess/syzygy/index.js';

export class LeafTablebases {
  private version = 0;
  private menLimit = 0;
  private fiftyMoveRule = true;
  private tables: Tablebases | null = null;

  /** @param onWarning one sentence about a damaged file */
  constructor(
    private readonly words: TablebaseWords,
    private readonly onWarning: (text: string) => void,
  ) {}

  /** Opens other tables if the pool has changed them. Call it between batches. */
  follow(): void {
    const { version } = this.words;
    if (version === this.version) return;
    this.version = version;
    const { paths, menLimit, fiftyMoveRule } = this.words.read();
    this.tables?.close();
    // The main thread warns about the folders.
    this.tables = paths === '' ? null : new Tablebases(paths, this.onWarning);
    if (this.tables?.mostMen === 0) this.tables = null;
    this.menLimit = menLimit;
    this.fiftyMoveRule = fiftyMoveRule;
  }

  /** @returns −1, 0 or 1 for the side to move; NO_VALUE if the network must evaluate the leaf */
  probe(position: Position): number {
    return this.tables?.probeResult(position, this.menLimit, this.fiftyMoveRule) ?? NO_VALUE;
  }

  close(): void {
    this.tables?.close();
  }
}

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
