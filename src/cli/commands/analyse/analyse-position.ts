/** The analysis of one position for `analyse`: its best lines, scores, and how good the played move was. */

import { unwrap } from '../../../base/util/index.js';
import { type PgnGame, spellMoves } from '../../../chess/pgn/index.js';
import { formatFen, formatSanLine, formatUciMove, type Position } from '../../../chess/rules/index.js';
import {
  type Analyst,
  createGamePosition,
  type GoRequest,
  type ReportLine,
  type Score,
} from '../../../engine/core/index.js';
import type { Wdl } from '../../../search/index.js';

export interface AnalysedLine {
  readonly score: Score;
  readonly wdl: Wdl;
  readonly pv: readonly string[];
  readonly pvSan: readonly string[];
}

/** Scores are from the view of the side to move. */
export interface AnalysedPosition {
  readonly ply: number;
  readonly fen: string;
  /** The move played in the game; null at its end. */
  readonly played: string | null;
  readonly playedSan: string | null;
  readonly best: string | null;
  readonly bestSan: string | null;
  readonly score: Score;
  readonly wdl: Wdl;
  readonly depth: number;
  readonly nodes: number;
  /** Best first; as many as MultiPV. Empty when the game is over. */
  readonly lines: readonly AnalysedLine[];
}

interface PositionTask {
  readonly startFen: string;
  /** Write castling as king takes rook; required where king or rook start from unusual squares. */
  readonly isChess960: boolean;
  readonly moves: readonly string[];
  readonly played?: string | null;
  readonly playedSan?: string | null;
}

export async function analysePosition(
  analyst: Analyst,
  { startFen, isChess960, moves, played = null, playedSan = null }: PositionTask,
  request: GoRequest,
): Promise<AnalysedPosition> {
  const { position } = unwrap(createGamePosition(startFen, moves));
  const fen = formatFen(position);
  const { report } = await analyst.search(startFen, moves, request);
  const lines = report.lines
    .filter((line) => line.pv.length > 0)
    .map((line) => describeLine(line, position, isChess960));
  const [first] = report.lines;
  return {
    ply: moves.length,
    fen,
    played,
    playedSan,
    best: lines[0]?.pv[0] ?? null,
    bestSan: lines[0]?.pvSan[0] ?? null,
    score: first.score,
    wdl: first.wdl,
    depth: report.depth,
    nodes: report.nodes,
    lines,
  };
}

/** Every position of a game, the last one included, in order; when the signal comes, those so far. */
export async function searchGame(
  analyst: Analyst,
  game: PgnGame,
  request: GoRequest,
  signal: AbortSignal,
  onPosition: () => void,
): Promise<AnalysedPosition[]> {
  const { startFen, isChess960 } = game;
  const moves = spellMoves(game);
  const positions: AnalysedPosition[] = [];
  analyst.engine.newGame();
  for (let ply = 0; ply <= moves.length && !signal.aborted; ply++) {
    const before = moves.slice(0, ply).map((move) => move.uci);
    const played = moves[ply]?.uci ?? null;
    const task = { startFen, isChess960, moves: before, played, playedSan: moves[ply]?.san ?? null };
    positions.push(await analysePosition(analyst, task, request));
    onPosition();
  }
  return positions;
}

function describeLine({ score, wdl, pv }: ReportLine, position: Position, isChess960: boolean): AnalysedLine {
  const moves = pv.map((move) => formatUciMove(move, isChess960));
  return { score, wdl, pv: moves, pvSan: formatSanLine(position, pv) };
}
