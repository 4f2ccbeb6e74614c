/**
 * Parses a JSON query into the positions to analyse. It finds every mistake before a search starts, and returns either one
 * problem with its field, or tasks and warnings. `allowMoves` and `avoidMoves` become root moves and, below the root, rules of the
 * search.
 */

import { type OptionSpec, type OptionValue, parseOptionValue } from '../../base/options/index.js';
import { failure, type Result, success } from '../../base/util/index.js';
import {
  BLACK,
  createMove,
  formatFen,
  hasChess960Castling,
  KNIGHT,
  listLegalMoves,
  type Move,
  type Position,
  parseFen,
  parseSan,
  parseUciMove,
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
import { FieldReader, isObject, type Problem } from './field-reader.js';

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
  const notes: Problem[] = [];
  const game = readGame(reader, notes);
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
  const unknown = reader.unknownFields.map((field) => ({
    field,
    text: `A query has no field ${field}; it is ignored`,
  }));
  return { ok: true, value: { model, tasks, warnings: [...unknown, ...notes] } };
}

/** A position of the game and the move before it. */
interface Turn {
  readonly rootFen: string;
  readonly position: Position;
  readonly move: Move;
}

/**
 * The positions of the game, the initial one first; only that one after a problem.
 * @param notes receives what was dropped from the FEN
 */
function readGame(reader: FieldReader, notes: Problem[]): Turn[] {
  const initialFen = reader.readString('initialFen');
  // What everybody calls it.
  const otherFen = reader.readString('fen');
  const fen = initialFen ?? otherFen;
  if (otherFen !== undefined && fen !== otherFen) reader.fail('fen', 'fen is another name of initialFen: give one');
  const isStart = reader.readBoolean('startpos') ?? false;
  const texts = reader.readStrings('moves') ?? [];
  if (isStart && fen !== undefined && fen !== 'startpos')
    reader.fail('startpos', 'startpos and initialFen exclude each other');
  const field = initialFen === undefined ? 'fen' : 'initialFen';
  const dropped: string[] = [];
  let parsed = parseFen(fen ?? START_FEN, dropped);
  for (const text of dropped) notes.push({ field, text });
  if (!parsed.ok) {
    reader.fail(field, `Illegal position: ${parsed.error}`);
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

// Reads `allowMoves` and `avoidMoves` of a query, in both forms: a list of moves for the root, or, as in KataGo, a list of
// `{player, moves, untilDepth}`. At the root they become the moves to search; deeper they become rules of the search.

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

/** One result for each turn; without restrictions after a problem. */
export function readMoveRules(
  reader: FieldReader,
  turns: readonly { readonly turn: number; readonly position: Position }[],
): MoveRestriction[] {
  const allowed = readWrittenRules(reader, 'allowMoves');
  const avoided = readWrittenRules(reader, 'avoidMoves');
  if (allowed !== undefined && avoided !== undefined) {
    reader.fail('avoidMoves', 'allowMoves and avoidMoves exclude each other');
  }
  const isAllowList = allowed !== undefined;
  const field = isAllowList ? 'allowMoves' : 'avoidMoves';
  const written = (allowed ?? avoided ?? []).filter(({ texts }) => texts.length > 0);
  if (isAllowList && written.length > 1) reader.fail(field, 'allowMoves takes one rule');
  if (reader.problem !== null || written.length === 0) return turns.map(() => NO_RESTRICTION);
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
    if (legal.length > 0 && kept.length === 0) reader.fail(field, `${field} leaves no move at turn ${turn}`);
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
    if (strange !== undefined) reader.fail(field, isDeep ? `${strange} is not a move in UCI notation` : firstError);
  }
  return restrictions;
}

function isToMove({ sideToMove }: Position, player: 'w' | 'b'): boolean {
  return (sideToMove === BLACK) === (player === 'b');
}

function readWrittenRules(reader: FieldReader, field: string): WrittenRule[] | undefined {
  const list = reader.readList(field);
  if (list === undefined || !list.every(isObject)) {
    const texts = reader.readStrings(field);
    return texts === undefined ? undefined : [{ texts, player: null, untilDepth: 1 }];
  }
  return list.map((item) => {
    const { player, moves, untilDepth, ...others } = item;
    const colour = /^[wb]/i.exec(typeof player === 'string' ? player : '')?.[0].toLowerCase();
    const isDepth = typeof untilDepth === 'number' && Number.isInteger(untilDepth) && untilDepth >= 1;
    if (colour === undefined) reader.fail(field, `The player of ${field} must be w or b`);
    else if (!isDepth) reader.fail(field, `untilDepth of ${field} must be a whole number from 1`);
    else if (!Array.isArray(moves) || !moves.every((move) => typeof move === 'string')) {
      reader.fail(field, `moves of ${field} must be a list of strings`);
    } else if (Object.keys(others).length > 0) {
      reader.fail(field, `A rule of ${field} has no field ${Object.keys(others)[0]}`);
    } else return { texts: moves, player: colour as 'w' | 'b', untilDepth: Math.min(untilDepth, GREATEST_DEPTH) };
    return { texts: [], player: null, untilDepth: 1 };
  });
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
