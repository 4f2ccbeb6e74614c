/**
 * VerboseMoveStats, character for character as lc0 prints it (search/classic/search.cc, GetVerboseStats), because Nibbler, Arena
 * and many scripts parse it: ascending order, fixed widths, a blank at the end of each line.
 */

import { formatUciMove, type Move } from '../../chess/rules/index.js';
import type { MoveStats } from '../../search/index.js';
import type { RootStats } from '../core/index.js';

export type MoveStatsFormat = 'current' | 'classic';

/** @returns the lines, without the leading `info string ` */
export function formatMoveStats(stats: RootStats, format: MoveStatsFormat = 'current'): string[] {
  const formatRow = format === 'current' ? formatCurrent : formatClassic;
  return [...stats.moves.map((row) => formatRow(row, false)), formatRow(stats.node, true)];
}

function formatCurrent(row: MoveStats, isNode: boolean): string {
  const tail = isNode ? '' : `(U: ${fixed(row.u, 6, 5)}) (S: ${fixed(row.s, 8, 5)}) `;
  return `${formatHead(row, isNode)} ${formatAverages(row)}${tail}${formatValue(row)}${BOUNDS[row.bound]}`;
}

/** lc0's format from 2018 to 2020: Q, U, Q+U and V only. */
function formatClassic(row: MoveStats, isNode: boolean): string {
  const sum = row.u === null ? null : row.q + row.u;
  const tail = isNode ? '' : `(U: ${fixed(row.u, 6, 5)}) (Q+U: ${fixed(sum, 8, 5)}) `;
  return `${formatHead(row, isNode)} (Q: ${fixed(row.q, 8, 5)}) ${tail}${formatValue(row)}`;
}

/** As in lc0, the index of a move is aligned left in its four columns, the index of the node right. */
function formatHead(row: MoveStats, isNode: boolean): string {
  const label = isNode ? 'node ' : formatUciMove(row.move as Move, true).padEnd(5);
  const index = isNode ? String(row.index).padStart(4) : String(row.index).padEnd(4);
  const visits = String(row.visits).padStart(7);
  const inFlight = String(row.inFlight).padStart(2);
  const prior = fixed(row.prior * 100, 5, row.prior >= 0.99995 ? 1 : 2);
  return `${label} (${index}) N: ${visits} (+${inFlight}) (P: ${prior}%)`;
}

function formatAverages(row: MoveStats): string {
  const q = `(Q: ${fixed(row.q, 8, 5)}) `;
  if (row.wl === null) return `(WL:  -.-----) (D: -.---) (M:  -.-) ${q}`;
  return `(WL: ${fixed(row.wl, 8, 5)}) (D: ${fixed(row.d ?? 0, 5, 3)}) (M: ${fixed(row.m ?? 0, 4, 1)}) ${q}`;
}

function formatValue(row: MoveStats): string {
  return row.v === null ? '(V:  -.----) ' : `(V: ${fixed(row.v, 7, 4)}) `;
}

const BOUNDS = { none: '', exact: '(T) ', drawOrWin: '(W) ', lossOrDraw: '(L) ' } as const;

function fixed(value: number | null, width: number, digits: number): string {
  return (value ?? 0).toFixed(digits).padStart(width);
}
