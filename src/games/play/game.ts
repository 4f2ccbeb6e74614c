/**
 * A game between players: its clocks, its position with history, their reports on their moves, and how it ends. Also here: time
 * controls, the texts of ends, and finished games as PGN.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import { createPgnTree, formatPgn, type PlayedPgnMove } from '../../chess/pgn/index.js';
import { computeOutcome, formatUciMove, type Move, type Outcome, type Position } from '../../chess/rules/index.js';
import { decodeMate } from '../engines/index.js';
import { createOpeningPosition, type Opening } from '../openings/index.js';

// Chess clocks. A time control is written as in cutechess-cli: `moves/time+increment`, time in seconds or
// minutes:seconds; `40/60+0.1` is 40 moves a minute, again and again, plus a tenth of a second a move.

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
  private remaining: number;
  private movesLeft: number | null;

  constructor(readonly control: TimeControl) {
    this.remaining = control.periodMs;
    this.movesLeft = control.movesPerPeriod;
  }

  get remainingMs(): number {
    return this.remaining;
  }

  get movesToGo(): number | null {
    return this.movesLeft;
  }

  /**
   * Takes the time of a move off.
   * @param marginMs time by which the player may exceed the limit, for delays of the pipe and a busy machine
   * @returns false when the flag has fallen
   */
  press(elapsedMs: number, marginMs: number): boolean {
    this.remaining -= elapsedMs;
    if (this.remaining < -marginMs) return false;
    this.remaining = Math.max(this.remaining, 0) + this.control.incrementMs;
    if (this.movesLeft !== null) {
      this.movesLeft--;
      if (this.movesLeft === 0) {
        this.movesLeft = this.control.movesPerPeriod;
        this.remaining += this.control.periodMs;
      }
    }
    return true;
  }
}

// How a game ended: the result, the reason, and their texts in PGN and reports.

export type ResultText = '1-0' | '0-1' | '1/2-1/2';

export type EndReason =
  | Exclude<Outcome, 'ongoing'>
  | 'tablebase'
  | 'resignation'
  | 'adjudicated-win'
  | 'adjudicated-draw'
  | 'max-plies'
  | 'time'
  | 'illegal-move'
  | 'crash';

export interface GameEnd {
  readonly result: ResultText;
  readonly reason: EndReason;
}

export function createWin(winner: 0 | 1, reason: EndReason): GameEnd {
  return { result: winner === 0 ? '1-0' : '0-1', reason };
}

export function createDraw(reason: EndReason): GameEnd {
  return { result: '1/2-1/2', reason };
}

/** Points of White in half points: 2, 1 or 0. */
export function countWhiteHalfPoints(result: ResultText): 0 | 1 | 2 {
  return result === '1-0' ? 2 : result === '0-1' ? 0 : 1;
}

const SENTENCES: Readonly<Record<EndReason, string>> = {
  checkmate: 'WINNER mates',
  stalemate: 'Draw by stalemate',
  'insufficient-material': 'Draw by insufficient mating material',
  'fifty-moves': 'Draw by fifty moves rule',
  threefold: 'Draw by 3-fold repetition',
  tablebase: 'Adjudicated by tablebase',
  resignation: 'LOSER resigns',
  'adjudicated-win': 'WINNER wins by adjudication',
  'adjudicated-draw': 'Draw by adjudication',
  'max-plies': 'Draw by adjudication: maximum game length',
  time: 'LOSER loses on time',
  'illegal-move': 'LOSER makes an illegal move',
  crash: 'LOSER disconnects',
};

export const END_REASONS = Object.keys(SENTENCES) as readonly EndReason[];

export function describeEnd({ result, reason }: GameEnd): string {
  const [winner, loser] = result === '0-1' ? ['Black', 'White'] : ['White', 'Black'];
  return SENTENCES[reason].replace('WINNER', winner).replace('LOSER', loser);
}

/** The value of PGN's Termination tag. */
export function formatTermination(reason: EndReason): string {
  switch (reason) {
    case 'time':
      return 'time forfeit';
    case 'illegal-move':
      return 'rules infraction';
    case 'crash':
      return 'abandoned';
    case 'tablebase':
    case 'adjudicated-win':
    case 'adjudicated-draw':
    case 'max-plies':
      return 'adjudication';
    default:
      return 'normal';
  }
}

/** A player's move and its evaluation; 0 or null for what the player does not report. */
export interface Thought {
  readonly move: Move;
  /** Coded centipawns (encodeScore) from the mover's view. */
  readonly score: number | null;
  readonly depth: number;
  readonly nodes: number;
  /** Time taken, if the player can measure it better than its caller; else null. */
  readonly timeMs: number | null;
}

export interface PlayedMove extends Thought {
  readonly timeMs: number;
}

export class Game {
  readonly position: Position;
  /** Moves after the opening. */
  readonly played: PlayedMove[] = [];
  /** All moves from the opening's FEN, in UCI notation. */
  readonly uciMoves: string[];

  constructor(
    readonly opening: Opening,
    readonly chess960: boolean,
  ) {
    this.position = createOpeningPosition(opening);
    this.uciMoves = opening.moves.map((move) => formatUciMove(move, chess960));
  }

  /** @param move legal in the position */
  play(move: PlayedMove): void {
    this.uciMoves.push(formatUciMove(move.move, this.chess960));
    this.played.push(move);
    this.position.makeMove(move.move);
  }

  /** The end by the laws of chess, null while the game goes on. */
  getEnd(): GameEnd | null {
    const outcome = computeOutcome(this.position);
    if (outcome === 'ongoing') return null;
    if (outcome === 'checkmate') return createWin(this.position.sideToMove === 0 ? 1 : 0, outcome);
    return createDraw(outcome);
  }

  /** The words after UCI's `position`. */
  formatUciPosition(): string {
    const moves = this.uciMoves.length === 0 ? '' : ` moves ${this.uciMoves.join(' ')}`;
    return `fen ${this.opening.fen}${moves}`;
  }
}

// Finished games as PGN, with comments in the form of cutechess-cli, which GUIs read: `{+0.31/12 0.52s}`.

export interface FinishedGameText {
  readonly event: string;
  /** Year-month-day with dots. */
  readonly date: string;
  readonly round: string;
  readonly white: string;
  readonly black: string;
  readonly timeControls: readonly [white: string, black: string];
  readonly chess960: boolean;
  readonly opening: Opening;
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
}

const LINE_WIDTH = 80;

/** One game, ending in an empty line. */
export function formatGame(game: FinishedGameText): string {
  const { opening, played, end } = game;
  const moves = listMoves(game);
  const tree = createPgnTree({
    tags: [
      ['Event', game.event],
      ['Site', '?'],
      ['Date', game.date],
      ['Round', game.round],
      ['White', game.white],
      ['Black', game.black],
      ['Result', end.result],
      ...listTimeControls(game),
      ['PlyCount', String(opening.moves.length + played.length)],
      ['Termination', formatTermination(end.reason)],
    ],
    startFen: opening.fen,
    isChess960: game.chess960,
    moves,
    comment: moves.length === 0 ? describeEnd(end) : '',
  });
  return `${formatPgn(tree, { lineWidth: LINE_WIDTH, hasTightComments: true })}\n`;
}

/** One tag, or two as cutechess writes them when the players have different limits. */
function listTimeControls({ timeControls: [white, black] }: FinishedGameText): [string, string][] {
  if (white === black) return [['TimeControl', white]];
  return [
    ['WhiteTimeControl', white],
    ['BlackTimeControl', black],
  ];
}

/** How the game ended is added to the last comment, after a comma, because some readers fail on two comments in a row. */
function listMoves({ opening, played, end }: FinishedGameText): PlayedPgnMove[] {
  const moves = [
    ...opening.moves.map((move) => ({ move, comment: 'book' })),
    ...played.map((move) => ({ move: move.move, comment: formatThought(move) })),
  ];
  const last = moves.at(-1);
  if (last !== undefined) last.comment += `, ${describeEnd(end)}`;
  return moves;
}

/** Scores from the mover's view, as cutechess writes them. */
function formatThought({ score, depth, timeMs }: PlayedMove): string {
  const time = `${(timeMs / 1000).toFixed(timeMs < 10_000 ? 3 : 1)}s`;
  return score === null ? time : `${formatScore(score)}/${depth} ${time}`;
}

function formatScore(score: number): string {
  const mate = decodeMate(score);
  const sign = score > 0 ? '+' : score < 0 ? '-' : '';
  return mate === null ? `${sign}${(Math.abs(score) / 100).toFixed(2)}` : `${sign}M${Math.abs(mate)}`;
}
