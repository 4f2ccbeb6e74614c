/**
 * Games of PGN files as training rows: games are filtered by rating and variant, and every move played after the skipped ones
 * becomes a row. Its target is the move played; its score is the `[%eval]` comment of the move before, if any.
 */

import { decodeText, failure, type Result, success } from '../../base/util/index.js';
import { type PgnText, parseEvalComment, parsePgnTags, readGameTexts, readPgnGame } from '../../chess/pgn/index.js';
import { computeOutcome } from '../../chess/rules/index.js';
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

const pgnRow = createTrainingRow();

function isRated(tags: ReadonlyMap<string, string>, minElo: number): boolean {
  // A missing or unknown rating ("?") is not a number and compares as false.
  return Number(tags.get('WhiteElo')) >= minElo && Number(tags.get('BlackElo')) >= minElo;
}

/** The error says which move is wrong. */
function decodeGame(source: PgnText, filter: GameFilter, note: (sentence: string) => void): Result<DecodedGame> {
  const read = readPgnGame(source);
  if (!read.ok) return read;
  const { moves, problem, result, tree, end: start, notes } = read.value;
  if (problem !== null) return failure(problem);
  for (const dropped of notes) note(dropped);
  const isPlayedOut = computeOutcome(start) !== 'ongoing';
  rewind(start);
  const whiteScores = Array.from(tree.moves.mainline(), ({ comments = [] }) =>
    comments.map(parseEvalComment).findLast((score) => !Number.isNaN(score)),
  );
  const firstMover = start.sideToMove;
  const writeTargets = (ply: number, into: TrainingRow): boolean => {
    if (ply < filter.skipPlies) return false;
    into.targetMoves[0] = moves[ply];
    const whiteScore = ply === 0 ? undefined : whiteScores[ply - 1];
    const isWhite = ((firstMover + ply) & 1) === 0;
    into.centipawns = whiteScore === undefined ? null : isWhite ? whiteScore : 0 - whiteScore;
    return true;
  };
  return success({ start, moves, whiteResult: parseResult(result) ?? null, isPlayedOut, writeTargets });
}

function writePgnGame(
  text: Result<PgnText>,
  sink: GameSink,
  filter: GameFilter,
  note: (sentence: string) => void,
): Result<number> {
  if (!text.ok) return text;
  const source = text.value;
  if (source.isPosition) return failure('it is a position without moves');
  if (filter.minElo > 0 && !isRated(parsePgnTags(source.text), filter.minElo)) return success(0);
  const decoded = decodeGame(source, filter, note);
  if (!decoded.ok) return decoded;
  pgnRow.targetKind = 'weights';
  pgnRow.targetCount = 1;
  pgnRow.targetWeights[0] = 1;
  return success(replayGame(decoded.value, pgnRow, sink));
}

export const pgnGames: GameFormat<Result<PgnText>> = {
  readGames: (path, onBytes) => readGameTexts(decodeText(readChunks(path, null, onBytes))),
  writeGame: writePgnGame,
};
