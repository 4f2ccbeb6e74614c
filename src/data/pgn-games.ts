/**
 * PGN files of any size: games are cut out of the stream, filtered by rating, and every move played after the skipped
 * ones becomes a row. Its target is the move played; its score is the `[%eval]` comment of the move before, if any.
 */
import { Position, parseFen, parseSan } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';
import { readChunks, readLines } from './byte-stream.js';
import type { GameFilter, GameFormat, GameSink } from './game-format.js';
import { isTagLine, parsePgnMoves, parsePgnTags } from './pgn-tokens.js';
import { type DecodedGame, parseResult, replayGame, rewind } from './replay-game.js';
import { createTrainingRow, type TrainingRow } from './training-row.js';

/** Variants with the rules of chess; everything else is passed over. */
const CHESS_VARIANTS = /^(standard|normal|chess|chess ?960|fischer(andom| random)?|from position|)$/i;
/** A file that is no PGN must not be gathered into one endless game. */
const MAX_GAME_CHARACTERS = 1 << 20;

/** UTF-8's, read as latin1; Windows programs write it. */
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

const row = createTrainingRow();

/** Cuts a stream of lines into games: a tag line behind moves, or a blank line behind a result, starts the next. */
export async function* splitGames(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let game: string[] = [];
  let characters = 0;
  let hasMoves = false;
  let endsWithResult = false;
  for await (const rawLine of lines) {
    const line = rawLine.startsWith(BYTE_ORDER_MARK) ? rawLine.slice(BYTE_ORDER_MARK.length) : rawLine;
    const isTag = isTagLine(line);
    const isBlank = !isTag && line.trim() === '';
    if ((isTag && hasMoves) || (isBlank && endsWithResult) || characters > MAX_GAME_CHARACTERS) {
      if (hasMoves) yield game.join('\n');
      game = [];
      characters = 0;
      hasMoves = false;
      endsWithResult = false;
    }
    if (isBlank) continue;
    game.push(line);
    characters += line.length;
    if (isTag) continue;
    hasMoves = true;
    endsWithResult = /(?:1-0|0-1|1\/2-1\/2|\*)\s*$/.test(line);
  }
  if (hasMoves) yield game.join('\n');
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
  return success({ start, moves, whiteResult, writeTargets });
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
  readGames: (path, onBytes) => splitGames(readLines(readChunks(path, onBytes))),
  writeGame,
};
