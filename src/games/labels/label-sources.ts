/**
 * Existing games and positions to label, read from files: PGN, labelled games (.jsonl) and lists of positions (.epd, .fen), plain
 * or packed. With several wanted results the files are read once for each, so that all lost games come before the drawn ones.
 * A damaged game is reported and skipped; its number is counted, so a resumed run counts alike.
 */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import {
  BrokenInput,
  decodeText,
  failure,
  RefusedInput,
  type Result,
  readLines,
  success,
} from '../../base/util/index.js';
import type { InputKind } from '../../chess/archives/index.js';
import { type PgnResult, type PgnText, parsePgnTags, readGameTexts, readPgnGame } from '../../chess/pgn/index.js';
import { formatUciMove } from '../../chess/rules/index.js';
import { findInputKind, formatResult, parseLabelledGame, ReadingProblems, readChunks } from '../records/index.js';

export const PLAYER_RESULTS = ['lost', 'drawn', 'won'] as const;
export type PlayerResult = (typeof PLAYER_RESULTS)[number];

export interface SourceFilter {
  /** Only games of this player; null = all games. Capitals do not matter. */
  readonly player: string | null;
  /** Only games with these results for the player, in this order; empty = all games in the order of the files. */
  readonly results: readonly PlayerResult[];
}

/** A game, or a single position as a game without moves. */
export interface SourceGame {
  /** Counts the games that the filter lets through, over all files; it tells games apart in a resumed run. */
  readonly number: number;
  readonly fen: string;
  /** UCI moves. Those of PGN files are legal, those of labelled games have not been checked. */
  readonly moves: readonly string[];
  readonly result: PgnResult;
  /** Whose game it is: 0 White, 1 Black; null without a player. */
  readonly playerSide: 0 | 1 | null;
  /** A list of positions: the position itself is to be labelled. */
  readonly isPosition: boolean;
  /** For messages: "games.pgn, game 12". */
  readonly origin: string;
}

export interface SourceFile {
  readonly path: string;
  readonly kind: InputKind;
  readonly bytes: number;
}

interface Reading {
  /** Called with each number of bytes read; the sum reaches the files' size once a pass. */
  onBytes(bytes: number): void;
  onWarning(text: string): void;
}

/** Checks that the files exist, and that they can answer the filter. */
export async function openSources(paths: readonly string[], filter: SourceFilter): Promise<Result<SourceFile[]>> {
  const files: SourceFile[] = [];
  if (filter.results.length > 0 && filter.player === null) {
    return failure('--results needs --player: it says whose results are meant');
  }
  for (const path of paths) {
    let bytes = 0;
    try {
      const stats = statSync(path);
      // A pipe would be empty the second time.
      if (!stats.isFile()) return failure(`${path} is no plain file, and the files of --from are read more than once`);
      const kind = await findInputKind(path);
      if (kind === null || kind === 'polyglot') {
        return failure(
          `${path} holds neither games nor positions; --from reads .pgn, .jsonl, .epd and .fen, plain, .gz, .zst, .bz2 or .zip`,
        );
      }
      if (filter.player !== null && kind !== 'pgn') {
        return failure(`${path} does not say who played; --player needs PGN files`);
      }
      files.push({ path: resolve(path), kind, bytes: stats.size });
      await readBeginning(path, kind, (count) => {
        bytes += count;
      });
    } catch (error) {
      if (error instanceof RefusedInput) return failure(`${path} is refused: ${error.message}`);
      // Of a file that is damaged, or that the disk gives only in part, games are labelled up to that place.
      if (files.at(-1)?.path !== resolve(path) || (bytes === 0 && !(error instanceof BrokenInput)))
        return failure(`${path} cannot be read: ${describeReadFailure(error)}`);
    }
  }
  return success(files);
}

/** So much of a file is unpacked before its first game is labelled, which takes long. */
const BEGINNING_BYTES = 1 << 22;

async function readBeginning(path: string, kind: InputKind, onBytes: (count: number) => void): Promise<void> {
  let bytes = 0;
  for await (const chunk of readChunks(path, kind, onBytes)) {
    bytes += chunk.length;
    if (bytes > BEGINNING_BYTES) return;
  }
}

/** Passes over the files that `readSources` makes. */
export function countPasses({ results }: SourceFilter): number {
  return Math.max(1, results.length);
}

/** Throws one sentence when a file cannot be read at all; the games before a damaged place are kept. */
export async function* readSources(
  files: readonly SourceFile[],
  filter: SourceFilter,
  reading: Reading,
): AsyncGenerator<SourceGame> {
  const passes = filter.results.length === 0 ? [null] : filter.results;
  let number = 0;
  const warned = new Set<string>();
  const onWarning = (text: string): void => {
    if (!warned.has(text)) reading.onWarning(text);
    warned.add(text);
  };
  for (const wanted of passes) {
    for (const file of files) {
      for await (const game of readFile(file, filter.player, wanted, { ...reading, onWarning })) {
        yield { ...game, number: number++ };
      }
    }
  }
}

/** Of one file that are shown. */
const MOST_WARNINGS = 100;

type Unnumbered = Omit<SourceGame, 'number'>;

async function* readFile(
  { path, kind }: SourceFile,
  player: string | null,
  wanted: PlayerResult | null,
  { onBytes, onWarning }: Reading,
): AsyncGenerator<Unnumbered> {
  const name = basename(path);
  let readable = 0;
  const unreadable = new ReadingProblems('games');
  try {
    const texts = decodeText(readChunks(path, kind, onBytes));
    const read = kind === 'labels' ? readLabels(texts, name) : readGames(texts, name, kind, player, wanted);
    for await (const { game, notes = [] } of read) {
      for (const note of notes) onWarning(note);
      if (game.ok) {
        readable++;
        if (game.value !== null) yield game.value;
        continue;
      }
      const why = unreadable.add(game.error, readable);
      if (unreadable.count <= MOST_WARNINGS) onWarning(game.error);
      if (why !== null) throw new BrokenInput(why);
    }
  } catch (error) {
    if (error instanceof RefusedInput) throw new Error(`${path} is refused: ${error.message}`);
    onWarning(
      `${name}${readable + unreadable.count === 0 ? '' : ': the rest'} cannot be read: ${describeReadFailure(error)}`,
    );
  }
}

interface ReadGame {
  /** Null: it is not wanted. */
  readonly game: Result<Unnumbered | null>;
  readonly notes?: readonly string[];
}

const UNWANTED: ReadGame = { game: success(null) };

function skip(origin: string, why: string): ReadGame {
  return { game: failure(`${origin} skipped: ${why}`) };
}

async function* readGames(
  texts: AsyncIterable<string>,
  name: string,
  kind: InputKind,
  player: string | null,
  wanted: PlayerResult | null,
): AsyncGenerator<ReadGame> {
  for await (const text of readGameTexts(texts, kind === 'positions' ? kind : 'games')) {
    if (!text.ok) yield { game: failure(`${name}: ${text.error}`) };
    else yield readGame(text.value, name, player, wanted);
  }
}

function readGame(source: PgnText, file: string, player: string | null, wanted: PlayerResult | null): ReadGame {
  const origin = `${file}, ${source.isPosition ? `line ${source.line}` : `game ${source.number}`}`;
  const playerSide = player === null ? null : findSide(parsePgnTags(source.text), player);
  if (player !== null && playerSide === null) return UNWANTED;
  const read = readPgnGame(source);
  if (!read.ok) return skip(origin, read.error);
  const { startFen, moves, problem, result, isChess960, notes } = read.value;
  if (wanted !== null && nameResult(result, playerSide) !== wanted) return UNWANTED;
  if (problem !== null) return skip(origin, problem);
  const uciMoves = moves.map((move) => formatUciMove(move, isChess960));
  const { isPosition } = source;
  return {
    game: success({ fen: startFen, moves: uciMoves, result, playerSide, isPosition, origin }),
    notes: notes.map((note) => `${origin}: ${note}`),
  };
}

function findSide(tags: ReadonlyMap<string, string>, player: string): 0 | 1 | null {
  const isPlayer = (tag: string): boolean => tags.get(tag)?.toLowerCase() === player.toLowerCase();
  if (isPlayer('White')) return 0;
  return isPlayer('Black') ? 1 : null;
}

function nameResult(result: string, side: 0 | 1 | null): PlayerResult | null {
  if (result === '1/2-1/2') return 'drawn';
  if (result === '*' || side === null) return null;
  return (result === '1-0') === (side === 0) ? 'won' : 'lost';
}

async function* readLabels(texts: AsyncIterable<string>, name: string): AsyncGenerator<ReadGame> {
  for await (const { text, number } of readLines(texts)) {
    const origin = `${name}, line ${number}`;
    const parsed = parseLabelledGame(text);
    if (!parsed.ok) {
      yield skip(origin, parsed.error);
      continue;
    }
    const { fen, plies, whiteResult } = parsed.value;
    const result = formatResult(whiteResult);
    const moves = plies.map(([played]) => played);
    yield { game: success({ fen, moves, result, playerSide: null, isPosition: false, origin }) };
  }
}
