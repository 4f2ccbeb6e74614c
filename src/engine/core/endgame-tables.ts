/**
 * The engine's own tablebase probes, on the main thread: which root moves keep the result, and the result of a position for `d`.
 * Evaluators probe the leaves.
 */

import type { OptionStore } from '../../base/options/index.js';
import type { Position } from '../../chess/rules/index.js';
import {
  NO_TABLEBASES,
  NO_VALUE,
  type RootRanking,
  rankRootMoves,
  type TablebaseSettings,
  Tablebases,
} from '../../chess/syzygy/index.js';
import type { EngineListener } from './ports.js';

/** For the side to move; `dtz` is null if a DTZ table is missing. */
export interface TablebaseResult {
  /** −2 lost, −1 lost without the fifty-move rule, 0 drawn, 1 won without that rule, 2 won. */
  readonly wdl: number;
  readonly dtz: number | null;
}

export function getTablebaseSettings(options: OptionStore): TablebaseSettings {
  return {
    paths: options.getString('SyzygyPath'),
    menLimit: options.getNumber('SyzygyProbeLimit'),
    fiftyMoveRule: options.getBoolean('Syzygy50MoveRule'),
  };
}

export class EndgameTables {
  private settings = NO_TABLEBASES;
  private isOutdated = true;
  private tables: Tablebases | null = null;

  constructor(
    private readonly options: OptionStore,
    private readonly listener: Pick<EngineListener, 'warning' | 'note'>,
  ) {}

  /** The options have changed. */
  onOptionChange(): void {
    this.isOutdated = true;
  }

  /** Applies changed options. @returns whether values of leaves may have changed */
  follow(): boolean {
    if (!this.isOutdated) return false;
    this.isOutdated = false;
    const before = this.settings;
    this.settings = getTablebaseSettings(this.options);
    if (before.paths !== this.settings.paths) this.open(this.settings.paths);
    return before.paths !== this.settings.paths || this.tables !== null;
  }

  /** @returns null if no table holds the position */
  rank(position: Position): RootRanking | null {
    if (this.tables === null) return null;
    return rankRootMoves(this.tables, this.settings, position, this.options.getBoolean('SyzygyFastPlay'));
  }

  probe(position: Position): TablebaseResult | null {
    const { tables } = this;
    if (tables === null || !tables.mayProbe(position)) return null;
    const wdl = tables.probeWdl(position);
    if (wdl === NO_VALUE) return null;
    const dtz = tables.probeDtz(position);
    return { wdl, dtz: dtz === NO_VALUE ? null : dtz };
  }

  close(): void {
    this.tables?.close();
    this.tables = null;
  }

  private open(paths: string): void {
    this.close();
    const tables = new Tablebases(paths, (text) => this.listener.warning(text));
    for (const warning of tables.warnings) this.listener.warning(warning);
    const { wdl, dtz } = tables.counts;
    if (wdl + dtz === 0) return;
    this.tables = tables;
    this.listener.note(`Found ${wdl} WDL, ${dtz} DTZ tables of up to ${tables.mostMen} men`);
  }
}
