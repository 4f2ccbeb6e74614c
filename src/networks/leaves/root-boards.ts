/**
 * An evaluator's boards, one for each root. A board stays at its last leaf: successive leaves mostly share the beginning of their
 * paths, so only the moves that differ are unmade and made.
 */

import { unwrap } from '../../base/util/index.js';
import { type Move, type Position, parseFen } from '../../chess/rules/index.js';
import { MAX_PATH_LENGTH } from './leaf-slots.js';
import type { RootPosition, RootTable } from './root-table.js';

interface Board {
  version: number;
  readonly position: Position;
  /** The moves made on the board since the root. */
  readonly path: Uint16Array;
  length: number;
  readonly rules: RootRules;
}

/** The rules that hold below a root. */
type RootRules = Required<Omit<RootPosition, 'fen' | 'moves'>>;

export class RootBoards {
  private readonly boards = new Map<number, Board>();
  private last: Board | null = null;

  constructor(private readonly roots: RootTable) {}

  /**
   * @param moves the path: `length` moves from `offset` on
   * @returns the position at its end; this object owns it, and the next call changes it
   */
  walkTo(row: number, moves: Uint16Array, offset: number, length: number): Position {
    const board = this.getBoard(row);
    const { position, path } = board;
    let shared = 0;
    const comparable = Math.min(length, board.length);
    while (shared < comparable && path[shared] === moves[offset + shared]) shared++;
    for (let i = board.length; i > shared; i--) position.unmakeMove();
    for (let i = shared; i < length; i++) {
      const move = moves[offset + i];
      path[i] = move;
      position.makeMove(move as Move);
    }
    board.length = length;
    return position;
  }

  /** Of the row that walkTo was last called with. */
  get rules(): RootRules {
    return (this.last as Board).rules;
  }

  hasLc0Order(row: number): boolean {
    return this.roots.hasLc0Order(row);
  }

  private getBoard(row: number): Board {
    const version = this.roots.getVersion(row);
    let board = this.boards.get(row);
    if (board?.version !== version) {
      const { fen, moves, ...rules } = this.roots.read(row);
      const position = unwrap(parseFen(fen));
      for (let i = 0; i < moves.length; i++) position.makeMove(moves[i] as Move);
      const path = board?.path ?? new Uint16Array(MAX_PATH_LENGTH);
      board = { version, position, path, length: 0, rules };
      this.boards.set(row, board);
    }
    this.last = board;
    return board;
  }
}
