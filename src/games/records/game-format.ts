/**
 * The interface of game formats: a format yields the raw games of an input one by one and turns each into training rows, one for each
 * position with its target. Raw games are cheap to read, so a resumed run can skip those it has done.
 *
 * `replayGame` makes the rows of a game whose moves are known and legal. Formats decode the whole game first, so that a damaged one
 * leaves no rows behind.
 */

import type { Result } from '../../base/util/index.js';
import type { PgnResult } from '../../chess/pgn/index.js';
import { formatFen, type Move, type Position, WHITE } from '../../chess/rules/index.js';
import type { CountBytes } from './game-files.js';
import { EMPTY_GAME_HASH, hashMoves, hashText } from './game-hash.js';

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
  readGames(path: string, onBytes?: CountBytes): AsyncIterable<RawGame>;
  /**
   * Number of rows written, or a sentence about the damage. A damaged game of moves leaves no rows; of a damaged game of
   * position records, the rows before the damage stay.
   * @param note receives a sentence for everything that a position did not allow and was dropped
   */
  writeGame(game: RawGame, sink: GameSink, filter: GameFilter, note: (sentence: string) => void): Result<number>;
}

/** Which games and positions become rows; a format ignores conditions that it has no data for. */
export interface GameFilter {
  /** Both players' rating, where the format has ratings; 0 also takes unrated games. */
  readonly minElo: number;
  /** Plies from the start of a game that are played but not trained on. */
  readonly skipPlies: number;
}

const MAX_TARGETS = 256;

export interface TrainingRow {
  /** Hash of the game and ply in it: where the row came from. */
  game: number;
  ply: number;
  /** Number of entries in use in the target arrays. */
  targetCount: number;
  /** Target moves of the policy: the best one first; those with scores in their order. */
  readonly targetMoves: Uint16Array;
  /** Kind of policy target: probabilities, or scores that the training turns into probabilities. */
  targetKind: 'weights' | 'scores';
  readonly targetWeights: Float32Array;
  /** Centipawns; ±(32000 − 2n) for mate in n. */
  readonly targetScores: Int16Array;
  /** Game result: 1 won, 0 drawn, −1 lost. */
  result: number | null;
  centipawns: number | null;
  /** Search value W − L and draw probability. */
  valueWl: number | null;
  valueDraw: number | null;
  pliesLeft: number | null;
  /** How far a network's first impression was from the label: KL of its policy in nats, |error of its W − L|. */
  policyKl: number | null;
  valueError: number | null;
}

export function createTrainingRow(): TrainingRow {
  return {
    game: 0,
    ply: 0,
    targetCount: 0,
    targetMoves: new Uint16Array(MAX_TARGETS),
    targetKind: 'weights',
    targetWeights: new Float32Array(MAX_TARGETS),
    targetScores: new Int16Array(MAX_TARGETS),
    result: null,
    centipawns: null,
    valueWl: null,
    valueDraw: null,
    pliesLeft: null,
    policyKl: null,
    valueError: null,
  };
}

/** A position that comes with planes and policy indices instead of a board; the row's `targetMoves` are not used. */
export interface EncodedRow {
  readonly masks: Uint32Array;
  readonly planeValues: Float32Array;
  legalCount: number;
  readonly legalIndices: Uint16Array;
  /** As many as the row's `targetCount`. */
  readonly targetIndices: Uint16Array;
}

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

const WHITE_RESULTS: readonly (readonly [text: PgnResult, whiteResult: number | null])[] = [
  ['1-0', 1],
  ['0-1', -1],
  ['1/2-1/2', 0],
  ['*', null],
];

/** The text of a result in White's view. */
export function formatResult(whiteResult: number | null): PgnResult {
  return WHITE_RESULTS.find(([, result]) => result === whiteResult)?.[0] ?? '*';
}

/** PGN's four results; undefined for any other text. */
export function parseResult(text: string): number | null | undefined {
  return WHITE_RESULTS.find(([known]) => known === text)?.[1];
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
