/**
 * Labelled games (`sardonyx label`): one JSON object a line, `{"fen", "result", "plies": [[played, [[move, cp], …]], …]}`. Scores are
 * centipawns for the side to move, best first; mate in n is ±(32000 − 2n). A ply without scores was random: it is
 * played and not trained on. A ply may have a third entry, the result that holds for it in place of the game's (rescore/).
 * The result of a game that was not played to its end is "*" or null. `"surprise": [[KL, error of W − L] or null, …]`, one entry
 * a ply, says how far a network's first impression was from the scores (games/labels).
 */

import { decodeText, failure, type Result, readLines, success } from '../../base/util/index.js';
import { MATE_BASE } from '../../chess/pgn/index.js';
import { computeOutcome, type Move, type Position, parseFen, START_FEN } from '../../chess/rules/index.js';
import { readChunks } from './game-files.js';
import {
  createTrainingRow,
  type DecodedGame,
  type GameFilter,
  type GameFormat,
  type GameSink,
  parseResult,
  replayGame,
  rewind,
  type TrainingRow,
} from './game-format.js';

export type ScoredMove = readonly [move: string, centipawns: number];
export type LabelledPly = readonly [played: string, scores: readonly ScoredMove[], result?: string];

/** How far a network's first impression is from the scores: KL of the policy in nats, |error of W − L|. */
export type Surprise = readonly [policyKl: number, valueError: number];

export interface LabelledGame {
  readonly fen: string;
  readonly whiteResult: number | null;
  readonly plies: readonly LabelledPly[];
  /** One entry a ply; null where no network was asked. */
  readonly surprise: readonly (Surprise | null)[] | null;
}

const row = createTrainingRow();
const legalMoves = new Uint16Array(256);

function isScoredMove(value: unknown): value is ScoredMove {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return false;
  return Number.isInteger(value[1]) && Math.abs(value[1]) <= MATE_BASE;
}

function isPly(value: unknown): value is LabelledPly {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return false;
  if (value[2] !== undefined && parseResult(String(value[2])) === undefined) return false;
  return Array.isArray(value[1]) && value[1].every(isScoredMove);
}

function isSurprise(value: unknown): value is Surprise | null {
  return value === null || (Array.isArray(value) && value.length === 2 && value.every(Number.isFinite));
}

export function parseLabelledGame(line: string): Result<LabelledGame> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return failure('The line is not JSON');
  }
  if (typeof parsed !== 'object' || parsed === null) return failure('The line is not a JSON object');
  const { fen = START_FEN, result, plies, surprise = null } = parsed as Record<string, unknown>;
  if (typeof fen !== 'string') return failure('"fen" is not text');
  const whiteResult = parseResult(String(result ?? '*'));
  if (whiteResult === undefined) return failure(`"${result}" is not a result`);
  if (!Array.isArray(plies) || !plies.every(isPly)) return failure('"plies" is not a list of [move, [[move, cp], …]]');
  const isComplete = Array.isArray(surprise) && surprise.length === plies.length && surprise.every(isSurprise);
  if (surprise !== null && !isComplete) return failure('"surprise" is not a list of [KL, error], one a ply');
  return success({ fen, whiteResult, plies, surprise: surprise as LabelledGame['surprise'] });
}

/** Turns all texts of the game into moves; the sentence says which is illegal. */
export function resolveMoves(game: LabelledGame, skipPlies: number, notes: string[] = []): Result<DecodedGame> {
  const parsed = parseFen(game.fen, notes);
  if (!parsed.ok) return parsed;
  const start = parsed.value;
  const moves: number[] = [];
  /** The scored moves of each ply. */
  const targets: number[][] = [];
  for (let ply = 0; ply < game.plies.length; ply++) {
    const [played, scores] = game.plies[ply];
    const count = start.generateLegalMoves(legalMoves);
    const move = findUciMove(start, legalMoves, count, played);
    if (move === undefined) return failure(`${played} is not legal at ply ${ply}`);
    const scored: number[] = [];
    for (const [text] of scores) {
      const target = findUciMove(start, legalMoves, count, text);
      if (target === undefined) return failure(`${text} is not legal at ply ${ply}`);
      if (scored.includes(target)) return failure(`${text} has two scores at ply ${ply}`);
      scored.push(target);
    }
    targets.push(scored);
    moves.push(move);
    start.makeMove(move);
  }
  const isPlayedOut = computeOutcome(start) !== 'ongoing';
  rewind(start);
  const writeTargets = (ply: number, into: TrainingRow): boolean => {
    const scores = game.plies[ply][1];
    if (scores.length === 0 || ply < skipPlies) return false;
    for (let i = 0; i < scores.length; i++) {
      into.targetMoves[i] = targets[ply][i];
      into.targetScores[i] = scores[i][1];
    }
    into.targetCount = scores.length;
    into.centipawns = scores[0][1];
    const [policyKl, valueError] = game.surprise?.[ply] ?? [null, null];
    into.policyKl = policyKl;
    into.valueError = valueError;
    return true;
  };
  const whiteResults = game.plies.map(([, , result]) => (result === undefined ? undefined : parseResult(result)));
  return success({ start, moves, whiteResult: game.whiteResult, whiteResults, isPlayedOut, writeTargets });
}

/**
 * The move among `legalMoves` that the UCI text means, in either castling spelling; undefined when none. parseUciMove of
 * chess/rules explains errors; this one is fast, for millions of correct moves.
 */
function findUciMove(position: Position, legalMoves: Uint16Array, legalCount: number, text: string): Move | undefined {
  const from = text.charCodeAt(0) - 97 + 8 * (text.charCodeAt(1) - 49);
  const to = text.charCodeAt(2) - 97 + 8 * (text.charCodeAt(3) - 49);
  if (!(from >= 0 && from < 64 && to >= 0 && to < 64)) return undefined;
  const promotion = text.length === 5 ? '  nbrq'.indexOf(text[4]) : 0;
  const wanted = from | (to << 6) | (promotion << 12);
  for (let i = 0; i < legalCount; i++) if ((legalMoves[i] & 0x7fff) === wanted) return legalMoves[i] as Move;
  if (position.kingSquare(position.sideToMove) !== from || Math.abs(to - from) !== 2) return undefined;
  for (let i = 0; i < legalCount; i++) {
    const move = legalMoves[i];
    if (move & 0x8000 && ((move >> 6) & 63) > from === to > from) return move as Move;
  }
  return undefined;
}

function writeGame(line: string, sink: GameSink, filter: GameFilter, note: (sentence: string) => void): Result<number> {
  const notes: string[] = [];
  const parsed = parseLabelledGame(line);
  if (!parsed.ok) return parsed;
  const decoded = resolveMoves(parsed.value, filter.skipPlies, notes);
  if (!decoded.ok) return decoded;
  for (const dropped of notes) note(dropped);
  row.targetKind = 'scores';
  return success(replayGame(decoded.value, row, sink));
}

export const labelledGames: GameFormat<string> = {
  async *readGames(path, onBytes) {
    for await (const { text } of readLines(decodeText(readChunks(path, 'labels', onBytes)))) yield text;
  },
  writeGame,
};
