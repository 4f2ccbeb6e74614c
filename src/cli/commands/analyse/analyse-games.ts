/**
 * Analyses the games of PGN files one after the other. Each game is written as soon as it is finished, so an interrupted
 * run keeps what it has done. Files are read twice, game by game: first to count positions and to report what cannot be
 * read, then to analyse. Memory holds one game at a time. Only files without any readable game are an error.
 */
import { statSync } from 'node:fs';
import { describeReadFailure } from '#platform/files.js';
import { BrokenInput, countOf, decodeText, RefusedInput, type Result, success } from '../../../base/util/index.js';
import {
  annotateGame,
  createRemarks,
  formatEvaluation,
  formatPgn,
  nameGame,
  type PgnGame,
  type PgnText,
  readGameTexts,
  readPgnGame,
} from '../../../chess/pgn/index.js';
import type { Analyst, GoRequest, Score } from '../../../engine/core/index.js';
import { findInputKind, ReadingProblems, readChunks } from '../../../games/records/index.js';
import type { Wdl } from '../../../search/index.js';
import { createProgressBar, NoteList, nameInput, printLine, printNote } from '../../output.js';
import { writeOutput } from '../../write-output.js';
import { type AnalysedPosition, searchGame } from './analyse-position.js';

/** Width of the lines of an annotated game, the one of PGN's export format. */
const LINE_WIDTH = 80;

/** PGN files that have been read once. */
export interface GameFiles {
  /** Of all games that can be read. */
  readonly positions: number;
  readGames(): AsyncGenerator<PgnGame>;
}

/** @param paths plain or compressed; rejects with a sentence when one is not a file, or no game can be read */
export async function openGameFiles(paths: readonly string[], asksForChess960: boolean): Promise<GameFiles> {
  // A pipe can be read only once, so its content is kept.
  const kept = new Map<string, PgnText[]>();
  const problems = new NoteList();
  /** Why the rest of a file was not read. */
  const broken = new Map<string, string>();
  let positions = 0;
  /** The last sentence about a file, which is the error when nothing can be read. */
  let last: string | null = null;
  for (const path of paths) {
    const name = nameInput(path);
    const place = paths.length > 1 ? `${name}: ` : '';
    const isPipe = !isRegularFile(path);
    let games = 0;
    const unreadable = new ReadingProblems('games');
    if (isPipe) kept.set(path, []);
    const onBroken = (why: string): void => {
      broken.set(path, why);
      if (last !== null) problems.add(last);
      last = `${name}${games > unreadable.count ? ': the rest' : ''} cannot be read: ${why}`;
    };
    for await (const text of readTexts(path, onBroken)) {
      games++;
      const game = text.ok ? readPgnGame(text.value, { asksForChess960 }) : text;
      if (!text.ok || !game.ok) {
        const name = text.ok ? `${nameGame(text.value)} cannot be read: ` : '';
        const reason = game.ok ? '' : game.error;
        problems.add(`${place}${name}${reason}`);
        const why = unreadable.add(reason, games - unreadable.count - 1);
        if (why === null) continue;
        onBroken(why);
        break;
      }
      kept.get(path)?.push(text.value);
      positions += game.value.moves.length + 1;
      for (const note of game.value.notes) problems.add(`${place}${nameGame(text.value)}: ${note}`);
      if (game.value.problem !== null) {
        problems.add(`${place}${nameGame(text.value)} is analysed only up to ${game.value.problem}`);
      }
    }
  }
  const error =
    positions > 0 ? null : (last ?? problems.takeLast() ?? `There is no game in ${paths.map(nameInput).join(', ')}`);
  if (last !== null && error === null) problems.add(last);
  problems.print();
  if (error !== null) throw new Error(error);
  return {
    positions,
    async *readGames() {
      for (const path of paths) {
        // The first reading has told what it could not read; a file may have changed since then.
        const onBroken = (why: string): void => {
          if (why !== broken.get(path)) printNote(`${nameInput(path)}: the rest cannot be read any more: ${why}`);
        };
        for await (const text of kept.get(path)?.map(success) ?? readTexts(path, onBroken)) {
          const game = text.ok ? readPgnGame(text.value, { asksForChess960 }) : text;
          if (game.ok) yield game.value;
        }
      }
    },
  };
}

/** @param onBroken receives why the rest is not read. Throws one sentence when nothing can be read. */
async function* readTexts(path: string, onBroken: (why: string) => void): AsyncGenerator<Result<PgnText>> {
  let games = 0;
  try {
    const kind = (await findInputKind(path)) === 'positions' ? 'positions' : 'pgn';
    const texts = decodeText(readChunks(path, kind));
    for await (const text of readGameTexts(texts, kind === 'positions' ? kind : 'games')) {
      games++;
      yield text;
    }
  } catch (error) {
    if (error instanceof RefusedInput) throw new Error(`${nameInput(path)} is refused: ${error.message}`);
    if (!(error instanceof BrokenInput) && games === 0)
      throw new Error(
        `"${nameInput(path)}" is neither a FEN nor a file that can be read: ${describeReadFailure(error)}`,
      );
    onBroken(describeReadFailure(error));
  }
}

function isRegularFile(path: string): boolean {
  if (path === '-') return false;
  try {
    return statSync(path).isFile();
  } catch {
    // The reader says why.
    return true;
  }
}

interface GameOutput {
  readonly json: boolean;
  /** The file for the annotated games, - for stdout. */
  readonly pgn: string | undefined;
}

export async function reportGames(
  analyst: Analyst,
  files: GameFiles,
  request: GoRequest,
  output: GameOutput,
  signal: AbortSignal,
): Promise<void> {
  const { positions: total } = files;
  const bar = createProgressBar('{bar} {value}/{total} positions, {eta_formatted} left', { clearOnComplete: true });
  let done = 0;
  let number = 0;
  for await (const game of files.readGames()) {
    // Results go to the same terminal, so the bar is removed before each line.
    bar.start(total, done);
    let positions: AnalysedPosition[];
    try {
      positions = await searchGame(analyst, game, request, signal, () => bar.update(++done));
    } finally {
      bar.stop();
    }
    if (positions.length > 0) await writeGame(game, positions, ++number, output);
    if (!signal.aborted) continue;
    printNote(`Interrupted: ${done} of ${countOf(total, 'position')} analysed`);
    break;
  }
  if (output.json) printLine(number === 0 ? '[]' : ']');
}

async function writeGame(
  game: PgnGame,
  positions: readonly AnalysedPosition[],
  number: number,
  { json, pgn }: GameOutput,
): Promise<void> {
  const isFirst = number === 1;
  const tree = annotateGame(game, createRemarks(positions));
  const annotated = pgn === undefined ? '' : formatPgn(tree, { lineWidth: LINE_WIDTH });
  if (pgn !== undefined && pgn !== '-')
    await writeOutput(pgn, isFirst ? annotated : `\n${annotated}`, isFirst ? 'w' : 'a');
  // One JSON array, with one element a line.
  if (json) printLine(`${isFirst ? '[' : ','}${JSON.stringify({ headers: Object.fromEntries(game.tags), positions })}`);
  // Names in Hebrew and Arabic need their marks of direction; a terminal shows them as text.
  else if (pgn === '-') printLine(isFirst ? annotated.trimEnd() : `\n${annotated.trimEnd()}`, !process.stdout.isTTY);
  else if (pgn === undefined) {
    if (!isFirst) printLine('');
    for (const line of formatGame(game, positions, number)) printLine(line);
  }
}

/** The game's name, then a line a position: move played, evaluation, best move. A game without moves is a position with a name. */
function formatGame(game: PgnGame, positions: readonly AnalysedPosition[], number: number): string[] {
  const [event, white, black] = ['Event', 'White', 'Black'].map((tag) => game.tags.get(tag) ?? '?');
  if (game.moves.length === 0) return [...(event === '?' ? [] : [event]), ...formatPosition(positions[0])];
  const players = white === '?' && black === '?' ? '' : ` (${white} - ${black})`;
  return [
    `Game ${number}${players}; scores for the side to move`,
    ...positions.map(({ fen, playedSan, score, wdl, bestSan }) => {
      const [, side, , , , move] = fen.split(' ');
      const played = `${move}${side === 'w' ? '.' : '...'} ${playedSan ?? '(end)'}`;
      return `${played.padEnd(14)} ${formatValue(score, wdl)}  best ${bestSan ?? '-'}`;
    }),
  ];
}

/** The position with its lines of moves. */
export function formatPosition({ fen, depth, nodes, lines, score }: AnalysedPosition): string[] {
  const head = `${fen}: depth ${depth}, ${countOf(nodes, 'node')}`;
  if (lines.length === 0) return [head, score.kind === 'mate' ? 'Checkmate' : 'The game is drawn'];
  return [
    `${head}; scores for ${fen.split(' ')[1] === 'w' ? 'White' : 'Black'}, the side to move`,
    ...lines.map(({ score, wdl, pvSan }) => `${formatValue(score, wdl)}  ${pvSan.join(' ')}`),
  ];
}

function formatValue(score: Score, { win, draw, loss }: Wdl): string {
  const isMated = score.kind === 'mate' && score.value === 0;
  const evaluation = isMated ? 'mated' : formatEvaluation(score, false);
  return `${evaluation.padStart(7)}  WDL ${`${win} ${draw} ${loss}`.padEnd(12)}`;
}
