/**
 * A game whose moves are known and legal → rows. Formats decode the whole game first, so that a damaged one leaves no
 * rows behind.
 */
import { formatFen, type Move, type Position, WHITE } from '../chess/index.js';
import type { GameSink } from './game-format.js';
import { EMPTY_GAME_HASH, hashMoves, hashText } from './game-split.js';
import type { TrainingRow } from './training-row.js';

export interface DecodedGame {
  /** Stands at the first position of the game, without history. */
  readonly start: Position;
  readonly moves: readonly number[];
  /** 1 White won, 0 drawn, −1 Black won; null unknown. */
  readonly whiteResult: number | null;
  /** The result for single plies, in place of the game's; undefined where that holds. */
  readonly whiteResults?: readonly (number | null | undefined)[];
  /** Whether the game ended by the rules (mate, stalemate, draw), and not by resignation, agreement or adjudication. */
  readonly isPlayedOut: boolean;
  /** Fills in targets and score of a ply; false when the ply gives no row. */
  writeTargets(ply: number, row: TrainingRow): boolean;
}

const WHITE_RESULTS: ReadonlyMap<string, number | null> = new Map([
  ['1-0', 1],
  ['0-1', -1],
  ['1/2-1/2', 0],
  ['*', null],
]);

/** The text of a result in White's view. */
export function formatResult(whiteResult: number | null): string {
  for (const [text, result] of WHITE_RESULTS) if (result === whiteResult) return text;
  return '*';
}

/** PGN's four results; undefined for any other text. */
export function parseResult(text: string): number | null | undefined {
  return WHITE_RESULTS.get(text);
}

const legalMoves = new Uint16Array(256);

/** @returns rows written; afterwards `game.start` is the last position of the game */
export function replayGame(game: DecodedGame, row: TrainingRow, sink: GameSink): number {
  const { start: position, moves } = game;
  const hash = hashMoves(hashText(EMPTY_GAME_HASH, formatFen(position)), moves);
  sink.beginGame(hash);
  row.game = hash;
  let rows = 0;
  for (let ply = 0; ply < moves.length; ply++) {
    if (game.writeTargets(ply, row)) {
      const isWhite = position.sideToMove === WHITE;
      const own = game.whiteResults?.[ply];
      const whiteResult = own === undefined ? game.whiteResult : own;
      row.result = whiteResult === null || isWhite ? whiteResult : 0 - whiteResult;
      row.ply = ply;
      row.pliesLeft = game.isPlayedOut ? moves.length - ply : null;
      sink.append(position, legalMoves, position.generateLegalMoves(legalMoves), row);
      rows++;
    }
    position.makeMove(moves[ply] as Move);
  }
  return rows;
}

/** Takes all moves back. */
export function rewind(position: Position): void {
  while (position.historyLength > 0) position.unmakeMove();
}
