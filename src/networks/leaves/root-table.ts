/**
 * The root table: the positions where the paths of leaves start, one row for each search (or game of self-play). A slot stores the
 * number of its row.
 *
 * | column     | type          | written by | read by    | meaning                                                   |
 * |------------|---------------|------------|------------|-----------------------------------------------------------|
 * | version    | Int32, atomic | producer   | evaluators | grows with each write; an evaluator rebuilds its board    |
 * | rules      | Uint8         | producer   | evaluators | bit 0: a position repeated inside the path is a draw;     |
 * |            |               |            |            | bits 1-3: earlier positions in the tag of a node and in   |
 * |            |               |            |            | the cache's key;                                          |
 * |            |               |            |            | bit 4: leaves are not looked up in tablebases;            |
 * |            |               |            |            | bit 5: edges of equal prior are in lc0's order            |
 * | fenLength  | Uint16        | producer   | evaluators | bytes of `fen` in use                                     |
 * | fen        | Uint8 × 192   | producer   | evaluators | where the game started, ASCII                             |
 * | moveCount  | Uint16        | producer   | evaluators | moves of `moves` in use                                   |
 * | moves      | Uint16 × 4096 | producer   | evaluators | the game from `fen` to the root of the search             |
 *
 * A row may be written only while none of its leaves is in flight. Submitting a leaf publishes the row.
 */

import { unwrap } from '../../base/util/index.js';
import { formatFen, type Move, parseFen } from '../../chess/rules/index.js';

export const ROOT_ROWS = 1024;
const FEN_BYTES = 192;
export const MAX_ROOT_MOVES = 4096;
/** Number of moves to keep of a game that does not fit; encodings and repetition rules look back far less. */
const KEPT_MOVES = 1024;
const RULE_TWO_FOLD = 1;
const HISTORY_SHIFT = 1;
const HISTORY_MASK = 7;
const RULE_NO_TABLEBASES = 16;
const RULE_LC0_ORDER = 32;

/** The root of a search, with the rules that hold below it. */
export interface RootPosition {
  readonly fen: string;
  /** Moves from `fen` to the root. */
  readonly moves: ArrayLike<number>;
  /** lc0's TwoFoldDraws: the second occurrence of a position inside the search path counts as a draw. */
  readonly twoFoldDraws: boolean;
  /** Number of earlier positions (0 to 7) in node tags of a graph search and in keys of the evaluation cache; absent = 0. */
  readonly keyHistory?: number;
  /** Leaves are not looked up in tablebases, because the root is in them. */
  readonly skipsTablebases?: boolean;
  /** Edges of equal prior are in the order that they have in lc0. */
  readonly lc0Order?: boolean;
}

export class RootTable {
  readonly version: Int32Array;
  private readonly rules: Uint8Array;
  private readonly fenLength: Uint16Array;
  private readonly moveCount: Uint16Array;
  private readonly fen: Uint8Array;
  private readonly moves: Uint16Array;

  constructor(buffer: SharedArrayBuffer) {
    let offset = 0;
    const column = (bytes: number): number => {
      offset += bytes;
      return offset - bytes;
    };
    this.version = new Int32Array(buffer, column(ROOT_ROWS * 4), ROOT_ROWS);
    this.rules = new Uint8Array(buffer, column(ROOT_ROWS), ROOT_ROWS);
    this.fenLength = new Uint16Array(buffer, column(ROOT_ROWS * 2), ROOT_ROWS);
    this.moveCount = new Uint16Array(buffer, column(ROOT_ROWS * 2), ROOT_ROWS);
    this.fen = new Uint8Array(buffer, column(ROOT_ROWS * FEN_BYTES), ROOT_ROWS * FEN_BYTES);
    this.moves = new Uint16Array(buffer, column(ROOT_ROWS * MAX_ROOT_MOVES * 2), ROOT_ROWS * MAX_ROOT_MOVES);
  }

  static createBuffer(): SharedArrayBuffer {
    return new SharedArrayBuffer(ROOT_ROWS * (4 + 1 + 2 + 2 + FEN_BYTES + MAX_ROOT_MOVES * 2));
  }

  write(row: number, root: RootPosition): void {
    const { fen, moves } = root.moves.length > MAX_ROOT_MOVES ? shortenGame(root) : root;
    if (fen.length > FEN_BYTES) throw new Error(`A FEN of ${fen.length} characters does not fit a root row`);
    for (let i = 0; i < fen.length; i++) this.fen[row * FEN_BYTES + i] = fen.charCodeAt(i);
    this.fenLength[row] = fen.length;
    this.moves.set(moves, row * MAX_ROOT_MOVES);
    this.moveCount[row] = moves.length;
    this.rules[row] =
      (root.twoFoldDraws ? RULE_TWO_FOLD : 0) |
      ((root.keyHistory ?? 0) << HISTORY_SHIFT) |
      (root.skipsTablebases ? RULE_NO_TABLEBASES : 0) |
      (root.lc0Order ? RULE_LC0_ORDER : 0);
    Atomics.add(this.version, row, 1);
  }

  getVersion(row: number): number {
    return Atomics.load(this.version, row);
  }

  hasLc0Order(row: number): boolean {
    return (this.rules[row] & RULE_LC0_ORDER) !== 0;
  }

  read(row: number): Required<RootPosition> {
    const start = row * FEN_BYTES;
    const fen = String.fromCharCode(...this.fen.subarray(start, start + this.fenLength[row]));
    const moves = this.moves.slice(row * MAX_ROOT_MOVES, row * MAX_ROOT_MOVES + this.moveCount[row]);
    const rules = this.rules[row];
    return {
      fen,
      moves,
      twoFoldDraws: (rules & RULE_TWO_FOLD) !== 0,
      keyHistory: (rules >> HISTORY_SHIFT) & HISTORY_MASK,
      skipsTablebases: (rules & RULE_NO_TABLEBASES) !== 0,
      lc0Order: this.hasLc0Order(row),
    };
  }
}

/** Returns the same game with a later start, so that its moves fit. */
function shortenGame({ fen, moves, ...rules }: RootPosition): RootPosition {
  const position = unwrap(parseFen(fen));
  const all = Uint16Array.from(moves);
  const first = all.length - KEPT_MOVES;
  for (let i = 0; i < first; i++) position.makeMove(all[i] as Move);
  return { fen: formatFen(position), moves: all.subarray(first), ...rules };
}
