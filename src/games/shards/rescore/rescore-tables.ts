/**
 * Corrects the results of recorded games with tablebases, as lc0's rescorer does (trainingdata/rescorer.cc: ApplySyzygyRescoring,
 * ApplyPolicyAdjustments, ApplyDTZCorrections), and their policies and plies left. Tables hold the result with best play; what the players made of the position
 * afterwards says nothing about the positions before it.
 */

import { type Move, PAWN, type Position, popCount64 } from '../../../chess/rules/index.js';
import { isCut, V6_TOO_LONG, v6Policy } from '../../records/index.js';
import type { RecordedGame } from './recorded-game.js';

/** The tablebase probes that rescoring needs. Each returns null if the tables do not hold the position. */
export interface ResultTables {
  /** With best play from a fifty-move count of 0: 1 won, 0 drawn, −1 lost for the side to move. */
  probeResult(position: Position): number | null;
  /** Plies to the next capture or pawn move with best play, not negative. */
  probeDistance(position: Position): number | null;
  /** The moves on the shortest way to a win, that of a cursed win included; null if the position is not won. */
  listWinningMoves(position: Position): readonly Move[] | null;
}

const LAST_SAFE_PLY = 98;
const SURELY_DRAWN_PLY = 102;
/** Without pawns, positions of this many men reach mate without another capture, so their DTZ is the distance to mate. */
const MEN_TO_MATE = 3;

/**
 * The tablebase result of a position right after a capture or pawn move also replaces the results of the positions before it,
 * back to the previous such position. Other positions in the tables are corrected one by one, if the fifty-move count allows.
 * @param positions of one game, in their order; some may be missing
 * @param results 1, 0 or −1 in the view of each position's mover, null if unknown; they are corrected in place
 * @returns the number of results that have changed
 */
export function correctResults(
  positions: readonly Position[],
  results: (number | null)[],
  tables: ResultTables,
): number {
  const before = [...results];
  let lastDecided = -1;
  positions.forEach((position, i) => {
    const result = position.rule50 === 0 ? tables.probeResult(position) : null;
    if (result === null) return;
    for (let j = i; j > lastDecided; j--) {
      results[j] = positions[j].sideToMove === position.sideToMove ? result : 0 - result;
    }
    lastDecided = i;
  });
  positions.forEach((position, i) => {
    if (position.rule50 !== 0) results[i] = judge(position, results[i], tables);
  });
  return results.filter((result, i) => result !== before[i]).length;
}

/** The result of a position whose fifty-move count is not 0. */
function judge(position: Position, result: number | null, tables: ResultTables): number | null {
  const known = tables.probeResult(position);
  if (known === null) return result;
  if (known === 0) return 0;
  const distance = tables.probeDistance(position);
  const plies = distance === null ? null : position.rule50 + distance;
  if (result === known) return plies !== null && plies >= SURELY_DRAWN_PLY ? 0 : result;
  if (plies !== null && plies <= LAST_SAFE_PLY && hasNoRepetition(position)) return known;
  return result === null ? null : 0;
}

/** `correctResults` on records. */
export function correctRecords({ positions }: RecordedGame, tables: ResultTables): number {
  const results = positions.map(({ record }) => (isCut(record) ? null : Math.round(record.resultQ)));
  const boards = positions.map(({ position }) => position);
  const changed = correctResults(boards, results, tables);
  positions.forEach(({ record }, i) => {
    const result = results[i];
    if (result === null || (result === record.resultQ && !isCut(record))) return;
    record.resultQ = result;
    record.resultD = result === 0 ? 1 : 0;
    record.invariance &= ~V6_TOO_LONG;
  });
  return changed;
}

/** Whether no position was repeated since the last capture or pawn move; false if the known history begins later. */
function hasNoRepetition(position: Position): boolean {
  const past = position.clone();
  while (past.rule50 > 0) {
    if (past.historyLength === 0 || past.repetitions() > 0) return false;
    past.unmakeMove();
  }
  return true;
}

/** How the probabilities of a record change; 0, 1 and 0 change nothing. */
export interface PolicyAdjustment {
  /** Added to the moves on the shortest way to a tablebase win, divided among them. */
  readonly distanceBoost: number;
  /** p^(1 / temperature), after the offset. */
  readonly temperature: number;
  /** Added to the probability of every move, not positive. */
  readonly offset: number;
}

/** Changes the probabilities and makes these sum to 1 again. @returns the number of records that got a boost */
export function adjustPolicies(
  game: RecordedGame,
  tables: ResultTables | null,
  { distanceBoost, temperature, offset }: PolicyAdjustment,
): number {
  if (distanceBoost === 0 && temperature === 1 && offset === 0) return 0;
  let boosted = 0;
  for (const { record, position, transform } of game.positions) {
    const moves = (distanceBoost === 0 ? null : tables?.listWinningMoves(position)) ?? [];
    const { probabilities } = record;
    const best = new Set(moves.map((move) => v6Policy.moveToIndex(position, move, transform) as number));
    let sum = 0;
    for (let i = 0; i < probabilities.length; i++) {
      if (!(probabilities[i] >= 0)) continue;
      const raised = probabilities[i] + offset + (best.has(i) ? distanceBoost / best.size : 0);
      probabilities[i] = Math.max(0, raised) ** (1 / temperature);
      sum += probabilities[i];
    }
    if (sum > 0) for (let i = 0; i < probabilities.length; i++) if (probabilities[i] > 0) probabilities[i] /= sum;
    if (best.size > 0) boosted++;
  }
  return boosted;
}

/** Counts the plies left of decided games from positions of three men without pawns. */
export function correctPliesLeft(game: RecordedGame, tables: ResultTables): void {
  game.positions.forEach((recorded, i) => {
    const { position, record } = recorded;
    const { masks, board, rule50 } = position;
    if (record.resultQ === 0 || popCount64(masks[0] | masks[16], masks[1] | masks[17]) > MEN_TO_MATE) return;
    if (board.some((piece) => (piece & 7) === PAWN) || !hasNoRepetition(position)) return;
    const known = tables.probeResult(position);
    const distance = tables.probeDistance(position);
    if (known === null || known === 0 || distance === null || rule50 + distance > LAST_SAFE_PLY) return;
    record.pliesLeft = distance;
    if (rule50 !== 0) return;
    for (let j = i - 1; j >= 0; j--)
      game.positions[j].record.pliesLeft = distance + recorded.ply - game.positions[j].ply;
  });
}
