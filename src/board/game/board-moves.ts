/** Legal moves as a board with the mouse needs them: from which square to which, and what a drop may mean. */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  BLACK,
  formatSan,
  formatSquare,
  formatUciMove,
  isCastling,
  isNullMove,
  listLegalMoves,
  type Move,
  moveFrom,
  movePromotion,
  moveTo,
  NO_MOVE,
  type Position,
  parseSan,
  parseUciMove,
  passTurn,
  type Square,
} from '../../chess/rules/index.js';
import type { Line, MoveRow } from '../protocol/replies.js';

/** Where the king ends, by the side of the rook: file g or c. */
function getKingTarget(move: Move): Square {
  const file = moveTo(move) > moveFrom(move) ? 6 : 2;
  return ((moveFrom(move) & 56) | file) as Square;
}

/** A castling king may be dropped on its rook, and in the standard set-up also on the square where it ends. */
function listTargets(move: Move, isChess960: boolean): Square[] {
  if (!isCastling(move)) return [moveTo(move)];
  return isChess960 ? [moveTo(move)] : [moveTo(move), getKingTarget(move)];
}

/** From square → to squares, by name. */
export function createDests(position: Position, isChess960: boolean): Map<string, string[]> {
  const dests = new Map<string, string[]>();
  for (const move of listLegalMoves(position)) {
    const from = formatSquare(moveFrom(move));
    const known = dests.get(from) ?? [];
    for (const to of listTargets(move, isChess960).map((square) => formatSquare(square))) {
      if (!known.includes(to)) known.push(to);
    }
    dests.set(from, known);
  }
  return dests;
}

/** The moves that a drop may mean: none, one, or the four promotions. */
export function findDroppedMoves(position: Position, from: string, to: string, isChess960: boolean): Move[] {
  return listLegalMoves(position).filter(
    (move) =>
      formatSquare(moveFrom(move)) === from &&
      listTargets(move, isChess960).some((square) => formatSquare(square) === to),
  );
}

/** The squares of a move to be marked on the board: for castling where king and rook stood. */
export function getMoveSquares(move: Move): readonly string[] {
  return move === NO_MOVE ? [] : [formatSquare(moveFrom(move)), formatSquare(moveTo(move))];
}

/** Where an arrow for a UCI move points; castling points to the king's new square. */
export function getArrow(position: Position, uci: string, isChess960: boolean): [from: string, to: string] {
  const move = parseUciMove(position, uci);
  if (!move.ok) return [uci.slice(0, 2), uci.slice(2, 4)];
  const to = isCastling(move.value) && !isChess960 ? getKingTarget(move.value) : moveTo(move.value);
  return [formatSquare(moveFrom(move.value)), formatSquare(to)];
}

/** A null move: the turn passes. The error is the sentence for the user. */
export function parsePass(position: Position): Result<Move> {
  return passTurn(position).ok ? success(NO_MOVE) : failure('In check nobody can pass');
}

/**
 * `Nf3`, `e2e4`, `e8=Q`, `o-o`: what somebody types. The error is the sentence for the user.
 * @param mayPass `--` is a null move
 */
export function parseTypedMove(position: Position, text: string, mayPass = false): Result<Move> {
  const trimmed = text.trim();
  if (mayPass && isNullMove(trimmed)) return parsePass(position);
  const uci = parseUciMove(position, trimmed.toLowerCase());
  if (uci.ok) return uci;
  const san = parseSan(
    position,
    trimmed.replace(/^([o0])-\1(-\1)?/i, (castling) => castling.toUpperCase()),
  );
  if (san.ok) return san;
  const strip = (written: string): string => written.toLowerCase().replace(/[+#=x]/g, '');
  const wanted = strip(trimmed);
  const legal = listLegalMoves(position).map((move) => ({ move, written: formatSan(position, move) }));
  const meant = legal.filter(({ written }) => strip(written) === wanted);
  if (meant.length === 1) return success(meant[0].move);
  const promoted = legal.find(
    ({ move, written }) =>
      movePromotion(move) !== 0 && [strip(written), formatUciMove(move, false)].includes(`${wanted}q`),
  );
  if (promoted !== undefined) return failure(`${trimmed} needs a piece: ${promoted.written}`);
  return failure(`"${trimmed}" is no legal move here`);
}

/** "12." for White, "12…" for Black. @param gamePly before the move */
export function formatMoveNumber(gamePly: number, isBlack: boolean): string {
  return `${(gamePly >> 1) + 1}${isBlack ? '…' : '.'}`;
}

/** UCI moves → SAN, as far as they are legal. @param position is left as it was */
export function describeLine(
  position: Position,
  ucis: readonly string[],
): { uci: string; san: string; number: string }[] {
  const line: { uci: string; san: string; number: string }[] = [];
  for (const uci of ucis) {
    const move = parseUciMove(position, uci);
    if (!move.ok) break;
    const isBlack = position.sideToMove === BLACK;
    const number = isBlack && line.length > 0 ? '' : formatMoveNumber(position.gamePly, isBlack);
    line.push({ uci, san: formatSan(position, move.value), number });
    position.makeMove(move.value);
  }
  for (const _ of line) position.unmakeMove();
  return line;
}

/** The piece letter of a promotion (n, b, r, q); '' for other moves. */
export function getPromotionLetter(move: Move): string {
  return ['', '', 'n', 'b', 'r', 'q'][movePromotion(move)] ?? '';
}

export function requireMove(position: Position, uci: string): Move {
  return unwrap(parseUciMove(position, uci));
}

/**
 * Arrows for the engine's moves. The share says how much the search (or the network, for the policy) likes a move, the shade what
 * the move is worth next to the best.
 */
export type ArrowMode = 'visits' | 'policy';

interface MoveArrow {
  readonly move: string;
  /** 0 to 1. */
  readonly share: number;
  /** Loss of value against the best move, in steps 0 (none) to ARROW_SHADES - 1. */
  readonly shade: number;
}

export const ARROW_SHADES = 6;
/** Loss of Q at which the last shade is reached: a fifth of a won game. */
const LARGEST_LOSS = 0.4;
const MOST_ARROWS = 6;
const LEAST_SHARE = 0.04;

/** @param rows most visits first */
export function createArrows(rows: readonly MoveRow[], lines: readonly Line[], mode: ArrowMode): MoveArrow[] {
  if (rows.length === 0) {
    const [best] = lines;
    return best?.pv[0] === undefined ? [] : [{ move: best.pv[0], share: 1, shade: 0 }];
  }
  const visits = rows.reduce((sum, row) => sum + row.visits, 0);
  const getShare = (row: MoveRow): number => (mode === 'policy' ? row.prior : row.visits / Math.max(1, visits));
  const bestMove = lines[0]?.pv[0];
  const bestQ = (rows.find(({ move }) => move === bestMove) ?? rows[0]).q;
  return rows
    .map((row) => ({ row, share: getShare(row) }))
    .sort((a, b) => b.share - a.share)
    .filter(({ share, row }, index) => index === 0 || share >= LEAST_SHARE || row.move === bestMove)
    .slice(0, MOST_ARROWS)
    .map(({ row, share }) => ({ move: row.move, share, shade: getShade(bestQ - row.q) }));
}

function getShade(loss: number): number {
  const step = Math.round((Math.max(0, loss) / LARGEST_LOSS) * (ARROW_SHADES - 1));
  return Math.min(ARROW_SHADES - 1, step);
}
