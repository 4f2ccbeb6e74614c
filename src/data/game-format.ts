/**
 * A file format: reads the raw games of an input one by one, and turns a raw game into rows. Raw games are cheap to read,
 * so a resumed run can skip those it has done.
 */
import type { Position } from '../chess/index.js';
import type { Result } from '../util/index.js';
import type { EncodedRow, TrainingRow } from './training-row.js';

/** Where the rows of one game go. */
export interface GameSink {
  /** Call it before the game's rows. The hash decides whether the game is for training, validation or test. */
  beginGame(gameHash: number): void;
  /** Encodes the position and copies the row. */
  append(position: Position, legalMoves: Uint16Array, legalCount: number, row: TrainingRow): void;
  /** Copies planes and policy indices that are encoded already, in the encodings named by `accepts`. */
  appendEncoded(encoded: EncodedRow, row: TrainingRow): void;
  accepts(inputEncoding: string, policyEncoding: string): boolean;
}

export interface GameFormat<RawGame> {
  /** @param onBytes called with the number of bytes read, for progress */
  readGames(path: string, onBytes: (bytes: number) => void): AsyncIterable<RawGame>;
  /**
   * Number of rows written, or a sentence about the damage. A damaged game of moves leaves no rows; of a damaged game of
   * position records, the rows before the damage stay.
   */
  writeGame(game: RawGame, sink: GameSink, filter: GameFilter): Result<number>;
}

/** Which games and positions become rows; a format ignores conditions that it has no data for. */
export interface GameFilter {
  /** Both players' rating, where the format has ratings; 0 also takes unrated games. */
  readonly minElo: number;
  /** Plies from the start of a game that are played but not trained on. */
  readonly skipPlies: number;
}
