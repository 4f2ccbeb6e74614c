/**
 * Chess clocks. A time control is written as in cutechess-cli: `moves/time+increment`, time in seconds or minutes:seconds;
 * `40/60+0.1` is 40 moves a minute, again and again, plus a tenth of a second a move.
 */
import { failure, type Result, success } from '../../base/util/index.js';

export interface TimeControl {
  /** Null = all moves in one period. */
  readonly movesPerPeriod: number | null;
  readonly periodMs: number;
  readonly incrementMs: number;
}

export function parseTimeControl(text: string): Result<TimeControl> {
  const match = /^(?:(\d+)\/)?(?:(\d+):)?(\d+(?:\.\d+)?|\.\d+)(?:\+(\d+(?:\.\d+)?|\.\d+))?$/.exec(text.trim());
  if (match === null) return failure(`"${text}" is not a time control such as 60+0.6 or 40/1:30+0.1`);
  const movesPerPeriod = match[1] === undefined ? null : Number(match[1]);
  const periodMs = 1000 * (60 * Number(match[2] ?? 0) + Number(match[3]));
  if (periodMs <= 0 || movesPerPeriod === 0) return failure(`"${text}" leaves no time to play`);
  return success({ movesPerPeriod, periodMs, incrementMs: 1000 * Number(match[4] ?? 0) });
}

/** In PGN's notation: seconds. */
export function formatTimeControl({ movesPerPeriod, periodMs, incrementMs }: TimeControl): string {
  const moves = movesPerPeriod === null ? '' : `${movesPerPeriod}/`;
  const increment = incrementMs === 0 ? '' : `+${incrementMs / 1000}`;
  return `${moves}${periodMs / 1000}${increment}`;
}

/** One player's clock. */
export class Clock {
  remainingMs: number;
  movesToGo: number | null;

  constructor(readonly control: TimeControl) {
    this.remainingMs = control.periodMs;
    this.movesToGo = control.movesPerPeriod;
  }

  /**
   * Takes the time of a move off.
   * @param marginMs time by which the player may exceed the limit, for delays of the pipe and a busy machine
   * @returns false when the flag has fallen
   */
  press(elapsedMs: number, marginMs: number): boolean {
    this.remainingMs -= elapsedMs;
    if (this.remainingMs < -marginMs) return false;
    this.remainingMs = Math.max(this.remainingMs, 0) + this.control.incrementMs;
    if (this.movesToGo !== null && --this.movesToGo === 0) {
      this.movesToGo = this.control.movesPerPeriod;
      this.remainingMs += this.control.periodMs;
    }
    return true;
  }
}
