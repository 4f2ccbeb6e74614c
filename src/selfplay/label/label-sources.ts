/**
 * Existing games and positions to label, read from files: PGN, labelled games (.jsonl) and lists of positions (.epd, .fen), plain
 * or packed. With several wanted results the files are read once for each, so that all lost games come before the drawn ones.
 * A damaged game is reported and skipped; its number is counted, so a resumed run counts alike.
 */
import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { describeReadFailure } from '#platform/files.js';
import { formatUciMove, parseEpdLine } from '../../chess/index.js';
import {
  findInputKind,
  formatResult,
  type InputKind,
  isHopeless,
  parseLabelledGame,
  readChunks,
} from '../../data/index.js';
import { parsePgnTags, readPgn, readPgnGame } from '../../pgn/index.js';
import { BrokenInput, decodeText, failure, RefusedInput, type Result, readLines, success } from '../../util/index.js';
import type { ResultText } from '../game/game-end.js';

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
  readonly result: ResultText | '*';
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
    const kind = await findInputKind(path);
    if (kind === null || kind === 'polyglot') {
      return failure(
        `${path} holds neither games nor positions; --from reads .pgn, .jsonl, .epd and .fen, plain, .gz, .zst, .bz2 or .zip`,
      );
    }
    if (filter.player !== null && kind !== 'pgn') {
      return failure(`${path} does not say who played; --player needs PGN files`);
    }
    try {
      files.push({ path: resolve(path), kind, bytes: statSync(path).size });
      await readBeginning(path, kind);
    } catch (error) {
      if (error instanceof RefusedInput) return failure(`${path} is refused: ${error.message}`);
      if (!(error instanceof BrokenInput)) return failure(`${path} cannot be read: ${describeReadFailure(error)}`);
    }
  }
  return success(files);
}

/** So much of a file is unpacked before its first game is labelled, which takes long. */
const BEGINNING_BYTES = 1 << 22;

async function readBeginning(path: string, kind: InputKind): Promise<void> {
  let bytes = 0;
  for await (const chunk of readChunks(path, () => undefined, kind)) {
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
  let unreadable = 0;
  try {
    if (kind === 'pgn') {
      for await (const source of readPgn(decodeText(readChunks(path, onBytes, kind)))) {
        const game = readPgnSource(source, name, player, wanted);
        if (game.ok) {
          readable++;
          if (game.value !== null) yield game.value;
          continue;
        }
        if (++unreadable <= MOST_WARNINGS) onWarning(game.error);
        if (isHopeless(unreadable, readable)) throw new BrokenInput('almost none of its games can be read');
      }
      return;
    }
    for await (const { text: line, number } of readLines(decodeText(readChunks(path, onBytes, kind)))) {
      if (kind === 'positions' && line.startsWith('#')) continue;
      const origin = `${name}, line ${number}`;
      const dropped: string[] = [];
      const game = kind === 'labels' ? readLabelLine(line, origin) : readPositionLine(line, origin, dropped);
      if (game.ok) {
        readable++;
        for (const note of dropped) onWarning(`${origin}: ${note}`);
        yield game.value;
        continue;
      }
      if (++unreadable <= MOST_WARNINGS) onWarning(`${origin} skipped: ${game.error}`);
      if (isHopeless(unreadable, readable)) throw new BrokenInput('almost none of its lines can be read');
    }
  } catch (error) {
    if (error instanceof RefusedInput) throw new Error(`${path} is refused: ${error.message}`);
    const why = error instanceof BrokenInput ? error.message : describeReadFailure(error);
    onWarning(`${name}: the rest cannot be read: ${why}`);
  }
}

/** @returns null for a game that is not wanted */
function readPgnSource(
  source: Parameters<typeof readPgnGame>[0],
  name: string,
  player: string | null,
  wanted: PlayerResult | null,
): Result<Unnumbered | null> {
  const origin = `${name}, game ${source.number}`;
  const playerSide = player === null ? null : findSide(parsePgnTags(source.text), player);
  if (player !== null && playerSide === null) return success(null);
  const read = readPgnGame(source);
  if (!read.ok) return failure(`${origin} skipped: ${read.error}`);
  const { startFen, moves, problem, result, isChess960 } = read.value;
  if (wanted !== null && nameResult(result, playerSide) !== wanted) return success(null);
  if (problem !== null) return failure(`${origin} skipped: ${problem}`);
  const uciMoves = moves.map((move) => formatUciMove(move, isChess960));
  return success({ fen: startFen, moves: uciMoves, result, playerSide, isPosition: false, origin });
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

function readLabelLine(line: string, origin: string): Result<Unnumbered> {
  const parsed = parseLabelledGame(line);
  if (!parsed.ok) return parsed;
  const { fen, plies, whiteResult } = parsed.value;
  const result = formatResult(whiteResult) as SourceGame['result'];
  const moves = plies.map(([played]) => played);
  return success({ fen, moves, result, playerSide: null, isPosition: false, origin });
}

function readPositionLine(line: string, origin: string, notes: string[]): Result<Unnumbered> {
  const fen = parseEpdLine(line, notes);
  if (!fen.ok) return fen;
  return success({ fen: fen.value.fen, moves: [], result: '*', playerSide: null, isPosition: true, origin });
}
