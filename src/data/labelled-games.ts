/**
 * Labelled games: one JSON object a line, `{"fen", "result", "plies": [[played, [[move, cp], …]], …]}`. Scores are
 * centipawns for the side to move, best first; mate in n is ±(32000 − 2n). A ply without scores was random: it is
 * played and not trained on.
 */
import { type Move, parseFen, START_FEN } from '../chess/index.js';
import { failure, type Result, success } from '../util/index.js';
import { readLines } from './byte-stream.js';
import { findUciMove, type GameFormat, type GameSink } from './game-format.js';
import { EMPTY_GAME_HASH, hashText } from './game-split.js';
import { createTrainingRow } from './training-row.js';

type ScoredMove = [move: string, centipawns: number];
type LabelledPly = [played: string, scores: ScoredMove[]];

interface LabelledGame {
  readonly fen: string;
  readonly result: string;
  readonly plies: readonly LabelledPly[];
}

const WHITE_RESULTS: Readonly<Record<string, number | null>> = { '1-0': 1, '0-1': -1, '1/2-1/2': 0, '*': null };

const row = createTrainingRow();
const legalMoves = new Uint16Array(256);

function isScoredMove(value: unknown): value is ScoredMove {
  return Array.isArray(value) && typeof value[0] === 'string' && Number.isInteger(value[1]);
}

function isPly(value: unknown): value is LabelledPly {
  if (!Array.isArray(value) || typeof value[0] !== 'string') return false;
  return Array.isArray(value[1]) && value[1].every(isScoredMove);
}

export function parseLabelledGame(line: string): Result<LabelledGame> {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return failure('The line is not JSON');
  }
  if (typeof parsed !== 'object' || parsed === null) return failure('The line is not a JSON object');
  const { fen = START_FEN, result = '*', plies } = parsed as Record<string, unknown>;
  if (typeof fen !== 'string') return failure('"fen" is not text');
  if (typeof result !== 'string' || !(result in WHITE_RESULTS)) return failure(`"${result}" is not a result`);
  if (!Array.isArray(plies) || !plies.every(isPly)) return failure('"plies" is not a list of [move, [[move, cp], …]]');
  return success({ fen, result, plies });
}

function writeGame(line: string, sink: GameSink): Result<number> {
  const parsed = parseLabelledGame(line);
  if (!parsed.ok) return parsed;
  const { fen, result, plies } = parsed.value;
  const start = parseFen(fen);
  if (!start.ok) return start;
  const position = start.value;
  let hash = hashText(EMPTY_GAME_HASH, fen);
  for (const ply of plies) hash = hashText(hash, ply[0]);
  sink.beginGame(hash);
  row.game = hash;
  row.targetKind = 'scores';
  const whiteResult = WHITE_RESULTS[result];
  let rows = 0;
  for (let i = 0; i < plies.length; i++) {
    const [played, scores] = plies[i];
    const count = position.generateLegalMoves(legalMoves);
    const move = findUciMove(position, legalMoves, count, played);
    if (move === undefined) return failure(`${played} is not legal at ply ${i}`);
    if (scores.length > 0) {
      for (let k = 0; k < scores.length; k++) {
        const target = findUciMove(position, legalMoves, count, scores[k][0]);
        if (target === undefined) return failure(`${scores[k][0]} is not legal at ply ${i}`);
        row.targetMoves[k] = target;
        row.targetScores[k] = scores[k][1];
      }
      row.targetCount = scores.length;
      row.centipawns = scores[0][1];
      row.result = whiteResult === null ? null : position.sideToMove === 0 ? whiteResult : 0 - whiteResult;
      row.ply = i;
      row.pliesLeft = plies.length - i;
      sink.append(position, legalMoves, count, row);
      rows++;
    }
    position.makeMove(move as Move);
  }
  return success(rows);
}

export const labelledGames: GameFormat<string> = {
  async *readGames(chunks) {
    for await (const line of readLines(chunks)) if (line.trim() !== '') yield line;
  },
  writeGame,
};
