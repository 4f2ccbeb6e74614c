/**
 * What people at a terminal read: the board of `d` as Stockfish shows it, the evaluation of `eval`, and the greeting. A GUI sees
 * none of it.
 */

import {
  computeOutcome,
  formatFen,
  formatPiece,
  formatSquare,
  formatUciMove,
  listLegalMoves,
  type Move,
  NO_SQUARE,
  type Position,
} from '../../chess/rules/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import { computeRootScore, getMovesLeft, type RootStats, type TablebaseResult } from '../core/index.js';

const RANK_BORDER = ` +${'---+'.repeat(8)}`;

const TABLEBASE_RESULTS = ['loss', 'blessed loss', 'draw', 'cursed win', 'win'];

/** The answer to `d`. @param tables null if the position is in no tablebase */
export function formatBoard(position: Position, chess960: boolean, tables: TablebaseResult | null = null): string[] {
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].flatMap((rank) => {
    const pieces = Array.from(position.board.subarray(rank * 8, rank * 8 + 8), formatPiece);
    return [` | ${pieces.join(' | ')} | ${rank + 1}`, RANK_BORDER];
  });
  const key = [position.keyHigh, position.keyLow].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  const { enPassantSquare } = position;
  const legal = listLegalMoves(position).map((move) => formatUciMove(move, chess960));
  return [
    RANK_BORDER,
    ...ranks,
    '   a   b   c   d   e   f   g   h',
    '',
    `Fen: ${formatFen(position, chess960 ? 'shredder' : 'x-fen')}`,
    `Key: ${key}`,
    `En passant: ${enPassantSquare === NO_SQUARE ? '-' : formatSquare(enPassantSquare)}`,
    `Repetitions: ${position.repetitions()}`,
    `In check: ${position.inCheck() ? 'yes' : 'no'}`,
    `Outcome: ${computeOutcome(position)}`,
    `Legal moves: ${legal.length}${legal.length === 0 ? '' : ` (${legal.join(' ')})`}`,
    ...(tables === null ? [] : [formatTables(tables)]),
  ];
}

function formatTables({ wdl, dtz }: TablebaseResult): string {
  return `Tablebases: WDL ${wdl} (${TABLEBASE_RESULTS[wdl + 2]}), DTZ ${dtz ?? 'missing'}`;
}

/** The answer to `eval`: the network's evaluation, without search. */
export function formatEvalAnswer(stats: RootStats, scoreType: ScoreType, chess960: boolean): string[] {
  const { node } = stats;
  const wdl = computeWdl(node.wl ?? node.q, node.d ?? 0);
  const movesLeft = getMovesLeft(stats);
  const moves = [...stats.moves].sort((a, b) => b.prior - a.prior);
  return [
    `Score: ${computeRootScore(stats, scoreType)} (side to move)`,
    `WDL: ${wdl.win} ${wdl.draw} ${wdl.loss}`,
    ...(movesLeft === null ? [] : [`Moves left: ${movesLeft.toFixed(1)}`]),
    'Policy:',
    ...moves.map(({ move, prior }) => `${formatUciMove(move as Move, chess960).padEnd(6)}${percent(prior)}`),
  ];
}

function percent(probability: number): string {
  return `${(probability * 100).toFixed(2).padStart(6)} %`;
}

/** Written to stderr at the start, if that is a terminal. */
export function formatGreeting(version: string, network: string): string {
  return [
    `Sardonyx ${version}, a UCI chess engine. Network: ${network}`,
    'Try:  position startpos moves e2e4',
    '      go movetime 1000',
    '      eval                        (help lists all commands, quit ends)',
    '',
  ].join('\n');
}
