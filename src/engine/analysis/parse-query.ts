/**
 * Parses a JSON query into the positions to analyse. It finds every mistake before a search starts, and throws the first
 * one with its field, or returns tasks and warnings. `allowMoves` and `avoidMoves` become root moves and, below the root, rules of the
 * search.
 */

import { type OptionSpec, type OptionValue, parseOptionValue } from '../../base/options/index.js';
import { failure, type Result, success } from '../../base/util/index.js';
import {
  BLACK,
  formatFen,
  hasChess960Castling,
  listLegalMoves,
  type Move,
  type Position,
  parseFen,
  START_FEN,
} from '../../chess/rules/index.js';
import {
  createSearchParams,
  type MoveRule,
  type ScoreType,
  type SearchParams,
  searchOptions,
} from '../../search/index.js';
import { engineOptions } from '../core/options.js';
import { parseGameMove, readMoveRules } from './move-restriction.js';
import { describeRange, MOST_MOVES, type QueryFields, QueryProblem, querySchema, readFields } from './query-fields.js';

export interface QueryDefaults {
  /** Values of all options, by UCI name. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** Limits of queries without their own; null = no such limit. */
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** Names of the networks; the first one answers queries without a model. */
  readonly models: readonly string[];
}

interface QueryWarning {
  readonly field: string;
  /** One sentence. */
  readonly text: string;
}

export interface ParsedQuery {
  /** Index of the network to use. */
  readonly model: number;
  readonly tasks: readonly PositionTask[];
  readonly warnings: readonly QueryWarning[];
}

/** Search options that all queries share. */
const FIXED_OPTIONS: ReadonlySet<string> = new Set(['MinibatchSize', 'BatchesInFlight', 'RamLimitMb']);

const overridable: ReadonlyMap<string, OptionSpec> = new Map(
  [
    ...searchOptions.filter(({ uci }) => !FIXED_OPTIONS.has(uci)),
    ...engineOptions.filter(({ uci }) => uci === 'ScoreType'),
  ].map((spec) => [spec.uci.toLowerCase(), spec]),
);

/** @throws QueryProblem */
export function parseQuery(
  queryId: string,
  object: Readonly<Record<string, unknown>>,
  defaults: QueryDefaults,
): ParsedQuery {
  const fields = readFields(querySchema, object);
  const notes: QueryWarning[] = [];
  const game = readGame(fields, notes);
  const turns = readTurns(fields, game.length - 1);
  const priorities = readPriorities(fields, turns.length);
  const values = readSettings(fields, defaults.values);
  const { maxVisits, maxTime, reportDuringSearchEvery: every } = fields;
  const hasLimit = maxVisits !== undefined || maxTime !== undefined;
  const asksForChess960 = fields.chess960 ?? values.get('UCI_Chess960') === true;
  const common = {
    queryId,
    rootFen: formatFen(game[0].position, 'shredder'),
    // In Chess960 the king's new square may also be that of a plain move.
    chess960: asksForChess960 || hasChess960Castling(game[0].position),
    maxVisits: maxVisits ?? (hasLimit ? null : defaults.maxVisits),
    maxTimeMs: maxTime !== undefined ? maxTime * 1000 : hasLimit ? null : defaults.maxTimeMs,
    moveLimit: fields.multiPv ?? MOST_MOVES,
    includesPolicy: fields.includePolicy ?? false,
    includesPvVisits: fields.includePVVisits ?? false,
    firstReportMs: toMilliseconds(fields.firstReportDuringSearchAfter ?? every),
    reportEveryMs: toMilliseconds(every),
    params: createSearchParams(values),
    scoreType: values.get('ScoreType') as ScoreType,
  };
  const restrictions = readMoveRules(
    fields,
    turns.map((turn) => ({ turn, position: game[turn].position })),
  );
  const model = readModel(fields, defaults.models);
  if (common.params.search === 'graph' && restrictions.some(({ moveRules }) => moveRules.length > 0)) {
    throw new QueryProblem('overrideSettings', 'untilDepth above 1 needs SearchAlgorithm to be tree');
  }
  const tasks = turns.map((turnNumber, index): PositionTask => {
    const { position } = game[turnNumber];
    return {
      ...common,
      turnNumber,
      priority: priorities[index],
      moves: game.slice(1, turnNumber + 1).map(({ move }) => move),
      blackToMove: position.sideToMove === BLACK,
      gamePly: position.gamePly,
      end: listLegalMoves(position).length > 0 ? null : position.inCheck() ? 'checkmate' : 'stalemate',
      ...restrictions[index],
    };
  });
  const unknown = Object.keys(object)
    .filter((field) => !Object.hasOwn(querySchema.entries, field))
    .map((field) => ({ field, text: `A query has no field ${field}; it is ignored` }));
  return { model, tasks, warnings: [...unknown, ...notes] };
}

/** A position of the game and the move before it. */
interface Turn {
  readonly position: Position;
  readonly move: Move;
}

/**
 * The positions of the game, the initial one first.
 * @param notes receives what was dropped from the FEN
 */
function readGame({ initialFen, fen: otherFen, startpos, moves = [] }: QueryFields, notes: QueryWarning[]): Turn[] {
  const fen = initialFen ?? otherFen;
  if (otherFen !== undefined && fen !== otherFen)
    throw new QueryProblem('fen', 'fen is another name of initialFen: give one');
  if (startpos && fen !== undefined && fen !== 'startpos')
    throw new QueryProblem('startpos', 'startpos and initialFen exclude each other');
  const field = initialFen === undefined ? 'fen' : 'initialFen';
  const dropped: string[] = [];
  const parsed = parseFen(fen ?? START_FEN, dropped);
  for (const text of dropped) notes.push({ field, text });
  if (!parsed.ok) throw new QueryProblem(field, `Illegal position: ${parsed.error}`);
  const position = parsed.value;
  const game: Turn[] = [{ position: position.clone(), move: 0 as Move }];
  for (const text of moves) {
    const move = parseGameMove(position, text);
    if (!move.ok) throw new QueryProblem('moves', `Illegal move ${game.length} of the game: ${move.error}`);
    position.makeMove(move.value);
    game.push({ position: position.clone(), move: move.value });
  }
  return game;
}

function readModel({ model: name }: QueryFields, models: readonly string[]): number {
  if (name === undefined) return 0;
  const index = models.indexOf(name);
  if (index < 0) throw new QueryProblem('model', `There is no model ${name}; there are ${models.join(', ')}`);
  return index;
}

function readTurns({ analyzeTurns: turns }: QueryFields, last: number): number[] {
  if (turns === undefined) return [last];
  if (turns.length === 0) throw new QueryProblem('analyzeTurns', 'analyzeTurns must name at least one turn');
  if (turns.some((turn) => turn > last))
    throw new QueryProblem('analyzeTurns', `analyzeTurns must be a list, each item ${describeRange(0, last)}`);
  return turns;
}

function readPriorities({ priority: one, priorities: many }: QueryFields, turnCount: number): number[] {
  if (one !== undefined && many !== undefined)
    throw new QueryProblem('priorities', 'priority and priorities exclude each other');
  if (many !== undefined && many.length !== turnCount) {
    throw new QueryProblem('priorities', `priorities needs one number for each of the ${turnCount} turns`);
  }
  return many ?? new Array<number>(turnCount).fill(one ?? 0);
}

function readSettings(
  { overrideSettings = {} }: QueryFields,
  defaults: ReadonlyMap<string, OptionValue>,
): Map<string, OptionValue> {
  const values = new Map(defaults);
  for (const [name, value] of Object.entries(overrideSettings)) {
    const parsed = parseSetting(name, value);
    if (!parsed.ok) throw new QueryProblem(`overrideSettings.${name}`, parsed.error);
    values.set(parsed.value.uci, parsed.value.value);
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

/** One position to analyse: a checked turn of a query. postMessage can clone it. */
export interface PositionTask {
  readonly queryId: string;
  /** Moves played before the position. */
  readonly turnNumber: number;
  /** Higher ones are searched first. */
  readonly priority: number;
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly blackToMove: boolean;
  readonly gamePly: number;
  readonly chess960: boolean;
  /** How the game has ended if there is no legal move, else null. */
  readonly end: 'checkmate' | 'stalemate' | null;
  /** The only moves to search; empty = all. */
  readonly searchMoves: readonly Move[];
  /** Moves to avoid, or the only ones to search, at greater depths too; empty = none. */
  readonly moveRules: readonly MoveRule[];
  /** Null = no such limit; at least one of the two is set. */
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** Largest number of moves in an answer. */
  readonly moveLimit: number;
  readonly includesPolicy: boolean;
  readonly includesPvVisits: boolean;
  /** Milliseconds from the start of the search to the first report, and from one to the next; null = no reports. */
  readonly firstReportMs: number | null;
  readonly reportEveryMs: number | null;
  readonly params: SearchParams;
  readonly scoreType: ScoreType;
}

/** Selects tasks: of one query or of all, and only of the given turns if there are any. */
export interface TaskSelection {
  readonly queryId: string | null;
  readonly turnNumbers: readonly number[] | null;
}

export function isSelected(task: PositionTask, { queryId, turnNumbers }: TaskSelection): boolean {
  return (
    (queryId === null || task.queryId === queryId) && (turnNumbers === null || turnNumbers.includes(task.turnNumber))
  );
}
