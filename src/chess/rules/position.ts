/**
 * A position with the moves that led to it: a board of piece codes, a set of squares for each piece (for generation and
 * encoding), a key that each move updates, and a history for taking moves back. It checks nothing: the parsers of FENs
 * and moves (fen.ts, notation.ts) do. Making, taking back and generating moves allocates nothing.
 */
import { isAttacked } from './attacks.js';
import {
  BISHOP,
  type Board,
  type BoardSetup,
  type Color,
  castledKing,
  castledRook,
  KING,
  KNIGHT,
  NO_SQUARE,
  PAWN,
  popCount64,
  QUEEN,
  ROOK,
  type Square,
  START_SETUP,
  WHITE,
} from './board.js';
import { generateMoves, isEnPassantLegal } from './generate.js';
import { History, type Move, NO_MOVE } from './move.js';
import * as keys from './position-keys.js';

const { CASTLING_KEYS, EN_PASSANT_KEYS, PIECE_KEYS, SIDE_KEY } = keys;

/** Squares of one colour. Both words have the same pattern, since a word holds four whole ranks. */
const LIGHT_SQUARES = 0x55aa55aa;

export class Position implements Board {
  readonly board = new Int8Array(64);
  readonly masks = new Int32Array(32);
  sideToMove: Color = WHITE;
  /** Plies since the last capture or pawn move. */
  rule50 = 0;
  /** Plies since the start of the game, by the FEN's move number; even if White is to move. */
  gamePly = 0;
  /** Set only while a legal en passant capture exists, so that equal positions have equal keys. */
  enPassantSquare: Square | typeof NO_SQUARE = NO_SQUARE;
  readonly castlingRooks = new Int8Array(4);
  /** The 64-bit key as two int32 words: pieces, side to move, castling rights, en passant (see board.ts). */
  keyLow = 0;
  keyHigh = 0;
  /** Plies made since `setUp`; `unmakeMove` can take back as many. */
  historyLength = 0;

  private readonly kings = new Int8Array(2);
  /** Bit i says whether castlingRooks[i] is set. */
  private castlingRights = 0;
  /** castlingRooks as `setUp` made it, from which `unmakeMove` restores. */
  private readonly rookHomes = new Int8Array(4);
  /** By square: the castling rights (as bits) that a move from or to it ends. */
  private readonly rightsLost = new Uint8Array(64);
  private readonly history = new History();

  /** The standard start position. */
  constructor() {
    this.setUp(START_SETUP);
  }

  /**
   * Takes over this setup, without history. The setup must be legal: one king a side, and the side not to move not in
   * check.
   */
  setUp(setup: BoardSetup): void {
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
   * Writes the legal moves into `into` from `offset` and returns their number (see MAX_MOVES). A position always gives
   * the same order, but the order means nothing.
   */
  generateLegalMoves(into: Uint16Array, offset = 0): number {
    return generateMoves(this, into, offset) - offset;
  }

  /** Number of legal moves, three times faster than generating them. */
  countLegalMoves(): number {
    return generateMoves(this, null, 0);
  }

  /** Makes a move, which must be legal. */
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
      this.moveKingAndRook(us, from, to, castledKing(from, to), castledRook(from, to));
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

  /** Takes the last move back. `historyLength` must be above 0. */
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
      this.moveKingAndRook(us, castledKing(from, to), castledRook(from, to), from, to);
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

  /** Whether the side to move is in check. */
  inCheck(): boolean {
    return this.isKingAttacked(this.sideToMove);
  }

  /** Whether the king of a colour is attacked. In a game, that of the side not to move never is. */
  isKingAttacked(color: Color): boolean {
    const masks = this.masks;
    return isAttacked(masks, this.kings[color], color ^ 1, masks[0] | masks[16], masks[1] | masks[17]);
  }

  /** How often this position occurred before, since the last capture or pawn move or since `setUp`: 0, 1, 2, … */
  repetitions(): number {
    let count = 0;
    for (let distance = this.previousOccurrence(2); distance !== 0; distance = this.previousOccurrence(distance + 2)) {
      count++;
    }
    return count;
  }

  /** Plies since this position last occurred; 0 if it did not. */
  pliesSinceRepetition(): number {
    return this.previousOccurrence(2);
  }

  /**
   * Plies since a position stood on the board, perhaps this one (0), that had occurred before. Infinity when none has repeated
   * since the last capture or pawn move.
   */
  pliesSinceAnyRepetition(): number {
    if (this.repetitions() > 0) return 0;
    const { keyLow, keyHigh } = this.history;
    const furthest = Math.min(this.rule50, this.historyLength);
    for (let back = 1; back <= furthest; back++) {
      const row = this.historyLength - back;
      for (let earlier = row - 4; earlier >= this.historyLength - furthest; earlier -= 2) {
        if (keyLow[row] === keyLow[earlier] && keyHigh[row] === keyHigh[earlier]) return back;
      }
    }
    return Number.POSITIVE_INFINITY;
  }

  /**
   * Whether no sequence of moves can mate, as lc0 judges it (ChessBoard::HasMatingMaterial): a pawn, rook or queen can
   * mate, and so can two knights. Bare kings, a single minor piece, and any number of bishops on squares of one colour
   * cannot.
   */
  hasInsufficientMaterial(): boolean {
    const { masks } = this;
    for (let word = 0; word < 2; word++) {
      const white = masks[2 * PAWN + word] | masks[2 * ROOK + word] | masks[2 * QUEEN + word];
      const black = masks[16 + 2 * PAWN + word] | masks[16 + 2 * ROOK + word] | masks[16 + 2 * QUEEN + word];
      if (white | black) return false;
    }
    if (popCount64(masks[0] | masks[16], masks[1] | masks[17]) < 4) return true;
    if (masks[2 * KNIGHT] | masks[2 * KNIGHT + 1] | masks[16 + 2 * KNIGHT] | masks[17 + 2 * KNIGHT]) return false;
    const low = masks[2 * BISHOP] | masks[16 + 2 * BISHOP];
    const high = masks[2 * BISHOP + 1] | masks[17 + 2 * BISHOP];
    const light = (low | high) & LIGHT_SQUARES;
    const dark = (low | high) & ~LIGHT_SQUARES;
    return light === 0 || dark === 0;
  }

  /** The move made `pliesBack` plies before the last one; NO_MOVE if the history is shorter. */
  lastMove(pliesBack = 0): Move {
    const row = this.historyLength - 1 - pliesBack;
    return row < 0 ? NO_MOVE : (this.history.moves[row] as Move);
  }

  /** Low word of the key `pliesBack` (1, 2, …) plies ago; 0 if the history is shorter. */
  earlierKey(pliesBack: number): number {
    const row = this.historyLength - pliesBack;
    return row < 0 ? 0 : this.history.keyLow[row];
  }

  /** Makes this position equal to `other`, with its history. */
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

  /** Number of men of a colour: of a piece type, or of all with 0. */
  countMen(color: number, type = 0): number {
    const index = 2 * (type | (color << 3));
    return popCount64(this.masks[index], this.masks[index + 1]);
  }

  /** Smallest even number of plies, at least `from`, since this position occurred; 0 if it did not. */
  private previousOccurrence(from: number): number {
    const { keyLow, keyHigh } = this.history;
    const furthest = Math.min(this.rule50, this.historyLength);
    for (let distance = from; distance <= furthest; distance += 2) {
      const row = this.historyLength - distance;
      if (keyLow[row] === this.keyLow && keyHigh[row] === this.keyHigh) return distance;
    }
    return 0;
  }

  /** Adds the piece to the square sets, or removes it. */
  private toggleMask(code: number, square: number): void {
    const masks = this.masks;
    const word = square >> 5;
    const bit = 1 << square;
    masks[2 * code + word] ^= bit;
    masks[2 * (code & 8) + word] ^= bit;
  }

  /** As toggleMask, and updates the key. */
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

  /** Sets the en passant square if the side to move can legally capture there. */
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

  /** Castles, or takes castling back. */
  private moveKingAndRook(us: Color, kingFrom: number, rookFrom: number, kingTo: number, rookTo: number): void {
    const king = KING | (us << 3);
    const rook = ROOK | (us << 3);
    this.togglePiece(king, kingFrom);
    this.togglePiece(rook, rookFrom);
    this.togglePiece(king, kingTo);
    this.togglePiece(rook, rookTo);
    // In Chess960 these squares can coincide, so empty both before filling either.
    this.board[kingFrom] = 0;
    this.board[rookFrom] = 0;
    this.board[kingTo] = king;
    this.board[rookTo] = rook;
    this.kings[us] = kingTo;
  }
}
