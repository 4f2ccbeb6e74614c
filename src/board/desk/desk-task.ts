/** The searches that wait at the desk or are under way there. */
import type { GoRequest, RootStats, SearchReport } from '../../engine/index.js';
import type { PortEvent, SearchState, ThoughtReply } from '../protocol/replies.js';
import type { PositionText } from '../protocol/requests.js';
import { createSearchState } from './engine-answers.js';

/** A page, as the desk sees it. */
export interface DeskClient {
  emit(event: PortEvent): void;
}

/** UCI name → value; set for this search only. */
type TaskOptions = readonly (readonly [name: string, value: string])[];

/** Longest time between two reports. */
const INFO_INTERVAL_MS = 250;

/** The page depends on these, so that nobody else may choose them. */
const COMMON_OPTIONS: TaskOptions = [
  ['ScoreType', 'WDL_mu'],
  ['Skill Level', '20'],
  ['InfoIntervalMs', String(INFO_INTERVAL_MS)],
];

/** Names of the options that every search sets by itself; the page does not offer them. */
export const DESK_OPTIONS: ReadonlySet<string> = new Set([
  ...COMMON_OPTIONS.map(([name]) => name),
  'MultiPV',
  'VerboseMoveStats',
  'LogLiveStats',
  'UCI_LimitStrength',
  'UCI_Elo',
  'UCI_AnalyseMode',
  'UCI_Chess960',
  'UCI_ShowWDL',
  'UCI_ShowMovesLeft',
  'UCI_ShowEPS',
  'VerboseMoveStatsFormat',
  'UCI_Opponent',
  'UCI_RatingAdv',
  'Ponder',
  'PerPVCounters',
]);

interface TaskSettings {
  readonly position: PositionText;
  readonly request: GoRequest;
  readonly multiPv: number;
  /** Null = full strength. */
  readonly elo: number | null;
}

export class DeskTask {
  report: SearchReport | null = null;
  stats: RootStats | null = null;
  /** It was told to end; its answer is on its way. */
  isEnding = false;
  /** Milliseconds of earlier runs of an analysis that was interrupted. */
  private earlierMs = 0;

  /** @param resolve what to do with the answer; null for an analysis, which goes on until it is stopped */
  constructor(
    readonly client: DeskClient,
    readonly id: number,
    readonly settings: TaskSettings,
    readonly resolve: ((thought: ThoughtReply) => void) | null,
    readonly reject: (error: Error) => void,
  ) {}

  get isAnalysis(): boolean {
    return this.resolve === null;
  }

  listOptions(): TaskOptions {
    const { multiPv, elo } = this.settings;
    const isAnalysis = String(this.isAnalysis);
    return [
      ...COMMON_OPTIONS,
      ['MultiPV', String(multiPv)],
      ['VerboseMoveStats', isAnalysis],
      ['LogLiveStats', isAnalysis],
      ['UCI_LimitStrength', String(elo !== null)],
      ...(elo === null ? [] : [['UCI_Elo', String(elo)] as const]),
    ];
  }

  createState(): SearchState | null {
    return this.report === null ? null : createSearchState(this.report, this.stats, this.earlierMs);
  }

  /** It will be started again from where it was. */
  prepareToResume(): void {
    this.earlierMs += this.report?.timeMs ?? 0;
    this.report = null;
    this.isEnding = false;
  }
}
