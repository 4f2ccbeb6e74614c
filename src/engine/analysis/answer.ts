/** The JSON answer about a position. All values are from the view of the side to move. */
import { formatUciMove, type Move } from '../../chess/rules/index.js';
import {
  computeScore,
  computeWdl,
  convertPliesToMoves,
  DRAWN_VALUES,
  type RootDescription,
  type RootMoveDescription,
  type Wdl,
} from '../../search/index.js';
import type { PositionTask } from './parse-query.js';

export interface MoveInfo {
  readonly move: string;
  /** 0 = best. */
  readonly order: number;
  readonly visits: number;
  readonly prior: number;
  /** Expected score; a draw counts half. */
  readonly winrate: number;
  /** Per mille. */
  readonly wdl: Wdl;
  /** Null if there is a mate. */
  readonly scoreCp: number | null;
  /** Moves to a proven mate, negative if the side to move is mated. */
  readonly mate?: number;
  /** Win minus loss. */
  readonly q: number;
  /** What the search maximises: q plus the draw score. */
  readonly utility: number;
  /** Lower confidence bounds of winrate and utility. */
  readonly lcb: number;
  readonly utilityLcb: number;
  /** Expected full moves to the end of the game; absent if the network has no moves-left head. */
  readonly movesLeft?: number;
  readonly pv: readonly string[];
  readonly pvVisits?: readonly number[];
}

export interface RootInfo extends Omit<MoveInfo, 'move' | 'order' | 'prior' | 'pv' | 'pvVisits'> {
  readonly currentPlayer: 'w' | 'b';
  /** The network's evaluation without search. */
  readonly rawWinrate?: number;
  readonly rawWdl?: Wdl;
  readonly rawUtility?: number;
  readonly rawMovesLeft?: number;
}

export interface PositionAnswer {
  readonly id: string;
  readonly turnNumber: number;
  readonly isDuringSearch: boolean;
  readonly moveInfos: readonly MoveInfo[];
  readonly rootInfo: RootInfo;
  readonly policy?: Readonly<Record<string, number>>;
}

/** The search was terminated before its first visit. */
export interface EmptyAnswer extends Pick<PositionAnswer, 'id' | 'turnNumber'> {
  readonly isDuringSearch: false;
  readonly noResults: true;
}

/** The search has failed. */
export interface FailedAnswer extends Pick<PositionAnswer, 'id' | 'turnNumber'> {
  readonly isDuringSearch: false;
  readonly error: string;
}

export type AnalysisAnswer = PositionAnswer | EmptyAnswer | FailedAnswer;

export function createAnswer(task: PositionTask, root: RootDescription, isDuringSearch: boolean): PositionAnswer {
  const { queryId, turnNumber, searchMoves, moveLimit } = task;
  const wanted = root.moves.filter(({ pv }) => searchMoves.length === 0 || searchMoves.includes(pv[0] as Move));
  const isSearched = wanted.some(({ visits }) => visits > 0);
  // Before the first visit, show only the network's favourite.
  const shown = wanted.slice(0, isSearched ? moveLimit : 1);
  const mate = isSearched ? (shown[0]?.mate ?? null) : null;
  const policy = Object.fromEntries(root.legalMoves.map(({ move, prior }) => [format(task, move), round(prior)]));
  return {
    id: queryId,
    turnNumber,
    isDuringSearch,
    moveInfos: shown.map((move, order) => createMoveInfo(task, move, order)),
    rootInfo: {
      currentPlayer: getPlayer(task),
      visits: root.visits,
      ...createValues(task, root, mate),
      ...createBounds(root),
      ...createMovesLeft('movesLeft', root.m),
      rawWinrate: computeWinrate(root.own.wl),
      rawWdl: computeWdl(root.own.wl, root.own.d),
      rawUtility: round(root.own.q),
      ...createMovesLeft('rawMovesLeft', root.own.m),
    },
    ...(task.includesPolicy ? { policy } : {}),
  };
}

/** The answer for a position without legal moves. */
export function createFinishedAnswer(task: PositionTask): PositionAnswer {
  const wl = task.end === 'checkmate' ? -1 : 0;
  return {
    id: task.queryId,
    turnNumber: task.turnNumber,
    isDuringSearch: false,
    moveInfos: [],
    rootInfo: {
      currentPlayer: getPlayer(task),
      visits: 0,
      ...(wl < 0 ? createValues(task, { wl, d: 0, q: wl, mu: 0 }, 0) : createValues(task, DRAWN_VALUES, null)),
      lcb: computeWinrate(wl),
      utilityLcb: wl,
      movesLeft: 0,
    },
    ...(task.includesPolicy ? { policy: {} } : {}),
  };
}

export function createEmptyAnswer({ queryId, turnNumber }: PositionTask): EmptyAnswer {
  return { id: queryId, turnNumber, isDuringSearch: false, noResults: true };
}

export function createFailedAnswer({ queryId, turnNumber }: PositionTask, error: string): FailedAnswer {
  return { id: queryId, turnNumber, isDuringSearch: false, error };
}

function createMoveInfo(task: PositionTask, move: RootMoveDescription, order: number): MoveInfo {
  return {
    move: format(task, move.pv[0]),
    order,
    visits: move.visits,
    prior: round(move.prior),
    ...createValues(task, move, move.mate),
    ...createBounds(move),
    ...createMovesLeft('movesLeft', move.m),
    pv: move.pv.map((step) => format(task, step)),
    ...(task.includesPvVisits ? { pvVisits: move.pvVisits } : {}),
  };
}

function createValues(
  task: PositionTask,
  values: Pick<RootDescription, 'wl' | 'd' | 'q' | 'mu'>,
  mate: number | null,
): Pick<MoveInfo, 'winrate' | 'wdl' | 'scoreCp' | 'mate' | 'q' | 'utility'> {
  return {
    winrate: computeWinrate(values.wl),
    wdl: computeWdl(values.wl, values.d),
    ...(mate === null ? { scoreCp: computeScore(task.scoreType, values) } : { scoreCp: null, mate }),
    q: round(values.wl),
    utility: round(values.q),
  };
}

function createBounds({
  visits,
  wl,
  q,
  meanSquare,
}: Pick<RootDescription, 'visits' | 'wl' | 'q' | 'meanSquare'>): Pick<MoveInfo, 'lcb' | 'utilityLcb'> {
  const radius = computeBoundRadius(visits, q, meanSquare);
  // The range of a winrate is half that of a utility.
  return { lcb: round((1 + wl - radius) / 2), utilityLcb: round(q - radius) };
}

/** Plies to full moves, as `info movesleft` counts them. */
function createMovesLeft<Name extends 'movesLeft' | 'rawMovesLeft'>(
  name: Name,
  plies: number | null,
): { readonly [Key in Name]?: number } {
  if (plies === null) return {};
  return { [name]: Math.max(0, Math.trunc(convertPliesToMoves(plies))) } as { readonly [Key in Name]?: number };
}

function getPlayer({ blackToMove }: PositionTask): 'w' | 'b' {
  return blackToMove ? 'b' : 'w';
}

function computeWinrate(wl: number): number {
  return round((1 + wl) / 2);
}

function format({ chess960 }: PositionTask, move: number): string {
  return formatUciMove(move as Move, chess960);
}

/** Rounds to six decimals: no value is more exact, and the JSON is half as long. */
function round(value: number): number {
  return Math.round(value * 1e6) / 1e6 || 0;
}

/** The bound is this many standard deviations below the mean. */
const DEVIATIONS = 5;
const LARGEST_UTILITY = 1;
const SMALLEST_VARIANCE = 1e-8;

/**
 * How far the true value of a move may be below its average: KataGo's lower confidence bound
 * (cpp/search/searchhelpers.cpp, getSelfUtilityLCBAndRadius; the idea: leela-zero#2282).
 *
 * A prior of weight 1/visits² assumes the largest possible variance (the mean square plus LARGEST_UTILITY²), so a move with few
 * visits has a wide interval even if its evaluations agree.
 * @returns the distance from the mean down to the bound, in units of utility
 */
export function computeBoundRadius(visits: number, mean: number, meanSquare: number): number {
  if (visits <= 0) return 2 * LARGEST_UTILITY * DEVIATIONS;
  const square = Math.max(meanSquare, mean * mean + SMALLEST_VARIANCE);
  const priorWeight = 1 / (visits * visits);
  const weight = visits + priorWeight;
  const mixed = square + (LARGEST_UTILITY * LARGEST_UTILITY * priorWeight) / weight;
  const sampleSize = (weight * weight) / (visits + priorWeight * priorWeight);
  return DEVIATIONS * Math.sqrt((mixed - mean * mean) / sampleSize);
}
