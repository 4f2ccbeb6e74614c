/**
 * The `info` lines of a UCI engine, as far as matches and labels use them, and the collection of those lines over one search
 * (`InfoLines`).
 */
import { encodeMate, MATE_BASE } from '../../chess/pgn/index.js';

export interface UciScore {
  /** Centipawns, or moves to mate (negative: the mover is mated). */
  readonly kind: 'cp' | 'mate';
  readonly value: number;
}

export interface UciInfo {
  /** Rank of the line in MultiPV, 1 = best. */
  readonly rank: number;
  readonly depth: number;
  /** From the mover's view. */
  readonly score: UciScore;
  /** A bound of an unfinished search window, not the score itself. */
  readonly isBound: boolean;
  readonly nodes: number;
  readonly pv: readonly string[];
}

export function parseInfoLine(line: string): UciInfo | null {
  if (!line.startsWith('info ')) return null;
  const words = line.split(/\s+/);
  let rank = 1;
  let depth = 0;
  let score: UciScore | null = null;
  let isBound = false;
  let nodes = 0;
  let pv: string[] = [];
  for (let i = 1; i < words.length; i++) {
    const word = words[i];
    if (word === 'string') break;
    if (word === 'pv') {
      pv = words.slice(i + 1).filter((move) => move !== '');
      break;
    }
    if (word === 'lowerbound' || word === 'upperbound') isBound = true;
    else if (word === 'score') {
      const kind = words[i + 1];
      const value = Number(words[i + 2]);
      if ((kind === 'cp' || kind === 'mate') && Number.isFinite(value)) score = { kind, value };
      i += 2;
    } else if (word === 'multipv') rank = Number(words[++i]);
    else if (word === 'depth') depth = Number(words[++i]);
    else if (word === 'nodes') nodes = Number(words[++i]);
  }
  if (score === null || pv.length === 0 || !(rank >= 1)) return null;
  return { rank, depth, score, isBound, nodes, pv };
}

/** Limit of centipawns, below the code of the longest mate. */
const LARGEST_CENTIPAWNS = 30_000;

/** Centipawns with mates coded as ±(32000 − 2n), so that scores compare as numbers. "mate 0" is a mated mover. */
export function encodeScore(score: UciScore): number {
  if (score.kind === 'cp') {
    return Math.max(-LARGEST_CENTIPAWNS, Math.min(LARGEST_CENTIPAWNS, Math.round(score.value)));
  }
  return score.value > 0 ? encodeMate(score.value) : -encodeMate(score.value);
}

/** Moves to mate of a coded score, null when it is centipawns. */
export function decodeMate(score: number): number | null {
  if (Math.abs(score) <= LARGEST_CENTIPAWNS) return null;
  const moves = Math.round((MATE_BASE - Math.abs(score)) / 2);
  return score > 0 ? moves : -moves;
}

export class InfoLines {
  private previous: UciInfo[] = [];
  private current: UciInfo[] = [];

  /** @param countsBounds whether a bound counts as a score */
  constructor(private readonly countsBounds = false) {}

  add(info: UciInfo): void {
    if (info.rank === 1 && this.current.length > 0) {
      this.previous = this.list();
      this.current = [];
    }
    const mustReplace = info.isBound && !this.countsBounds;
    const exact = mustReplace ? this.previous.find((line) => line.pv[0] === info.pv[0]) : undefined;
    this.current.push(exact === undefined ? info : { ...exact, rank: info.rank });
  }

  /** Best first as the engine ranks them; no move twice. */
  list(): UciInfo[] {
    const lines: UciInfo[] = [];
    for (const line of [...this.current, ...this.previous]) {
      const isNew = lines.every((other) => other.pv[0] !== line.pv[0]);
      if (isNew && (lines.length < this.current.length || lines.length < this.previous.length)) {
        lines.push({ ...line, rank: lines.length + 1 });
      }
    }
    return lines;
  }
}
