/**
 * The games of PGN files through the engine, one after the other. Each is written as soon as it is finished, so that what
 * is done survives an interruption and memory holds one game at a time beside the text of the files. A game that cannot
 * be read costs a sentence on stderr; only files without any that can are an error.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Analyst, GoRequest } from '../../../engine/index.js';
import { isGzip, unwrap } from '../../../util/index.js';
import { createProgressBar, printLine, printNote } from '../../output.js';
import { writeOutput } from '../../write-output.js';
import { type AnalysedPosition, analyseGame, createRemarks, formatScore } from './analysis.js';
import { formatGame, type PgnGame, parseGame, splitGames } from './pgn-game.js';

/** A game that can be read. */
interface GameText {
  readonly text: string;
  /** Of the game in its file, from 1. */
  readonly number: number;
  readonly asksForChess960: boolean;
  readonly positions: number;
}

/** @param paths plain or gzipped; throws the sentence when one is not a file, or no game can be read */
export function readGames(paths: readonly string[], asksForChess960: boolean): GameText[] {
  const games: GameText[] = [];
  const problems: string[] = [];
  for (const path of paths) {
    const place = paths.length > 1 ? `${path}: ` : '';
    for (const [index, text] of splitGames(readFile(path)).entries()) {
      const number = index + 1;
      const game = parseGame(text, number, asksForChess960);
      if (game.ok) games.push({ text, number, asksForChess960, positions: game.value.moves.length + 1 });
      const problem = game.ok ? game.value.problem : game.error;
      if (problem !== null) problems.push(`${place}${problem}`);
    }
  }
  const error = games.length > 0 ? null : (problems.pop() ?? `There is no game in ${paths.join(', ')}`);
  for (const problem of problems) printNote(problem);
  if (error !== null) throw new Error(error);
  return games;
}

function readFile(path: string): Buffer {
  try {
    const bytes = readFileSync(path);
    return isGzip(bytes) ? gunzipSync(bytes) : bytes;
  } catch {
    throw new Error(`"${path}" is neither a FEN nor a PGN file that can be read`);
  }
}

interface GameOutput {
  readonly json: boolean;
  /** The file for the annotated games, - for stdout. */
  readonly pgn: string | undefined;
}

export async function reportGames(
  analyst: Analyst,
  games: readonly GameText[],
  request: GoRequest,
  output: GameOutput,
): Promise<void> {
  const total = games.reduce((sum, { positions }) => sum + positions, 0);
  const bar = createProgressBar('{bar} {value}/{total} positions, {eta_formatted} left', { clearOnComplete: true });
  let done = 0;
  for (const [index, { text, number, asksForChess960 }] of games.entries()) {
    const game = unwrap(parseGame(text, number, asksForChess960));
    // Results go to the same terminal, so the bar makes room for them.
    if (process.stderr.isTTY) bar.start(total, done);
    let positions: AnalysedPosition[];
    try {
      positions = await analyseGame(analyst, game, request, () => bar.update(++done));
    } finally {
      bar.stop();
    }
    await writeGame(game, positions, index === 0, output);
  }
  if (output.json) printLine(']');
}

async function writeGame(
  game: PgnGame,
  positions: readonly AnalysedPosition[],
  isFirst: boolean,
  { json, pgn }: GameOutput,
): Promise<void> {
  const { headers } = game;
  const annotated = pgn === undefined ? '' : formatGame(game, createRemarks(positions));
  if (pgn !== undefined && pgn !== '-')
    await writeOutput(pgn, isFirst ? annotated : `\n${annotated}`, isFirst ? 'w' : 'a');
  // One array, an element a line.
  if (json) printLine(`${isFirst ? '[' : ','}${JSON.stringify({ headers, positions })}`);
  else if (pgn === '-') printLine(isFirst ? annotated.trimEnd() : `\n${annotated.trimEnd()}`);
  else if (pgn === undefined) for (const line of formatGameLines(positions)) printLine(line);
}

/** One line a position: move played, evaluation for the side to move, best move. */
function formatGameLines(positions: readonly AnalysedPosition[]): string[] {
  return positions.map(({ fen, playedSan, score, wdl, bestSan }) => {
    const [, side, , , , number] = fen.split(' ');
    const played = `${number}${side === 'w' ? '.' : '...'} ${playedSan ?? '(end)'}`;
    const evaluation = formatScore(score, false).padStart(7);
    return `${played.padEnd(14)} ${evaluation}  WDL ${wdl.join(' ').padEnd(12)}  best ${bestSan ?? '-'}`;
  });
}
