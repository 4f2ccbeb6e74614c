// Finds short tactics in labelled positions: the kind of tactic that the side to move has, and the moves that solve it.
//
// Mates are found by the rules alone. The other kinds are read off the board as well, and the labels must agree: the
// best scored move is of that kind, and every scored move that is not costs a good share of the winning chances.
// Positions in which a move of another kind is about as good are left out, so that every other move is an error.
import {
  findMate,
  formatUciMove,
  getPieceAttacks,
  KING,
  listLegalMoves,
  moveFrom,
  movePromotion,
  moveTo,
  PAWN,
  parseUciMove,
} from '../../../dist/chess/rules/index.js';
import { getWinChances } from './labelled-positions.mjs';

/** Values of the piece types in pawns; a king counts as the most valuable target. */
const VALUES = [0, 1, 3, 3, 5, 9, 100];
const MATE_SCORE = 31_000;
const MATE_IN_TWO_SCORE = 31_996;
/** Positions that the search for a mate in two may visit. */
const MATE_EFFORT = 200_000;
/** A winning capture gains at least this many pawns. */
const GAIN = 2;
/** In per cent of winning chances: solutions are at most this much worse than the best move, all other scored moves more. */
const SAME = 5;
const WORSE = 15;

export const TACTIC_KINDS = ['mate in one', 'mate in two', 'recapture', 'winning capture', 'fork'];

/**
 * The tactic of the side to move, or null.
 *
 * @param {Position} position with its history
 * @param {[move: string, centipawns: number][]} scores the label, best move first; mate in n is 32000 − 2n
 * @returns {{ kind: string, solutions: string[] } | null} solutions in UCI notation
 */
export function findTactic(position, scores) {
  if (scores.length < 2) return null;
  const mates = listLegalMoves(position).filter((move) => isMate(position, move));
  if (mates.length > 0) return { kind: 'mate in one', solutions: formatMoves(mates) };
  if (scores[0][1] >= MATE_IN_TWO_SCORE) return findMatesInTwo(position);
  if (Math.abs(scores[0][1]) >= MATE_SCORE) return null;
  const finders = { recapture: isRecapture, 'winning capture': isWinningCapture, fork: isFork };
  for (const [kind, isOfKind] of Object.entries(finders)) {
    const solutions = chooseSolutions(position, scores, isOfKind);
    if (solutions !== null) return { kind, solutions };
  }
  return null;
}

function formatMoves(moves) {
  return moves.map((move) => formatUciMove(move, false));
}

function isMate(position, move) {
  position.makeMove(move);
  const isIt = position.inCheck() && position.countLegalMoves() === 0;
  position.unmakeMove();
  return isIt;
}

function findMatesInTwo(position) {
  const mates = listLegalMoves(position).filter(
    (move) => findMate(position, { moves: 2, effort: MATE_EFFORT, candidates: [move] }).line !== null,
  );
  return mates.length === 0 ? null : { kind: 'mate in two', solutions: formatMoves(mates) };
}

/** The scored moves of a kind about as good as the best one; null unless all other scored moves are clearly worse. */
function chooseSolutions(position, scores, isOfKind) {
  const best = getWinChances(scores[0][1]);
  const solutions = [];
  for (const [text, centipawns] of scores) {
    const lost = best - getWinChances(centipawns);
    if (lost >= WORSE) continue;
    const move = parseUciMove(position, text);
    if (lost > SAME || !move.ok || !isOfKind(position, move.value)) return null;
    solutions.push(text);
  }
  const isForced = solutions.length === position.countLegalMoves();
  const isOpen = solutions.length === scores.length; // unscored moves may be as good
  return isForced || isOpen ? null : solutions;
}

/** Whether the move captures the piece that has just captured. */
function isRecapture(position, move) {
  if (position.historyLength === 0 || position.board[moveTo(move)] === 0) return false;
  const last = position.lastMove();
  if (moveTo(last) !== moveTo(move)) return false;
  const piecesNow = countPieces(position);
  position.unmakeMove();
  const piecesBefore = countPieces(position);
  position.makeMove(last);
  return piecesBefore > piecesNow;
}

/** Whether the value of the captured piece, less that of the capturing piece if it can be recaptured, is at least GAIN. */
function isWinningCapture(position, move) {
  const { board } = position;
  const captured = VALUES[board[moveTo(move)] & 7];
  if (captured === 0 || movePromotion(move) !== 0 || isRecapture(position, move)) return false;
  const own = VALUES[board[moveFrom(move)] & 7];
  position.makeMove(move);
  const isRecaptured = listLegalMoves(position).some((reply) => moveTo(reply) === moveTo(move));
  position.unmakeMove();
  return captured - (isRecaptured ? own : 0) >= GAIN;
}

/** A quiet move of a piece that then attacks two: kings, pieces worth more than itself, undefended pieces. */
function isFork(position, move) {
  if (position.board[moveTo(move)] !== 0 || movePromotion(move) !== 0) return false;
  position.makeMove(move);
  const { board, sideToMove } = position;
  const from = moveTo(move);
  const own = VALUES[board[from] & 7];
  let targets = 0;
  for (let square = 0; square < 64; square++) {
    const type = board[square] & 7;
    if (type === 0 || type === PAWN || board[square] >> 3 !== sideToMove || !attacks(position, from, square)) continue;
    if (type === KING || VALUES[type] > own || !isDefended(position, square)) targets++;
  }
  position.unmakeMove();
  return targets >= 2;
}

function isDefended(position, square) {
  const { board } = position;
  const color = board[square] >> 3;
  return board.some((piece, from) => piece !== 0 && piece >> 3 === color && attacks(position, from, square));
}

function attacks(position, from, to) {
  return ((getPieceAttacks(position, from, to < 32 ? 0 : 1) >>> (to & 31)) & 1) === 1;
}

function countPieces({ board }) {
  return board.reduce((count, piece) => count + (piece === 0 ? 0 : 1), 0);
}
