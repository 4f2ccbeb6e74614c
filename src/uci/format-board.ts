/** The `d` command: the board as text, as Stockfish shows it, with FEN, key, and what the rules and tablebases say. */
import {
  computeOutcome,
  formatFen,
  formatSquare,
  formatUciMove,
  listLegalMoves,
  NO_SQUARE,
  type Position,
} from '../chess/index.js';
import type { TablebaseResult } from '../engine/index.js';

const PIECES = '.PNBRQK..pnbrqk';
const RULE = ` +${'---+'.repeat(8)}`;

const RESULTS = ['loss', 'blessed loss', 'draw', 'cursed win', 'win'];

/** @param tables null when tablebases do not know the position */
export function formatBoard(position: Position, chess960: boolean, tables: TablebaseResult | null = null): string[] {
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].flatMap((rank) => {
    const pieces = Array.from(position.board.subarray(rank * 8, rank * 8 + 8), (code) => PIECES[code]);
    return [` | ${pieces.join(' | ').replaceAll('.', ' ')} | ${rank + 1}`, RULE];
  });
  const key = [position.keyHigh, position.keyLow].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  const { enPassantSquare } = position;
  const legal = listLegalMoves(position).map((move) => formatUciMove(move, chess960));
  return [
    RULE,
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
  return `Tablebases: WDL ${wdl} (${RESULTS[wdl + 2]}), DTZ ${dtz ?? 'missing'}`;
}
