/** A game between players: its position with history, the players' reports on their moves, and its end by the laws of chess. */

import { formatUciMove, type Move, type Position } from '../../chess/rules/index.js';
import { createOpeningPosition, type Opening } from '../openings/index.js';

/** A player's move and its evaluation; 0 or null for what the player does not report. */
export interface Thought {
  readonly move: Move;
  /** Coded centipawns (encodeScore) from the mover's view. */
  readonly score: number | null;
  readonly depth: number;
  readonly nodes: number;
  /** Time taken, if the player can measure it better than its caller; else null. */
  readonly timeMs: number | null;
  /** What it expects, its own move first. */
  readonly line?: readonly Move[];
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

  /** The words after UCI's `position`. */
  formatUciPosition(): string {
    const moves = this.uciMoves.length === 0 ? '' : ` moves ${this.uciMoves.join(' ')}`;
    return `fen ${this.opening.fen}${moves}`;
  }
}
