/**
 * Ends games early: by the players' scores, with the rules and options of cutechess-cli and fastchess (resignation, draw,
 * longest game), and by tablebases.
 */

import { failure, type Result, success } from '../../base/util/index.js';
import type { Position } from '../../chess/rules/index.js';
import { MOST_MEN, NO_VALUE, Tablebases } from '../../chess/syzygy/index.js';
import type { PlayedMove } from './game.js';
import { createDraw, createWin, type GameEnd } from './game-end.js';

export interface AdjudicationRules {
  /** A player whose own last `moveCount` scores are all at or below −`score` has lost. */
  readonly resign: { readonly moveCount: number; readonly score: number; readonly isTwoSided: boolean } | null;
  /** From move `moveNumber` on, `moveCount` scores of each player within ±`score` make a draw. */
  readonly draw: { readonly moveNumber: number; readonly moveCount: number; readonly score: number } | null;
  /** Plies after which the game is a draw, book moves included; null = none. */
  readonly maxPlies: number | null;
}

export const NO_ADJUDICATION: AdjudicationRules = { resign: null, draw: null, maxPlies: null };

/**
 * @param played moves after the opening
 * @param bookPlies moves of the opening
 * @param startPly plies before the opening's FEN, by its move number
 */
export function adjudicate(
  rules: AdjudicationRules,
  played: readonly PlayedMove[],
  bookPlies: number,
  startPly: number,
): GameEnd | null {
  if (played.length === 0) return null;
  const plies = bookPlies + played.length;
  const lastMover = ((startPly + plies - 1) & 1) as 0 | 1;
  const { resign, draw, maxPlies } = rules;
  if (resign !== null) {
    const { moveCount, score, isTwoSided } = resign;
    const lost = agree(played, moveCount, 0, (own) => own <= -score);
    if (lost && (!isTwoSided || agree(played, moveCount, 1, (other) => other >= score))) {
      return createWin(lastMover === 0 ? 1 : 0, 'adjudicated-win');
    }
  }
  if (draw !== null && startPly + plies >= 2 * draw.moveNumber) {
    const isQuiet = (score: number): boolean => Math.abs(score) <= draw.score;
    if (agree(played, draw.moveCount, 0, isQuiet) && agree(played, draw.moveCount, 1, isQuiet)) {
      return createDraw('adjudicated-draw');
    }
  }
  return maxPlies !== null && plies >= maxPlies ? createDraw('max-plies') : null;
}

/** Do the last `count` scores of one player (0 = the last mover, 1 = the other) all satisfy the test? */
function agree(played: readonly PlayedMove[], count: number, player: 0 | 1, test: (score: number) => boolean): boolean {
  for (let i = 0; i < count; i++) {
    const score = played[played.length - 1 - player - 2 * i]?.score ?? null;
    if (score === null || !test(score)) return false;
  }
  return true;
}

/** `movecount=3 score=400 twosided=true` */
export function parseResignRule(text: string): Result<AdjudicationRules['resign']> {
  const words = parseRule('resign', text, ['movecount', 'score', 'twosided']);
  if (!words.ok) return words;
  const { movecount = 3, score = 600, twosided = 0 } = words.value;
  return success({ moveCount: movecount, score, isTwoSided: twosided !== 0 });
}

/** `movenumber=40 movecount=8 score=10` */
export function parseDrawRule(text: string): Result<AdjudicationRules['draw']> {
  const words = parseRule('draw', text, ['movenumber', 'movecount', 'score']);
  if (!words.ok) return words;
  const { movenumber = 40, movecount = 8, score = 10 } = words.value;
  return success({ moveNumber: movenumber, moveCount: movecount, score });
}

function parseRule(flag: string, text: string, keys: readonly string[]): Result<Record<string, number>> {
  const values: Record<string, number> = {};
  for (const word of text.trim().split(/\s+/)) {
    const [key, raw = ''] = word.split('=');
    const value = raw === 'true' ? 1 : raw === 'false' ? 0 : Number(raw || Number.NaN);
    if (!keys.includes(key) || !(value >= (key === 'movecount' ? 1 : 0))) {
      return failure(`--${flag} takes ${keys.map((known) => `${known}=N`).join(' ')}, not "${word}"`);
    }
    values[key] = value;
  }
  return success(values);
}

/** @param paths folders as in SyzygyPath; empty = no tables */
export function openGameTables(paths: string, onWarning: (text: string) => void): Result<Tablebases | null> {
  if (paths === '') return success(null);
  const tables = new Tablebases(paths, onWarning);
  const [warning] = tables.warnings;
  return tables.mostMen === 0 ? failure(warning ?? `There are no tablebases in ${paths}`) : success(tables);
}

/**
 * The end of a game whose result the tables know. They know it only right after a capture or pawn move, when the count of
 * the fifty-move rule is their own (as in lc0's self-play and cutechess-cli's `-tb`).
 */
export function findTablebaseEnd(tables: Tablebases | null, position: Position): GameEnd | null {
  const result = tables?.probeResult(position, MOST_MEN, true) ?? NO_VALUE;
  if (result === NO_VALUE) return null;
  if (result === 0) return createDraw('tablebase');
  const mover = position.sideToMove;
  return createWin(result > 0 ? mover : mover === 0 ? 1 : 0, 'tablebase');
}
