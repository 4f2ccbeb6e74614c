/**
 * PGN files of any size: games are cut out of the stream, filtered by rating, and every move played after the skipped
 * ones becomes a row. Its target is the move played; its score is the `[%eval]` comment of the move before, if any.
 */
import { computeOutcome, Position, parseFen, parseSan } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';
import { readChunks, readLines } from './byte-stream.js';
import type { GameFilter, GameFormat, GameSink } from './game-format.js';
import { PgnSplitter } from './pgn-split.js';
import { parsePgnMoves, parsePgnTags } from './pgn-tokens.js';
import { type DecodedGame, parseResult, replayGame, rewind } from './replay-game.js';
import { createTrainingRow, type TrainingRow } from './training-row.js';

/** Variants with the rules of chess; everything else is passed over. */
const CHESS_VARIANTS = /^(standard|normal|chess|chess ?960|fischer(andom| random)?|from position|)$/i;

const row = createTrainingRow();

/** Cuts a stream of lines into games. */
async function* readGameTexts(lines: AsyncIterable<string>): AsyncGenerator<string> {
  const splitter = new PgnSplitter();
  for await (const line of lines) {
    const game = splitter.push(line);
    if (game !== null) yield game;
  }
  const last = splitter.end();
  if (last !== null) yield last;
}

function isRated(tags: ReadonlyMap<string, string>, minElo: number): boolean {
  if (minElo <= 0) return true;
  // A missing or unknown rating ("?") is not a number and compares as false.
  return Number(tags.get('WhiteElo') ?? Number.NaN) >= minElo && Number(tags.get('BlackElo') ?? Number.NaN) >= minElo;
}

/** The game's moves from their texts; null when the game is filtered out. The sentence says which move is wrong. */
function resolveMoves(text: string, filter: GameFilter): Result<DecodedGame | null> {
  const { tags, end } = parsePgnTags(text);
  if (!isRated(tags, filter.minElo) || !CHESS_VARIANTS.test(tags.get('Variant') ?? '')) return success(null);
  const game = parsePgnMoves(text, end);
  const fen = tags.get('FEN');
  const parsed = fen === undefined ? success(new Position()) : parseFen(fen);
  if (!parsed.ok) return parsed;
  const start = parsed.value;
  const moves: number[] = [];
  for (const text of game.moves) {
    const move = parseSan(start, text);
    if (!move.ok) return failure(`${move.error} (ply ${moves.length})`);
    moves.push(move.value);
    start.makeMove(move.value);
  }
  const isPlayedOut = computeOutcome(start) !== 'ongoing';
  rewind(start);
  const whiteResult = parseResult(game.result || (tags.get('Result') ?? '*')) ?? null;
  const firstMover = start.sideToMove;
  const writeTargets = (ply: number, into: TrainingRow): boolean => {
    if (ply < filter.skipPlies) return false;
    into.targetMoves[0] = moves[ply];
    const whiteScore = ply === 0 ? Number.NaN : game.whiteScores[ply - 1];
    const isWhite = ((firstMover + ply) & 1) === 0;
    into.centipawns = Number.isNaN(whiteScore) ? null : isWhite ? whiteScore : 0 - whiteScore;
    return true;
  };
  return success({ start, moves, whiteResult, isPlayedOut, writeTargets });
}

function writeGame(text: string, sink: GameSink, filter: GameFilter): Result<number> {
  const decoded = resolveMoves(text, filter);
  if (!decoded.ok) return decoded;
  if (decoded.value === null) return success(0);
  row.targetKind = 'weights';
  row.targetCount = 1;
  row.targetWeights[0] = 1;
  return success(replayGame(decoded.value, row, sink));
}

export const pgnGames: GameFormat<string> = {
  readGames: (path, onBytes) => readGameTexts(readLines(readChunks(path, onBytes))),
  writeGame,
};
