/**
 * Short mates that the search has not proven. It proves the first mate that it meets and is content, and a great
 * sacrifice with a small prior waits long for visits. So a small exhaustive search runs beside it: for short mates always,
 * for shorter ones than the search's own when it has one. Once such a mate is announced, it is kept in the moves after.
 */
import { findMate, type Move, type Position } from '../chess/index.js';
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
/** The thread that talks to the user waits for it: 20 and 60 milliseconds. */
const MOST_UNPROVEN = 100_000;
const MOST_PROVEN = 300_000;

export class MateFinder {
  /** The shortest mate found, when it is shorter than the search's own. */
  line: readonly Move[] | null = null;

  /** No mate in so many moves exists. */
  private refuted = 0;
  private lastEffort = 0;

  /**
   * @param candidates first moves to look at
   * @param promised moves to the mate that an earlier answer was about to give; 0 = none
   * @param isTimed whether the search is on a clock
   */
  constructor(
    private readonly position: Position,
    private readonly candidates: readonly Move[],
    private readonly promised: number,
    private readonly isTimed: boolean,
  ) {}

  /** Moves to the mate, 0 without a line. */
  get moves(): number {
    return this.line === null ? 0 : (this.line.length + 1) / 2;
  }

  /**
   * The report with the shorter mate, if there is one, as its best line.
   * @param isHurried somebody waits for the answer: nothing new is looked for
   */
  improve(report: SearchReport, isHurried: boolean): SearchReport {
    const [best] = report.lines;
    if (best === undefined) return report;
    const found = best.score.kind === 'mate' && best.score.value > 0 ? best.score.value : Number.POSITIVE_INFINITY;
    if (!isHurried) this.look(found, report.nodes, report.timeMs);
    return this.line === null || this.moves >= found
      ? report
      : { ...report, lines: insertLine(report.lines, this.line) };
  }

  /** @param found moves to the mate that the search has proven, Infinity without one */
  private look(found: number, nodes: number, timeMs: number): void {
    const isSure = found < Number.POSITIVE_INFINITY || this.promised > 0;
    const wanted = Math.min(found - 1, isSure ? LONGEST_PROVEN : LONGEST_UNPROVEN);
    const longest = this.line === null ? wanted : Math.min(wanted, this.moves - 1);
    // What was promised lies within an effort made before.
    const least = this.promised > 0 ? MOST_PROVEN : LEAST_EFFORT;
    const wish = Math.max(least, nodes * (isSure ? EFFORT_PROVEN : EFFORT_UNPROVEN));
    const limit = this.isTimed ? timeMs * (isSure ? PER_MS_PROVEN : PER_MS_UNPROVEN) : wish;
    const effort = Math.min(wish, limit, isSure ? MOST_PROVEN : MOST_UNPROVEN);
    if (longest <= this.refuted || effort < Math.max(LEAST_USEFUL, 2 * this.lastEffort)) return;
    this.lastEffort = effort;
    const { line, isComplete } = findMate(this.position.clone(), {
      moves: longest,
      effort,
      candidates: this.candidates,
    });
    if (line !== null) this.line = line;
    if (isComplete) this.refuted = line === null ? longest : this.moves - 1;
  }
}

/** The line first; a line that began with the same move makes room, else the last one does. */
function insertLine(lines: readonly ReportLine[], pv: readonly Move[]): ReportLine[] {
  const [best] = lines;
  const moves = (pv.length + 1) / 2;
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
