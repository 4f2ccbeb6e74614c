/** Finished games as PGN, with comments in the form of cutechess-cli, which GUIs read: `{+0.31/12 0.52s}`. */
import { createPgnTree, formatPgn, type PlayedPgnMove } from '../../chess/pgn/index.js';
import { decodeMate } from '../engines/index.js';
import type { Opening } from '../openings/index.js';
import type { PlayedMove } from './game.js';
import { describeEnd, formatTermination, type GameEnd } from './game-end.js';

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
