/** Checks what a program passes, and turns it into the engine's terms. Every error is an Error of one sentence. */
import { suggestName } from '../../base/util/index.js';
import { parseUciMove } from '../../chess/rules/index.js';
import type { GamePosition, GoRequest } from '../core/index.js';
import type { EngineSettings, GoLimits, PositionSetup } from './chess-engine.js';
import type { HostPosition } from './engine-host.js';

/** Limits by name, and what they are for the engine. */
const NUMBERS = {
  nodes: { request: 'nodes', isWhole: true },
  depth: { request: 'depth', isWhole: true },
  mate: { request: 'mate', isWhole: true },
  moveTime: { request: 'moveTimeMs', isWhole: false },
  whiteTime: { request: 'whiteTimeMs', isWhole: false },
  blackTime: { request: 'blackTimeMs', isWhole: false },
  whiteIncrement: { request: 'whiteIncrementMs', isWhole: false },
  blackIncrement: { request: 'blackIncrementMs', isWhole: false },
  movesToGo: { request: 'movesToGo', isWhole: true },
} as const;

const SETTING_KEYS: readonly (keyof EngineSettings)[] = [
  'weights',
  'threads',
  'options',
  'onWarning',
  'onProgress',
  'signal',
];

/** @param more keys that are known besides those of an engine */
export function checkSettings(settings: EngineSettings, more: readonly string[] = []): void {
  checkKeys('The settings', settings, [...SETTING_KEYS, ...more]);
  for (const name of ['onWarning', 'onProgress'] as const) {
    const value: unknown = settings[name];
    if (value !== undefined && typeof value !== 'function') throw new Error(`${name} must be a function`);
  }
  const { weights } = settings as { readonly weights?: unknown };
  const isSource =
    weights === undefined || typeof weights === 'string' || (typeof weights === 'object' && weights !== null);
  if (!isSource) throw new Error('weights must be a path, a URL, a Blob or bytes');
}

export function checkPosition(setup: PositionSetup): HostPosition {
  checkKeys('The position', setup, ['fen', 'moves']);
  const { fen, moves = [] } = setup as { readonly fen?: unknown; readonly moves?: unknown };
  if (fen !== undefined && typeof fen !== 'string') throw new Error('fen must be a string');
  return { fen: fen ?? null, moves: [...checkMoves('moves', moves)] };
}

/** @param game the position of the search */
export function createRequest(limits: GoLimits, { position }: GamePosition): GoRequest {
  checkKeys('The limits', limits, [...Object.keys(NUMBERS), 'searchMoves', 'ponder', 'signal']);
  const request: Record<string, unknown> = { reportsMoves: true };
  for (const [name, { request: key, isWhole }] of Object.entries(NUMBERS)) {
    const number: unknown = limits[name as keyof typeof NUMBERS];
    if (number === undefined) continue;
    if (!Number.isFinite(number) || (number as number) < 0)
      throw new Error(`${name} must be a finite number of at least 0, not ${String(number)}`);
    if (isWhole && !Number.isInteger(number)) throw new Error(`${name} must be a whole number, not ${String(number)}`);
    request[key] = number;
  }
  const { searchMoves, ponder } = limits as { readonly searchMoves?: unknown; readonly ponder?: unknown };
  if (ponder !== undefined && typeof ponder !== 'boolean') throw new Error('ponder must be true or false');
  if (ponder === true) request.ponder = true;
  if (searchMoves !== undefined) {
    const moves = checkMoves('searchMoves', searchMoves);
    if (moves.length === 0) throw new Error('searchMoves names no move');
    request.searchMoves = moves.map((text) => {
      const move = parseUciMove(position, text);
      if (!move.ok) throw new Error(move.error);
      return move.value;
    });
  }
  return request;
}

export function checkKeys(what: string, given: unknown, known: readonly string[]): void {
  if (typeof given !== 'object' || given === null) throw new Error(`${what} must be an object, not ${String(given)}`);
  for (const key of Object.keys(given)) {
    if (known.includes(key)) continue;
    const hint = suggestName(key, known, `known: ${known.join(', ')}`);
    throw new Error(`${what} know no "${key}"${hint}`.replace('position know no', 'position knows no'));
  }
}

function checkMoves(name: string, moves: unknown): readonly string[] {
  const isList = Array.isArray(moves) && moves.every((move) => typeof move === 'string');
  if (!isList) throw new Error(`${name} must be an array of moves as UCI writes them`);
  return moves as string[];
}
