/**
 * Short mates that the search has not proven. The search proves the first mate it meets and is content with it, and a great
 * sacrifice with a small prior waits long for visits. So a small exhaustive search runs beside it, in a thread of its own:
 * for short mates always, for shorter ones than the search's own when it has one.
 *
 * While the search runs, tries with a growing effort are for the info lines and for `go mate`. Without a clock they decide
 * nothing: when such a search ends, one question about its last report does (`conclude`). The shortest mate and the effort
 * that finds it are properties of the position, so the answer does not depend on which tries were ready in time.
 */
import type { Move } from '../chess/index.js';
import type { GamePosition } from './game-position.js';
import type { MateSearchPort } from './ports.js';
import type { ReportLine, SearchReport } from './search-report.js';

/** Moves to the longest mate looked for while the search has none, and while it has one. */
const LONGEST_UNPROVEN = 3;
const LONGEST_PROVEN = 5;
/** Positions that may be looked at for each node of the search: about a percent of its time, five when a mate is sure. */
const EFFORT_UNPROVEN = 10;
const EFFORT_PROVEN = 50;
const LEAST_EFFORT = 5_000;
/** With fewer positions it is not worth the beginning. */
const LEAST_USEFUL = 1_000;
/** The same for each millisecond of a search on a clock, where seconds of a game may be down to a few moves. */
const PER_MS_UNPROVEN = 50;
const PER_MS_PROVEN = 250;
/** 20 and 60 milliseconds of one core. */
const MOST_UNPROVEN = 100_000;
const MOST_PROVEN = 300_000;

/** What to look for, and how long. */
interface Question {
  readonly moves: number;
  readonly effort: number;
}

interface MateFinderSettings {
  readonly game: GamePosition;
  /** First moves to look at. */
  readonly candidates: readonly Move[];
  /** Moves to the mate that an earlier answer was about to give; 0 = none. */
  readonly promised: number;
  /** Whether the search is on a clock. */
  readonly isTimed: boolean;
  /** Called when a try has found the mate. */
  onFound(): void;
}

export class MateFinder {
  /** The shortest mate, and how many positions it took to find it; null as long as none is known. */
  private mate: { readonly line: readonly Move[]; readonly visited: number } | null = null;
  /** No mate in so many moves exists. */
  private refuted = 0;
  /** The last try; its answer may be on its way. */
  private last: Question = { moves: 0, effort: 0 };
  private running: Promise<void> | null = null;
  /** The last report as the search made it. */
  private report: SearchReport | null = null;
  private isRejected = false;

  constructor(
    private readonly search: MateSearchPort,
    private readonly settings: MateFinderSettings,
  ) {}

  /** The mate to announce: it is shorter than the search's own. */
  get line(): readonly Move[] | null {
    const { mate, report } = this;
    if (mate === null || report === null || this.isRejected) return null;
    return countMoves(mate.line) < getProvenMoves(report) ? mate.line : null;
  }

  /** Moves to that mate, 0 without one. */
  get moves(): number {
    return this.line === null ? 0 : countMoves(this.line);
  }

  /** The last report, with the mate as its best line if there is one to announce. */
  get improved(): SearchReport | null {
    const { line, report } = this;
    return line === null || report === null ? report : { ...report, lines: insertLine(report.lines, line) };
  }

  /**
   * Takes note of a report of the search, and tries again if the search has grown enough for that.
   * @param isHurried somebody waits for the answer: nothing new is looked for
   */
  note(report: SearchReport, isHurried: boolean): void {
    this.report = report;
    if (isHurried || this.running !== null) return;
    const question = this.ask(report);
    const isWorthwhile = question.effort >= Math.max(LEAST_USEFUL, 2 * this.last.effort);
    if (isWorthwhile && !this.knowsAnswer(question)) void this.find(question);
  }

  /**
   * Decides whether the mate is the answer of a search without a clock, which has ended.
   * @returns null when that needs no time
   */
  conclude(): Promise<void> | null {
    const { report } = this;
    if (report === null || this.settings.isTimed) return null;
    const question = this.ask(report);
    const decide = (): void => {
      const { mate } = this;
      this.isRejected = mate !== null && (countMoves(mate.line) > question.moves || mate.visited >= question.effort);
    };
    if (this.knowsAnswer(question)) {
      decide();
      return null;
    }
    return this.findAfterOthers(question).then(decide);
  }

  private ask(report: SearchReport): Question {
    const { promised, isTimed } = this.settings;
    const proven = getProvenMoves(report);
    const isSure = proven < Number.POSITIVE_INFINITY || promised > 0;
    const moves = Math.min(proven - 1, isSure ? LONGEST_PROVEN : LONGEST_UNPROVEN);
    // What was promised lies within an effort made before.
    const least = promised > 0 ? MOST_PROVEN : LEAST_EFFORT;
    const wish = Math.max(least, report.nodes * (isSure ? EFFORT_PROVEN : EFFORT_UNPROVEN));
    const limit = isTimed ? report.timeMs * (isSure ? PER_MS_PROVEN : PER_MS_UNPROVEN) : wish;
    return { moves, effort: Math.min(wish, limit, isSure ? MOST_PROVEN : MOST_UNPROVEN) };
  }

  private knowsAnswer({ moves, effort }: Question): boolean {
    if (this.mate !== null || moves <= this.refuted) return true;
    return this.running === null && moves <= this.last.moves && effort <= this.last.effort;
  }

  private async findAfterOthers(question: Question): Promise<void> {
    await this.running;
    if (!this.knowsAnswer(question)) await this.find(question);
  }

  private find(question: Question): Promise<void> {
    const { game, candidates, onFound } = this.settings;
    const { rootFen, moves } = game;
    this.last = question;
    this.running = this.search.find({ rootFen, moves, candidates, question }).then(({ line, isComplete, visited }) => {
      this.running = null;
      if (isComplete) this.refuted = line === null ? question.moves : countMoves(line) - 1;
      if (line === null) return;
      this.mate = { line, visited };
      onFound();
    });
    return this.running;
  }
}

function countMoves(line: readonly Move[]): number {
  return (line.length + 1) / 2;
}

/** Moves to the mate that the search has proven, Infinity without one. */
function getProvenMoves({ lines: [best] }: SearchReport): number {
  return best.score.kind === 'mate' && best.score.value > 0 ? best.score.value : Number.POSITIVE_INFINITY;
}

/** The line first; a line that began with the same move makes room, else the last one does. */
function insertLine(lines: readonly ReportLine[], pv: readonly Move[]): ReportLine[] {
  const [best] = lines;
  const moves = countMoves(pv);
  const first: ReportLine = {
    ...best,
    score: { kind: 'mate', value: moves },
    wdl: { win: 1000, draw: 0, loss: 0 },
    movesLeft: moves - 1,
    pv,
  };
  const others = lines.filter((line) => line.pv[0] !== pv[0]);
  return [first, ...others].slice(0, lines.length).map((line, index) => ({ ...line, rank: index + 1 }));
}
