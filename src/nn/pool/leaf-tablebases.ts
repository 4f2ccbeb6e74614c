/**
 * One evaluator's tablebases: they answer for leaves right after a capture or pawn move, where the count of the fifty-move rule
 * is 0 and the result in the table is the truth (lc0 does the same).
 */
import type { Position } from '../../chess/index.js';
import { NO_VALUE, Tablebases } from '../../syzygy/index.js';
import type { TablebaseWords } from './tablebase-words.js';

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

  /** Between batches: opens other tables when the pool says so. */
  follow(): void {
    const { version } = this.words;
    if (version === this.version) return;
    this.version = version;
    const { paths, menLimit, fiftyMoveRule } = this.words.read();
    this.tables?.close();
    // What is amiss with the folders the main thread says.
    this.tables = paths === '' ? null : new Tablebases(paths, this.onWarning);
    if (this.tables?.mostMen === 0) this.tables = null;
    this.menLimit = menLimit;
    this.fiftyMoveRule = fiftyMoveRule;
  }

  /** @returns -1, 0 or 1 for the side to move, or NO_VALUE: the network has to say */
  probe(position: Position): number {
    return this.tables?.probeResult(position, this.menLimit, this.fiftyMoveRule) ?? NO_VALUE;
  }

  close(): void {
    this.tables?.close();
  }
}
