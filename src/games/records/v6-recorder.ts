/**
 * Turns a finished self-play game into training records, which `games/training/training-file.ts` writes. A record is filled from
 * the search of its position; result and plies left follow from the end of the game. For an adjudicated game the last search
 * estimates the plies left (lc0 does so for every game). Source of every field's meaning: lc0, trainingdata/trainingdata.cc.
 */

import { BLACK, type Move, type Position } from '../../chess/rules/index.js';
import { type HistoryFill, LC0_FORMATS, type Lc0Format } from '../../networks/encoding/index.js';
import type { NodeValue } from '../../search/index.js';
import { setV6Position, v6Policy } from './v6-position.js';
import {
  createV6Record,
  knowsMovesLeft,
  V6_ADJUDICATED,
  V6_BYTES,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  type V6Record,
  writeV6Record,
} from './v6-record.js';

/** Results of a search of one position; values are the mover's. */
export interface SearchedPosition {
  /** All legal moves and their visits, in the same order. */
  readonly moves: ArrayLike<number>;
  readonly visits: ArrayLike<number>;
  /** The network's policy without temperature (not normalised), in the same order; absent when unknown. */
  readonly priors?: ArrayLike<number>;
  readonly played: number;
  readonly best: number;
  readonly root: NodeValue;
  readonly playedValue: NodeValue;
  readonly bestValue: NodeValue;
  /** The network's own evaluation of the position; absent when unknown. */
  readonly network?: NodeValue;
  readonly isBestProven: boolean;
  /** Visits of the root. */
  readonly rootVisits: number;
}

export interface RecordedEnd {
  /** 1 White won, 0 drawn, −1 Black won. */
  readonly whiteResult: number;
  /** Plies played in all, counted as `ply` of the recorded positions. */
  readonly plies: number;
  readonly isAdjudicated: boolean;
  readonly isTooLong: boolean;
}

interface RecordedPosition {
  readonly record: V6Record;
  readonly ply: number;
  readonly isBlack: boolean;
}

const UNKNOWN: NodeValue = { wl: Number.NaN, d: Number.NaN, m: Number.NaN };
/** lc0's smallest divergence; 0 would mean "not computed". */
const SMALLEST_KLD = 1.1754943508222875e-38;

/** Visit fractions; a single move that was never visited counts as certain. */
function setPolicy(record: V6Record, position: Position, transform: number, searched: SearchedPosition): void {
  const { moves, visits, priors } = searched;
  let total = 0;
  for (let i = 0; i < moves.length; i++) total += visits[i];
  let divergence = 0;
  let priorSum = 0;
  record.probabilities.fill(-1);
  for (let i = 0; i < moves.length; i++) {
    const fraction = total > 0 ? visits[i] / total : 1;
    record.probabilities[v6Policy.moveToIndex(position, moves[i] as Move, transform)] = fraction;
    if (priors === undefined) continue;
    if (fraction > 0) divergence += fraction * Math.log(fraction / priors[i]);
    priorSum += priors[i];
  }
  record.policyKld = priors === undefined ? 0 : Math.max(divergence + Math.log(priorSum), 0) + SMALLEST_KLD;
  record.playedIndex = v6Policy.moveToIndex(position, searched.played as Move, transform);
  record.bestIndex = v6Policy.moveToIndex(position, searched.best as Move, transform);
}

export class V6GameRecorder {
  private readonly positions: RecordedPosition[] = [];
  private readonly format: Lc0Format;

  /** @param formatName an lc0 input encoding, `lc0-112` or one of lc0's enum names */
  constructor(
    formatName: string,
    private readonly historyFill: HistoryFill,
  ) {
    const format = LC0_FORMATS.find(({ name }) => name === formatName);
    if (format === undefined) throw new Error(`${formatName} is not an lc0 input format`);
    this.format = format;
  }

  /** @param ply plies played before this position; they need not all be recorded */
  add(position: Position, ply: number, searched: SearchedPosition): void {
    const record = createV6Record();
    const transform = setV6Position(record, this.format, position, this.historyFill);
    setPolicy(record, position, transform, searched);
    const { root, bestValue, playedValue, network = UNKNOWN } = searched;
    record.rootQ = root.wl;
    record.rootD = root.d;
    record.rootM = root.m;
    record.bestQ = bestValue.wl;
    record.bestD = bestValue.d;
    record.bestM = bestValue.m;
    record.playedQ = playedValue.wl;
    record.playedD = playedValue.d;
    record.playedM = playedValue.m;
    record.origQ = network.wl;
    record.origD = network.d;
    record.origM = network.m;
    record.visits = searched.rootVisits;
    if (searched.isBestProven) record.invariance |= V6_PROVEN_BEST;
    this.positions.push({ record, ply, isBlack: position.sideToMove === BLACK });
  }

  /** The ply at which the game ended, or would have ended; if that is unknown, the ply of its adjudication. */
  private estimateLastPly(end: RecordedEnd): number {
    const last = this.positions.at(-1);
    if (!end.isAdjudicated || last === undefined || !knowsMovesLeft(last.record)) return end.plies;
    return Math.max(end.plies, last.ply + last.record.bestM);
  }

  /** The game's records, back to back; gzip them into one file a game, as lc0 does. */
  finish(end: RecordedEnd): Buffer {
    const lastPly = this.estimateLastPly(end);
    const bytes = Buffer.alloc(this.positions.length * V6_BYTES);
    this.positions.forEach(({ record, ply, isBlack }, i) => {
      record.resultQ = isBlack ? 0 - end.whiteResult : end.whiteResult;
      record.resultD = end.whiteResult === 0 ? 1 : 0;
      record.pliesLeft = lastPly - ply;
      if (end.isAdjudicated) record.invariance |= V6_ADJUDICATED;
      if (end.isTooLong) record.invariance |= V6_TOO_LONG;
      writeV6Record(record, bytes, i * V6_BYTES);
    });
    return bytes;
  }
}
