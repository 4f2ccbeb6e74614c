/**
 * Parses a JSON query into the positions to analyse. It finds every mistake before a search starts, and returns either one
 * problem with its field, or tasks and warnings.
 */

import {
  BLACK,
  formatFen,
  hasChess960Castling,
  listLegalMoves,
  type Move,
  type Position,
  parseFen,
  START_FEN,
} from '../chess/index.js';
import { engineOptions } from '../engine/options.js';
import { type OptionSpec, type OptionValue, parseOptionValue } from '../options/index.js';
import { createSearchParams, type ScoreType, searchOptions } from '../search/index.js';
import { failure, type Result, success } from '../util/index.js';
import { FieldReader, type Problem } from './field-reader.js';
import type { PositionTask } from './position-task.js';
import { parseGameMove, readMoveRules } from './read-move-rules.js';

export interface QueryDefaults {
  /** Values of all options, by UCI name. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Limits of queries without their own; null = no such limit. */
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** Names of the networks; the first one answers queries without a model. */
  readonly models: readonly string[];
}

export interface ParsedQuery {
  /** Index of the network to use. */
  readonly model: number;
  readonly tasks: readonly PositionTask[];
  readonly warnings: readonly Problem[];
}

export type QueryResult =
  | { readonly ok: true; readonly value: ParsedQuery }
  | { readonly ok: false; readonly problem: Problem };

const MOST_VISITS = 1_000_000_000;
const MOST_SECONDS = 1_000_000;
const HIGHEST_PRIORITY = 1_000_000_000;
const MOST_MOVES = 218;

/** Search options that all queries share. */
const FIXED_OPTIONS: ReadonlySet<string> = new Set(['MinibatchSize', 'BatchesInFlight', 'RamLimitMb']);

const overridable: ReadonlyMap<string, OptionSpec> = new Map(
  [
    ...searchOptions.filter(({ uci }) => !FIXED_OPTIONS.has(uci)),
    ...engineOptions.filter(({ uci }) => uci === 'ScoreType'),
  ].map((spec) => [spec.uci.toLowerCase(), spec]),
);

export function parseQuery(
  queryId: string,
  object: Readonly<Record<string, unknown>>,
  defaults: QueryDefaults,
): QueryResult {
  const reader = new FieldReader(object);
  reader.readString('id');
  const game = readGame(reader);
  const turns = readTurns(reader, game.length - 1);
  const priorities = readPriorities(reader, turns.length);
  const values = readSettings(reader, defaults.values);
  const maxVisits = reader.readWhole('maxVisits', 1, MOST_VISITS);
  const maxTime = reader.readPositive('maxTime', MOST_SECONDS);
  const hasLimit = maxVisits !== undefined || maxTime !== undefined;
  const every = reader.readPositive('reportDuringSearchEvery', MOST_SECONDS);
  const first = reader.readPositive('firstReportDuringSearchAfter', MOST_SECONDS);
  const asksForChess960 = reader.readBoolean('chess960') ?? values.get('UCI_Chess960') === true;
  const common = {
    queryId,
    // In Chess960 the king's new square may also be that of a plain move.
    chess960: asksForChess960 || hasChess960Castling(game[0].position),
    maxVisits: maxVisits ?? (hasLimit ? null : defaults.maxVisits),
    maxTimeMs: maxTime !== undefined ? maxTime * 1000 : hasLimit ? null : defaults.maxTimeMs,
    moveLimit: reader.readWhole('multiPv', 1, MOST_MOVES) ?? MOST_MOVES,
    includesPolicy: reader.readBoolean('includePolicy') ?? false,
    includesPvVisits: reader.readBoolean('includePVVisits') ?? false,
    firstReportMs: toMilliseconds(first ?? every),
    reportEveryMs: toMilliseconds(every),
    params: createSearchParams(values),
    scoreType: values.get('ScoreType') as ScoreType,
  };
  const restrictions = readMoveRules(
    reader,
    turns.map((turn) => ({ turn, position: game[turn].position })),
  );
  const model = readModel(reader, defaults.models);
  if (common.params.search === 'graph' && restrictions.some(({ moveRules }) => moveRules.length > 0)) {
    reader.fail('overrideSettings', 'untilDepth above 1 needs SearchAlgorithm to be tree');
  }
  if (reader.problem !== null) return { ok: false, problem: reader.problem };
  const tasks = turns.map((turnNumber, index): PositionTask => {
    const { position } = game[turnNumber];
    return {
      ...common,
      turnNumber,
      priority: priorities[index],
      rootFen: game[0].rootFen,
      moves: game.slice(1, turnNumber + 1).map(({ move }) => move),
      blackToMove: position.sideToMove === BLACK,
      gamePly: position.gamePly,
      end: listLegalMoves(position).length > 0 ? null : position.inCheck() ? 'checkmate' : 'stalemate',
      ...restrictions[index],
    };
  });
  const warnings = reader.unknownFields.map((field) => ({
    field,
    text: `A query has no field ${field}; it is ignored`,
  }));
  return { ok: true, value: { model, tasks, warnings } };
}

/** A position of the game and the move before it. */
interface Turn {
  readonly rootFen: string;
  readonly position: Position;
  readonly move: Move;
}

/** The positions of the game, the initial one first; only that one after a problem. */
function readGame(reader: FieldReader): Turn[] {
  const initialFen = reader.readString('initialFen');
  // What everybody calls it.
  const otherFen = reader.readString('fen');
  const fen = initialFen ?? otherFen;
  if (otherFen !== undefined && fen !== otherFen) reader.fail('fen', 'fen is another name of initialFen: give one');
  const isStart = reader.readBoolean('startpos') ?? false;
  const texts = reader.readStrings('moves') ?? [];
  if (isStart && fen !== undefined && fen !== 'startpos')
    reader.fail('startpos', 'startpos and initialFen exclude each other');
  let parsed = parseFen(fen ?? START_FEN);
  if (!parsed.ok) {
    reader.fail(initialFen === undefined ? 'fen' : 'initialFen', `Illegal position: ${parsed.error}`);
    parsed = parseFen(START_FEN);
    if (!parsed.ok) throw new Error(parsed.error);
  }
  const position = parsed.value;
  const rootFen = formatFen(position, 'shredder');
  const game: Turn[] = [{ rootFen, position: position.clone(), move: 0 as Move }];
  for (const text of texts) {
    if (reader.problem !== null) break;
    const move = parseGameMove(position, text);
    if (!move.ok) {
      reader.fail('moves', `Illegal move ${game.length} of the game: ${move.error}`);
      break;
    }
    position.makeMove(move.value);
    game.push({ rootFen, position: position.clone(), move: move.value });
  }
  return game;
}

function readModel(reader: FieldReader, models: readonly string[]): number {
  const name = reader.readString('model');
  if (name === undefined) return 0;
  const index = models.indexOf(name);
  if (index < 0) reader.fail('model', `There is no model ${name}; there are ${models.join(', ')}`);
  return Math.max(0, index);
}

function readTurns(reader: FieldReader, last: number): number[] {
  const turns = reader.readWholes('analyzeTurns', 0, last);
  if (turns?.length === 0) reader.fail('analyzeTurns', 'analyzeTurns must name at least one turn');
  return turns ?? [last];
}

function readPriorities(reader: FieldReader, turnCount: number): number[] {
  const one = reader.readWhole('priority', -HIGHEST_PRIORITY, HIGHEST_PRIORITY);
  const many = reader.readWholes('priorities', -HIGHEST_PRIORITY, HIGHEST_PRIORITY);
  if (one !== undefined && many !== undefined) reader.fail('priorities', 'priority and priorities exclude each other');
  if (many !== undefined && many.length !== turnCount) {
    reader.fail('priorities', `priorities needs one number for each of the ${turnCount} turns`);
  }
  return many ?? new Array<number>(turnCount).fill(one ?? 0);
}

function readSettings(reader: FieldReader, defaults: ReadonlyMap<string, OptionValue>): Map<string, OptionValue> {
  const values = new Map(defaults);
  for (const [name, value] of Object.entries(reader.readObject('overrideSettings') ?? {})) {
    const parsed = parseSetting(name, value);
    if (parsed.ok) values.set(parsed.value.uci, parsed.value.value);
    else reader.fail(`overrideSettings.${name}`, parsed.error);
  }
  return values;
}

function parseSetting(name: string, value: unknown): Result<{ uci: string; value: OptionValue }> {
  const spec = overridable.get(name.toLowerCase());
  if (spec === undefined) return failure(`${name} is not an option that a query can set`);
  if (!['string', 'number', 'boolean'].includes(typeof value))
    return failure(`Option ${spec.uci} must be a string, a number, true or false`);
  const parsed = parseOptionValue(spec, String(value));
  return parsed.ok ? success({ uci: spec.uci, value: parsed.value }) : parsed;
}

function toMilliseconds(seconds: number | undefined): number | null {
  return seconds === undefined ? null : seconds * 1000;
}
