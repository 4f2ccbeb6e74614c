/**
 * The interface of game formats: a format yields the raw games of an input one by one and turns each into training rows, one for each
 * position with its target. Raw games are cheap to read, so a resumed run can skip those it has done.
 *
 * `replayGame` makes the rows of a game whose moves are known and legal. Formats decode the whole game first, so that a damaged one
 * leaves no rows behind.
 */

import { closeSync, openSync, readSync } from 'node:fs';
import { formatFen, type Move, type Position, WHITE } from '../chess/index.js';
import { failure, isGzip, mixBits, type Result, success } from '../util/index.js';

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

// The moves of a recorded game. They stand in the header of its gzip file (the extra field of RFC 1952, subfield "SX"), which other readers
// of lc0's records skip. Records alone tell neither the move number nor the boards before the eighth nor how often a position occurred,
// and with a playout cap most plies have no record.

export interface GameLine {
  readonly fen: string;
  /** UCI moves from there; castling is written as king takes rook. */
  readonly moves: readonly string[];
  /** The ply of each record: the number of moves before it. Surprising positions have several records. */
  readonly plies: readonly number[];
}

const HEAD_BYTES = 10;
const HAS_EXTRA = 4;
const SUBFIELD = 'SX';
const LARGEST_EXTRA_BYTES = 0xffff;

/** A gzip file with the line in its header; unchanged if the line is too long for it. */
export function attachGameLine(packed: Buffer, line: GameLine): Buffer {
  const text = Buffer.from(JSON.stringify({ ...line, moves: line.moves.join(' ') }));
  if (text.length + 4 > LARGEST_EXTRA_BYTES) return packed;
  const sizes = Buffer.alloc(6);
  sizes.writeUInt16LE(text.length + 4, 0);
  sizes.write(SUBFIELD, 2, 'latin1');
  sizes.writeUInt16LE(text.length, 4);
  const head = Buffer.from(packed.subarray(0, HEAD_BYTES));
  head[3] |= HAS_EXTRA;
  return Buffer.concat([head, sizes, text, packed.subarray(HEAD_BYTES)]);
}

/** The line in a gzip file's header, of which `head` is the beginning; null if there is none. */
export function readGameLine(head: Buffer): GameLine | null {
  if (!isGzip(head) || head.length < HEAD_BYTES + 2 || (head[3] & HAS_EXTRA) === 0) return null;
  const end = HEAD_BYTES + 2 + head.readUInt16LE(HEAD_BYTES);
  for (let at = HEAD_BYTES + 2; at + 4 <= Math.min(end, head.length); ) {
    const from = at + 4;
    const to = from + head.readUInt16LE(at + 2);
    if (head.toString('latin1', at, at + 2) === SUBFIELD) return parseGameLine(head.toString('utf8', from, to));
    at = to;
  }
  return null;
}

export function readGameLineOf(path: string): GameLine | null {
  const head = Buffer.alloc(HEAD_BYTES + 2 + LARGEST_EXTRA_BYTES);
  const file = openSync(path, 'r');
  try {
    return readGameLine(head.subarray(0, readSync(file, head)));
  } finally {
    closeSync(file);
  }
}

function parseGameLine(text: string): GameLine | null {
  try {
    const { fen, moves, plies } = JSON.parse(text) as Record<string, unknown>;
    if (typeof fen !== 'string' || typeof moves !== 'string' || !Array.isArray(plies)) return null;
    const listed = moves === '' ? [] : moves.split(' ');
    const isOrdered = plies.every((ply, i) => Number.isInteger(ply) && ply >= (plies[i - 1] ?? 0));
    return isOrdered && (plies.at(-1) ?? 0) <= listed.length ? { fen, moves: listed, plies } : null;
  } catch {
    return null;
  }
}

// Decides which games are for training, validation and test. The choice depends on the moves of the game alone, so it does
// not change with the order of files, the number of threads or a second run, and copies of a game stay together.

export const SPLITS = ['train', 'validation', 'test'] as const;
export type Split = (typeof SPLITS)[number];
/** Shares of train, validation and test; they add up to 1. */
export type SplitShares = readonly [number, number, number];

export const EMPTY_GAME_HASH = 0x811c9dc5;

/** FNV-1a over the low bytes of the text, continued from `hash`; an unsigned 32-bit integer. */
export function hashText(hash: number, text: string): number {
  let h = hash | 0;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ (text.charCodeAt(i) & 0xff), 0x01000193);
  return h >>> 0;
}

/** The same over bytes. */
export function hashBytes(hash: number, bytes: Uint8Array): number {
  let h = hash | 0;
  for (let i = 0; i < bytes.length; i++) h = Math.imul(h ^ bytes[i], 0x01000193);
  return h >>> 0;
}

/** The same over 16-bit moves. */
export function hashMoves(hash: number, moves: readonly number[]): number {
  let h = hash | 0;
  for (const move of moves) h = Math.imul(Math.imul(h ^ (move & 0xff), 0x01000193) ^ (move >> 8), 0x01000193);
  return h >>> 0;
}

export function chooseSplit(gameHash: number, shares: SplitShares): Split {
  const fraction = mixBits(gameHash) / 2 ** 32;
  if (fraction < shares[2]) return 'test';
  return fraction < shares[2] + shares[1] ? 'validation' : 'train';
}

/** `96/2/2` → shares. */
export function parseSplitShares(text: string): Result<SplitShares> {
  const parts = text.split('/').map((part) => (part.trim() === '' ? Number.NaN : Number(part)));
  const [train, validation, test] = parts;
  const sum = parts.reduce((total, part) => total + part, 0);
  if (parts.length !== 3 || parts.some((part) => !(part >= 0)) || !(sum > 0) || !Number.isFinite(sum)) {
    return failure(`A split is three shares like 96/2/2 (train/validation/test), not "${text}"`);
  }
  return success([train / sum, validation / sum, test / sum]);
}
