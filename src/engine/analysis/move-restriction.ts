/**
 * Reads `allowMoves` and `avoidMoves` of a query, in both forms: a list of moves for the root, or, as in KataGo, a list of
 * `{player, moves, untilDepth}`. At the root they become the moves to search; deeper they become rules of the search.
 */

import type { Result } from '../../base/util/index.js';
import {
  BLACK,
  createMove,
  KNIGHT,
  listLegalMoves,
  type Move,
  type Position,
  parseSan,
  parseUciMove,
} from '../../chess/rules/index.js';
import type { MoveRule } from '../../search/index.js';
import { isObject, type QueryFields, QueryProblem } from './query-fields.js';

/** The moves that the search of one position may visit. */
export interface MoveRestriction {
  /** The only moves to search at the root; empty = all. */
  readonly searchMoves: readonly Move[];
  /** Rules for all depths from the root on; empty if the root's moves suffice. */
  readonly moveRules: readonly MoveRule[];
}

interface WrittenRule {
  readonly texts: readonly string[];
  /** null: the side to move at the root. */
  readonly player: 'w' | 'b' | null;
  readonly untilDepth: number;
}

const NO_RESTRICTION: MoveRestriction = { searchMoves: [], moveRules: [] };
/** No search gets so deep, so a larger number means the same. */
const GREATEST_DEPTH = 1000;
const UCI_MOVE = /^[a-h][1-8][a-h][1-8][qrbn]?$/i;
/** In the order of the piece codes. */
const PROMOTIONS = 'nbrq';

/** UCI notation or SAN. */
export function parseGameMove(position: Position, text: string): Result<Move> {
  return UCI_MOVE.test(text) ? parseUciMove(position, text.toLowerCase()) : parseSan(position, text);
}

/** One result for each turn. */
export function readMoveRules(
  fields: QueryFields,
  turns: readonly { readonly turn: number; readonly position: Position }[],
): MoveRestriction[] {
  const allowed = readWrittenRules(fields, 'allowMoves');
  const avoided = readWrittenRules(fields, 'avoidMoves');
  if (allowed !== undefined && avoided !== undefined) {
    throw new QueryProblem('avoidMoves', 'allowMoves and avoidMoves exclude each other');
  }
  const isAllowList = allowed !== undefined;
  const field = isAllowList ? 'allowMoves' : 'avoidMoves';
  const written = (allowed ?? avoided ?? []).filter(({ texts }) => texts.length > 0);
  if (isAllowList && written.length > 1) throw new QueryProblem(field, 'allowMoves takes one rule');
  if (written.length === 0) return turns.map(() => NO_RESTRICTION);
  const understood = new Set<string>();
  let firstError = '';
  const restrictions = turns.map(({ turn, position }): MoveRestriction => {
    const player = position.sideToMove === BLACK ? 'b' : 'w';
    const atRoot = written.filter((rule) => rule.player === null || rule.player === player);
    const named = new Set<Move>();
    for (const text of atRoot.flatMap(({ texts }) => texts)) {
      const move = parseGameMove(position, text);
      if (move.ok) {
        understood.add(text);
        named.add(move.value);
      } else firstError ||= move.error;
    }
    const legal = listLegalMoves(position);
    const kept = atRoot.length === 0 ? legal : legal.filter((move) => named.has(move) === isAllowList);
    if (legal.length > 0 && kept.length === 0) throw new QueryProblem(field, `${field} leaves no move at turn ${turn}`);
    const deep = written.filter(({ untilDepth }) => untilDepth > 1);
    return {
      searchMoves: kept.length === legal.length ? [] : kept,
      moveRules: deep.map(({ texts, player: whose, untilDepth }) => ({
        parity: whose === null || whose === player ? 0 : 1,
        untilDepth,
        moves: texts.filter((text) => UCI_MOVE.test(text)).flatMap(listSpellings),
        isAllowList,
      })),
    };
  });
  // A move may be legal only at some turns, or only deeper; a move that is legal nowhere is a mistake.
  for (const { texts, player, untilDepth } of written) {
    const isDeep = untilDepth > 1 || (player !== null && turns.every(({ position }) => !isToMove(position, player)));
    const strange = texts.find((text) => (isDeep ? !UCI_MOVE.test(text) : !understood.has(text)));
    if (strange !== undefined)
      throw new QueryProblem(field, isDeep ? `${strange} is not a move in UCI notation` : firstError);
  }
  return restrictions;
}

function isToMove({ sideToMove }: Position, player: 'w' | 'b'): boolean {
  return (sideToMove === BLACK) === (player === 'b');
}

function readWrittenRules(fields: QueryFields, field: 'allowMoves' | 'avoidMoves'): WrittenRule[] | undefined {
  const list = fields[field];
  if (list === undefined) return undefined;
  const fail = (text: string): never => {
    throw new QueryProblem(field, text);
  };
  if (isTexts(list)) return [{ texts: list, player: null, untilDepth: 1 }];
  if (!list.every(isObject)) return fail(`${field} must be a list of strings`);
  return list.map(({ player, moves, untilDepth, ...others }) => {
    const colour = /^[wb]/i.exec(typeof player === 'string' ? player : '')?.[0].toLowerCase();
    if (colour === undefined) return fail(`The player of ${field} must be w or b`);
    const isDepth = typeof untilDepth === 'number' && Number.isInteger(untilDepth) && untilDepth >= 1;
    if (!isDepth) return fail(`untilDepth of ${field} must be a whole number from 1`);
    if (!isTexts(moves)) return fail(`moves of ${field} must be a list of strings`);
    const [unknown] = Object.keys(others);
    if (unknown !== undefined) return fail(`A rule of ${field} has no field ${unknown}`);
    return { texts: moves, player: colour as 'w' | 'b', untilDepth: Math.min(untilDepth, GREATEST_DEPTH) };
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}

/** Every move that a text can mean in some position; in the search, castling is king takes rook. */
function listSpellings(text: string): Move[] {
  const [from, to] = [readSquare(text, 0), readSquare(text, 2)];
  const promotion = text.length > 4 ? KNIGHT + PROMOTIONS.indexOf(text[4].toLowerCase()) : 0;
  const rook = { g: to + 1, c: to - 2 }[text[2].toLowerCase()];
  const castlings = [to, ...(rook === undefined ? [] : [rook])].filter((square) => square >> 3 === from >> 3);
  return [createMove(from, to, promotion), ...castlings.map((square) => createMove(from, square, 0, true))];
}

function readSquare(text: string, at: number): number {
  return text.toLowerCase().charCodeAt(at) - 97 + 8 * (Number(text[at + 1]) - 1);
}
