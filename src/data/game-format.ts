/**
 * What a file format offers: the games of an input one by one, still raw, and the way from a raw game to rows. Raw
 * games are cheap, so that a resumed run can skip those it has done.
 */
import type { Position } from '../chess/index.js';
import type { Result } from '../util/index.js';
import type { EncodedRow, TrainingRow } from './training-row.js';

/** Where the rows of one game go. */
export interface GameSink {
  /** Announces the game; its hash says whether it trains, validates or tests. */
  beginGame(gameHash: number): void;
  /** Encodes the position and copies the row. */
  append(position: Position, legalMoves: Uint16Array, legalCount: number, row: TrainingRow): void;
  /** Copies planes and policy indices that are encoded already, in the encodings named by `accepts`. */
  appendEncoded(encoded: EncodedRow, row: TrainingRow): void;
  accepts(inputEncoding: string, policyEncoding: string): boolean;
}

export interface GameFormat<RawGame> {
  /** @param onBytes told how many bytes of the input were read, for progress */
  readGames(path: string, onBytes: (bytes: number) => void): AsyncIterable<RawGame>;
  /**
   * Rows written; or what is wrong with the game. Games that are moves leave no rows then; of games that are records of
   * positions those before the damage stay.
   */
  writeGame(game: RawGame, sink: GameSink, filter: GameFilter): Result<number>;
}

/** Which games and positions are worth learning from; what a format does not know it lets pass. */
export interface GameFilter {
  /** Both players' rating, where the format has ratings; 0 also takes unrated games. */
  readonly minElo: number;
  /** Plies from the start of a game that are played but not trained on. */
  readonly skipPlies: number;
}
