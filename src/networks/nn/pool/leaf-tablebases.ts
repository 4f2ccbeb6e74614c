/**
 * One evaluator's tablebases. As in lc0, they answer leaves right after a capture or pawn move: there the fifty-move count is 0,
 * so the table's result is exact.
 */
import type { Position } from '../../../chess/rules/index.js';
import { NO_VALUE, Tablebases } from '../../../chess/syzygy/index.js';
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
