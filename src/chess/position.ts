/**
 * A position with the moves that led to it: a mailbox board for "what stands here", masks for generation and encoding,
 * an incremental key, and a history to take moves back. It trusts its callers: FENs and moves are checked where text
 * comes in (fen.ts, uci-move.ts, san.ts), never here. Nothing on the path of make, unmake or generate allocates.
 */
import { isAttacked } from './attacks.js';
import { castledKing, castledRook } from './castling.js';
import { isEnPassantLegal } from './en-passant.js';
import { generateMoves } from './generate.js';
import { History } from './history.js';
import { hasInsufficientMaterial } from './material.js';
import { type Move, NO_MOVE } from './move.js';
import { type Color, KING, PAWN, ROOK, WHITE } from './piece.js';
import { type PositionSetup, START_SETUP } from './setup.js';
import { NO_SQUARE, type Square } from './square.js';
import * as zobrist from './zobrist.js';

const { CASTLING_KEYS, EN_PASSANT_KEYS, PIECE_KEYS, SIDE_KEY } = zobrist;

export class Position {
  /** 64 piece codes, indexed by square. */
  readonly board = new Int8Array(64);
  /**
   * Squares of each piece code: low word at `2 * code` (squares 0..31), high word after it. Code 0 (and 8) hold all
   * white (all black) pieces.
   */
  readonly masks = new Int32Array(32);
  sideToMove: Color = WHITE;
  /** Plies since the last capture or pawn move. */
  rule50 = 0;
  /** Plies since the start of the game by the FEN's move number; even when White is to move. */
  gamePly = 0;
  /** Set only while a legal en passant capture exists, so that equal positions look equal. */
  enPassantSquare: Square | typeof NO_SQUARE = NO_SQUARE;
  /** [white h-side, white a-side, black h-side, black a-side]: square of the rook that may castle, or NO_SQUARE. */
  readonly castlingRooks = new Int8Array(4);
  /** The 64-bit key as two int32: pieces, side to move, castling rights, en passant. */
  keyLow = 0;
  keyHigh = 0;
  /** Plies made since the FEN: how often unmakeMove may be called. */
  historyLength = 0;

  private readonly kings = new Int8Array(2);
  /** Bit i = castlingRooks[i] is set. */
  private castlingRights = 0;
  /** Squares of the castling rooks at the root, to restore castlingRooks on the way back. */
  private readonly rookHomes = new Int8Array(4);
  /** Castling rights (as bits) that end when a move starts or ends on a square. */
  private readonly rightsLost = new Uint8Array(64);
  private readonly history = new History();

  /** The standard start position. */
  constructor() {
    this.setUp(START_SETUP);
  }

  /** Becomes this position, with no history. The setup must be legal: one king each, side not to move not in check. */
  setUp(setup: PositionSetup): void {
    this.masks.fill(0);
    this.keyLow = setup.sideToMove === WHITE ? 0 : SIDE_KEY[0];
    this.keyHigh = setup.sideToMove === WHITE ? 0 : SIDE_KEY[1];
    for (let square = 0; square < 64; square++) {
      const code = setup.board[square];
      this.board[square] = code;
      if (code === 0) continue;
      this.togglePiece(code, square);
      if ((code & 7) === KING) this.kings[code >> 3] = square;
    }
    this.sideToMove = setup.sideToMove;
    this.rule50 = setup.rule50;
    this.gamePly = setup.gamePly;
    this.historyLength = 0;
    this.castlingRights = 0;
    this.rightsLost.fill(0);
    for (let i = 0; i < 4; i++) {
      const rook = setup.castlingRooks[i];
      this.castlingRooks[i] = rook;
      this.rookHomes[i] = rook;
      if (rook === NO_SQUARE) continue;
      this.castlingRights |= 1 << i;
      this.rightsLost[rook] |= 1 << i;
      this.rightsLost[this.kings[i >> 1]] |= 1 << i;
      this.keyLow ^= CASTLING_KEYS[2 * rook];
      this.keyHigh ^= CASTLING_KEYS[2 * rook + 1];
    }
    this.enPassantSquare = NO_SQUARE;
    if (setup.enPassantSquare !== NO_SQUARE) this.offerEnPassant(setup.enPassantSquare);
  }

  kingSquare(color: Color): Square {
    return this.kings[color] as Square;
  }

  /**
   * Writes the legal moves into `into` from `offset` and returns how many there are (at most 218 in positions that can
   * arise in a game). The order is fixed for a position but means nothing.
   */
  generateLegalMoves(into: Uint16Array, offset = 0): number {
    return generateMoves(this, into, offset) - offset;
  }

  /** As generateLegalMoves, three times faster, without the moves. */
  countLegalMoves(): number {
    return generateMoves(this, null, 0);
  }

  /** Makes a legal move. */
  makeMove(move: Move): void {
    const row = this.historyLength;
    const history = this.history;
    if (row === history.capacity) history.grow(row + 1);
    const board = this.board;
    const us = this.sideToMove;
    const from = move & 63;
    const to = (move >> 6) & 63;
    const piece = board[from];
    const captured = move >= 0x8000 ? 0 : board[to];
    const enPassantSquare = this.enPassantSquare;

    history.moves[row] = move;
    history.keyLow[row] = this.keyLow;
    history.keyHigh[row] = this.keyHigh;
    history.states[row] = captured | (this.castlingRights << 4) | ((enPassantSquare + 1) << 8) | (this.rule50 << 15);
    this.historyLength = row + 1;

    if (enPassantSquare !== NO_SQUARE) {
      this.enPassantSquare = NO_SQUARE;
      this.toggleEnPassantKey(enPassantSquare);
    }
    this.rule50++;
    this.gamePly++;
    this.sideToMove = (us ^ 1) as Color;
    this.keyLow ^= SIDE_KEY[0];
    this.keyHigh ^= SIDE_KEY[1];

    if (this.rightsLost[from] | this.rightsLost[to]) {
      const rights = this.castlingRights & ~(this.rightsLost[from] | this.rightsLost[to]);
      if (rights !== this.castlingRights) this.changeCastlingRights(rights);
    }

    if (move >= 0x8000) {
      this.castle(us, from, to);
      return;
    }
    if (captured !== 0) {
      this.togglePiece(captured, to);
      this.rule50 = 0;
    }
    this.togglePiece(piece, from);
    board[from] = 0;
    const promotion = move >> 12;
    const placed = promotion === 0 ? piece : promotion | (us << 3);
    this.togglePiece(placed, to);
    board[to] = placed;

    const type = piece & 7;
    if (type === PAWN) {
      this.rule50 = 0;
      if (to === enPassantSquare) {
        const victim = to ^ 8;
        this.togglePiece(board[victim], victim);
        board[victim] = 0;
      } else if ((from ^ to) === 16) {
        this.offerEnPassant((from + to) >> 1);
      }
    } else if (type === KING) {
      this.kings[us] = to;
    }
  }

  /** Takes the last move back; historyLength must be above 0. */
  unmakeMove(): void {
    const row = --this.historyLength;
    const history = this.history;
    const board = this.board;
    const move = history.moves[row];
    const state = history.states[row];
    const us = (this.sideToMove ^ 1) as Color;
    const from = move & 63;
    const to = (move >> 6) & 63;

    this.sideToMove = us;
    this.gamePly--;
    this.rule50 = state >>> 15;
    this.enPassantSquare = (((state >> 8) & 127) - 1) as Square;

    if (move >= 0x8000) {
      this.uncastle(us, from, to);
    } else {
      const placed = board[to];
      const piece = move >> 12 === 0 ? placed : PAWN | (us << 3);
      const captured = state & 15;
      this.toggleMask(placed, to);
      this.toggleMask(piece, from);
      board[from] = piece;
      board[to] = captured;
      if (captured !== 0) this.toggleMask(captured, to);
      const type = piece & 7;
      if (type === KING) {
        this.kings[us] = from;
      } else if (type === PAWN && to === this.enPassantSquare) {
        const victim = to ^ 8;
        const pawn = PAWN | ((us ^ 1) << 3);
        this.toggleMask(pawn, victim);
        board[victim] = pawn;
      }
    }
    const rights = (state >> 4) & 15;
    if (rights !== this.castlingRights) this.changeCastlingRights(rights);
    this.keyLow = history.keyLow[row];
    this.keyHigh = history.keyHigh[row];
  }

  inCheck(): boolean {
    return this.isKingAttacked(this.sideToMove);
  }

  /** True only in positions that no game reaches; for parsers. */
  isOpponentInCheck(): boolean {
    return this.isKingAttacked((this.sideToMove ^ 1) as Color);
  }

  /** Earlier occurrences of this position since the last irreversible move or the FEN: 0, 1, 2, … */
  repetitions(): number {
    let count = 0;
    for (let distance = this.previousOccurrence(2); distance !== 0; distance = this.previousOccurrence(distance + 2)) {
      count++;
    }
    return count;
  }

  /** Plies back to the previous occurrence of this position, 0 when there is none. */
  pliesSinceRepetition(): number {
    return this.previousOccurrence(2);
  }

  /** No sequence of moves can mate, as lc0 counts it: bare kings, one minor piece, or bishops all on one colour. */
  hasInsufficientMaterial(): boolean {
    return hasInsufficientMaterial(this.masks);
  }

  /** The move made `pliesBack` plies before the last one; NO_MOVE when the history does not reach that far. */
  lastMove(pliesBack = 0): Move {
    const row = this.historyLength - 1 - pliesBack;
    return row < 0 ? NO_MOVE : (this.history.moves[row] as Move);
  }

  /** The low word of the key `pliesBack` (1, 2, …) plies ago; 0 when the history does not reach that far. */
  earlierKey(pliesBack: number): number {
    const row = this.historyLength - pliesBack;
    return row < 0 ? 0 : this.history.keyLow[row];
  }

  /** Becomes equal to `other`, history included. */
  copyFrom(other: Position): void {
    this.board.set(other.board);
    this.masks.set(other.masks);
    this.sideToMove = other.sideToMove;
    this.rule50 = other.rule50;
    this.gamePly = other.gamePly;
    this.enPassantSquare = other.enPassantSquare;
    this.castlingRooks.set(other.castlingRooks);
    this.keyLow = other.keyLow;
    this.keyHigh = other.keyHigh;
    this.historyLength = other.historyLength;
    this.kings.set(other.kings);
    this.castlingRights = other.castlingRights;
    this.rookHomes.set(other.rookHomes);
    this.rightsLost.set(other.rightsLost);
    this.history.copyFrom(other.history, other.historyLength);
  }

  clone(): Position {
    const position = new Position();
    position.copyFrom(this);
    return position;
  }

  private isKingAttacked(color: Color): boolean {
    const masks = this.masks;
    return isAttacked(masks, this.kings[color], color ^ 1, masks[0] | masks[16], masks[1] | masks[17]);
  }

  /** Smallest even distance ≥ `from` at which this position stood, 0 when none. */
  private previousOccurrence(from: number): number {
    const { keyLow, keyHigh } = this.history;
    const furthest = Math.min(this.rule50, this.historyLength);
    for (let distance = from; distance <= furthest; distance += 2) {
      const row = this.historyLength - distance;
      if (keyLow[row] === this.keyLow && keyHigh[row] === this.keyHigh) return distance;
    }
    return 0;
  }

  private toggleMask(code: number, square: number): void {
    const masks = this.masks;
    const word = square >> 5;
    const bit = 1 << square;
    masks[2 * code + word] ^= bit;
    masks[2 * (code & 8) + word] ^= bit;
  }

  private togglePiece(code: number, square: number): void {
    this.toggleMask(code, square);
    const key = (code << 7) | (square << 1);
    this.keyLow ^= PIECE_KEYS[key];
    this.keyHigh ^= PIECE_KEYS[key + 1];
  }

  private toggleEnPassantKey(square: number): void {
    this.keyLow ^= EN_PASSANT_KEYS[2 * (square & 7)];
    this.keyHigh ^= EN_PASSANT_KEYS[2 * (square & 7) + 1];
  }

  /** Keeps `square` as the en passant square if the side to move can legally capture there. */
  private offerEnPassant(square: number): void {
    if (!isEnPassantLegal(this, square)) return;
    this.enPassantSquare = square as Square;
    this.toggleEnPassantKey(square);
  }

  private changeCastlingRights(rights: number): void {
    const changed = rights ^ this.castlingRights;
    for (let i = 0; i < 4; i++) {
      if (((changed >> i) & 1) === 0) continue;
      const rook = this.rookHomes[i];
      this.keyLow ^= CASTLING_KEYS[2 * rook];
      this.keyHigh ^= CASTLING_KEYS[2 * rook + 1];
      this.castlingRooks[i] = (rights >> i) & 1 ? rook : NO_SQUARE;
    }
    this.castlingRights = rights;
  }

  private castle(us: Color, kingFrom: number, rookFrom: number): void {
    const king = KING | (us << 3);
    const rook = ROOK | (us << 3);
    const kingTo = castledKing(kingFrom, rookFrom);
    const rookTo = castledRook(kingFrom, rookFrom);
    this.togglePiece(king, kingFrom);
    this.togglePiece(rook, rookFrom);
    this.togglePiece(king, kingTo);
    this.togglePiece(rook, rookTo);
    // In Chess960 the four squares may coincide: empty both before either is filled.
    this.board[kingFrom] = 0;
    this.board[rookFrom] = 0;
    this.board[kingTo] = king;
    this.board[rookTo] = rook;
    this.kings[us] = kingTo;
  }

  private uncastle(us: Color, kingFrom: number, rookFrom: number): void {
    const king = KING | (us << 3);
    const rook = ROOK | (us << 3);
    const kingTo = castledKing(kingFrom, rookFrom);
    const rookTo = castledRook(kingFrom, rookFrom);
    this.toggleMask(king, kingTo);
    this.toggleMask(rook, rookTo);
    this.toggleMask(king, kingFrom);
    this.toggleMask(rook, rookFrom);
    this.board[kingTo] = 0;
    this.board[rookTo] = 0;
    this.board[kingFrom] = king;
    this.board[rookFrom] = rook;
    this.kings[us] = kingFrom;
  }
}
