/**
 * Finds mates that the search has not proven. The search stops at the first mate it proves, and a sacrifice with a small prior
 * gets its visits late. So a small search of mates runs beside it, in its own thread. It looks for short mates and for mates by
 * checks, and if the search has found a mate, for shorter ones.
 *
 * While the search runs, tries with growing effort serve the info lines and `go mate`. Without a clock they do not decide the
 * answer: when such a search ends, one try for its last report decides (`finish`). The shortest mate and the effort that
 * finds it are properties of the position, so the answer does not depend on which tries were ready in time.
 */
import { countMateMoves, type Move } from '../../chess/rules/index.js';
import type { GamePosition } from './game-position.js';
import type { MateSearchPort } from './ports.js';
import type { ReportLine, SearchReport } from './search-report.js';

/** Longest mate to look for, in moves: if the search has no mate, and if it has one. */
const LONGEST_UNPROVEN = 3;
const LONGEST_PROVEN = 5;
/** The same for mates by checks alone; always this many, because what is visited before a mate depends on it. */
const LONGEST_BY_CHECKS = 8;
/** Positions to visit for each node of the search: about 1 % of its time, 5 % if a mate is certain. */
const EFFORT_UNPROVEN = 10;
const EFFORT_PROVEN = 50;
const LEAST_EFFORT = 5_000;
/** A try with fewer positions is not worth starting. */
const LEAST_USEFUL = 1_000;
/** The same for each millisecond of a search on a clock. */
const PER_MS_UNPROVEN = 50;
const PER_MS_PROVEN = 250;
/** Limits, about 20 and 60 ms of one core. */
const MOST_UNPROVEN = 100_000;
const MOST_PROVEN = 300_000;
/** For `go mate`, whose search ends only when the mate is found or refuted. */
const MOST_WANTED = 10_000_000;

/** A try: what to look for, and with which effort. */
interface Question {
  readonly moves: number;
  readonly effort: number;
}

interface MateFinderSettings {
  readonly game: GamePosition;
  /** First moves to search. */
  readonly candidates: readonly Move[];
  /** Moves to the mate that the last answer announced; 0 = none. */
  readonly announced: number;
  /** Whether the search is on a clock. */
  readonly isTimed: boolean;
  /** Moves of the mate that `go mate` asks for; 0 = none. */
  readonly wanted: number;
  /** Called when a try has found the mate. */
  onFound(): void;
  /** Called when there is no mate in the wanted number of moves: `go mate` has its answer. */
  onRefuted(): void;
}

export class MateFinder {
  /** The shortest mate, and the number of positions it took to find it; null if none is known. */
  private mate: { readonly line: readonly Move[]; readonly visited: number } | null = null;
  /** There is no mate in this many moves. */
  private refuted = 0;
  /** The last try; its answer may not have come yet. */
  private last: Question = { moves: 0, effort: 0 };
  private running: Promise<void> | null = null;
  /** The search's last report. */
  private report: SearchReport | null = null;
  private isRejected = false;

  constructor(
    private readonly search: MateSearchPort,
    private readonly settings: MateFinderSettings,
  ) {}

  /** The mate to announce, which is shorter than the search's own. */
  get line(): readonly Move[] | null {
    const { mate, report } = this;
    if (mate === null || report === null || this.isRejected) return null;
    return countMateMoves(mate.line) < getProvenMoves(report) ? mate.line : null;
  }

  /** Moves to that mate; 0 without one. */
  get moves(): number {
    return this.line === null ? 0 : countMateMoves(this.line);
  }

  /** The last report, with the mate to announce, if any, as its best line. */
  get improved(): SearchReport | null {
    const { line, report } = this;
    return line === null || report === null ? report : { ...report, lines: insertLine(report.lines, line) };
  }

  /**
   * Takes a report of the search, and starts another try if the search has grown enough.
   * @param isHurried a caller waits for the answer, so no try is started
   */
  note(report: SearchReport, isHurried: boolean): void {
    this.report = report;
    if (isHurried || this.running !== null) return;
    const question = this.ask(report);
    const isWorthwhile = question.effort >= Math.max(LEAST_USEFUL, 2 * this.last.effort);
    if (isWorthwhile && !this.knowsAnswer(question)) void this.find(question);
  }

  /**
   * Decides whether the mate is the answer of a finished search without a clock.
   * @returns null if that needs no further try
   */
  finish(): Promise<void> | null {
    const { report } = this;
    if (report === null || this.settings.isTimed) return null;
    const question = this.ask(report);
    const decide = (): void => {
      const { mate } = this;
      this.isRejected = mate !== null && mate.visited >= question.effort;
    };
    if (this.knowsAnswer(question)) {
      decide();
      return null;
    }
    return this.findAfterOthers(question).then(decide);
  }

  private ask(report: SearchReport): Question {
    const { announced, isTimed, wanted } = this.settings;
    const proven = getProvenMoves(report);
    const isSure = proven < Number.POSITIVE_INFINITY || announced > 0;
    const longest = isSure ? LONGEST_PROVEN : LONGEST_UNPROVEN;
    const moves = Math.min(proven - 1, Math.max(longest, Math.min(wanted, LONGEST_PROVEN)));
    // The last answer's search has found this mate, with up to MOST_PROVEN positions; fewer might miss it.
    const least = announced > 0 ? MOST_PROVEN : LEAST_EFFORT;
    const wish = Math.max(least, report.nodes * (isSure ? EFFORT_PROVEN : EFFORT_UNPROVEN));
    const limit = isTimed ? report.timeMs * (isSure ? PER_MS_PROVEN : PER_MS_UNPROVEN) : wish;
    const most = wanted > 0 ? MOST_WANTED : isSure ? MOST_PROVEN : MOST_UNPROVEN;
    return { moves, effort: Math.min(wish, limit, most) };
  }

  private knowsAnswer({ moves, effort }: Question): boolean {
    const longestUseful = this.mate === null ? moves : Math.min(moves, countMateMoves(this.mate.line) - 1);
    if (longestUseful <= this.refuted) return true;
    return this.running === null && moves <= this.last.moves && effort <= this.last.effort;
  }

  private async findAfterOthers(question: Question): Promise<void> {
    await this.running;
    if (!this.knowsAnswer(question)) await this.find(question);
  }

  private find(question: Question): Promise<void> {
    const { game, candidates, wanted, onFound, onRefuted } = this.settings;
    const { rootFen, moves } = game;
    this.last = question;
    const task = { rootFen, moves, question: { ...question, candidates, checks: LONGEST_BY_CHECKS } };
    this.running = this.search.find(task).then(({ line, refuted, visited }) => {
      this.running = null;
      this.refuted = Math.max(this.refuted, refuted);
      if (line !== null && line.length < (this.mate?.line.length ?? Number.POSITIVE_INFINITY)) {
        this.mate = { line, visited };
        onFound();
      }
      if (wanted > 0 && this.refuted >= wanted) onRefuted();
    });
    return this.running;
  }
}

/** Moves to the mate that the search has proven; Infinity without one. */
function getProvenMoves({ lines: [best] }: SearchReport): number {
  return best.score.kind === 'mate' && best.score.value > 0 ? best.score.value : Number.POSITIVE_INFINITY;
}

/** Puts the line first. It replaces the line with the same first move, else the last line. */
function insertLine(lines: readonly ReportLine[], pv: readonly Move[]): ReportLine[] {
  const [best] = lines;
  const moves = countMateMoves(pv);
  const first: ReportLine = {
    ...best,
    score: { kind: 'mate', value: moves },
    wdl: { win: 1000, draw: 0, loss: 0 },
    movesLeft: best.movesLeft === null ? null : moves - 1,
    pv,
  };
  const others = lines.filter((line) => line.pv[0] !== pv[0]);
  return [first, ...others].slice(0, lines.length).map((line, index) => ({ ...line, rank: index + 1 }));
}
