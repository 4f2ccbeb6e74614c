/** Finished games as PGN, with the comments that GUIs read out of cutechess-cli's games: `{+0.31/12 0.52s}`. */
import { formatSan, parseFen, START_FEN } from '../../chess/index.js';
import { unwrap } from '../../util/index.js';
import { decodeMate } from '../client/info-line.js';
import type { Opening } from '../openings/opening.js';
import type { PlayedMove } from './game.js';
import { describeEnd, formatTermination, type GameEnd } from './game-end.js';

export interface PgnGame {
  readonly event: string;
  /** Year-month-day with dots. */
  readonly date: string;
  readonly round: string;
  readonly white: string;
  readonly black: string;
  readonly timeControls: readonly [white: string, black: string];
  readonly chess960: boolean;
  readonly opening: Opening;
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
}

const LINE_WIDTH = 80;

/** One game, ending in an empty line. */
export function formatPgn(game: PgnGame): string {
  const { opening, played, end } = game;
  const isStandardStart = opening.fen === START_FEN;
  const tags: [string, string][] = [
    ['Event', game.event],
    ['Site', '?'],
    ['Date', game.date],
    ['Round', game.round],
    ['White', game.white],
    ['Black', game.black],
    ['Result', end.result],
  ];
  if (game.chess960) tags.push(['Variant', 'Chess960']);
  if (!isStandardStart) tags.push(['SetUp', '1'], ['FEN', opening.fen]);
  tags.push(
    ...listTimeControls(game),
    ['PlyCount', String(opening.moves.length + played.length)],
    ['Termination', formatTermination(end.reason)],
  );
  const header = tags.map(([name, value]) => `[${name} "${value.replace(/[\\"]/g, '\\$&')}"]\n`).join('');
  return `${header}\n${wrap([...formatMoves(game), end.result])}\n\n`;
}

/** One tag, or two as cutechess writes them when the players have different limits. */
function listTimeControls({ timeControls: [white, black] }: PgnGame): [string, string][] {
  if (white === black) return [['TimeControl', white]];
  return [
    ['WhiteTimeControl', white],
    ['BlackTimeControl', black],
  ];
}

/** The last comment says how the game ended, after a comma: two comments in a row break some readers. */
function formatMoves({ opening, played, end }: PgnGame): string[] {
  const position = unwrap(parseFen(opening.fen));
  const words: string[] = [];
  const moves = [...opening.moves, ...played.map(({ move }) => move)];
  for (const [i, move] of moves.entries()) {
    const number = (position.gamePly >> 1) + 1;
    if (position.sideToMove === 0) words.push(`${number}.`);
    else if (i === 0) words.push(`${number}...`);
    const thought = played[i - opening.moves.length];
    const remarks = [thought === undefined ? 'book' : formatThought(thought)];
    if (i === moves.length - 1) remarks.push(describeEnd(end));
    words.push(formatSan(position, move), `{${remarks.join(', ')}}`);
    position.makeMove(move);
  }
  return moves.length > 0 ? words : [`{${describeEnd(end)}}`];
}

/** Scores from the mover's view, as cutechess writes them. */
function formatThought({ score, depth, timeMs }: PlayedMove): string {
  const time = `${(timeMs / 1000).toFixed(timeMs < 10_000 ? 3 : 1)}s`;
  return score === null ? time : `${formatScore(score)}/${depth} ${time}`;
}

function formatScore(score: number): string {
  const mate = decodeMate(score);
  const sign = score > 0 ? '+' : score < 0 ? '-' : '';
  return mate === null ? `${sign}${(Math.abs(score) / 100).toFixed(2)}` : `${sign}M${Math.abs(mate)}`;
}

function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words) {
    if (line !== '' && line.length + 1 + word.length > LINE_WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line].join('\n');
}
