/** Scores and shares as the page writes them. */
import type { Line, MatchGame, ScoreText } from '../protocol/replies.js';

/** Where scores end: a mate has as many pawns. */
const MOST_PAWNS = 20;

/** Pawns with a sign, −20 to +20, from White's view. @param isBlack the player to move, whose view the score has */
export function formatScore({ kind, value }: ScoreText, isBlack: boolean): string {
  const isMate = kind === 'mate';
  const pawns = isMate ? MOST_PAWNS : Math.min(MOST_PAWNS, Math.abs(value) / 100);
  // Who is to move and has a mate in 0 moves is mated.
  const isLoss = value < 0 || (isMate && value === 0);
  return `${isLoss !== isBlack && pawns > 0 ? '−' : '+'}${pawns.toFixed(pawns >= 10 ? 1 : 2)}`;
}

/** Expected points from which on somebody wins. */
const SURE = 0.99;

/** Who wins, in words; '' while that is open. @param isProven whether the search has proven the result */
export function describeWinner(line: Pick<Line, 'wdl'>, isBlack: boolean, isProven: boolean): string {
  const points = getWhitePoints(line, isBlack);
  const winner = points >= SURE ? 'White wins' : points <= 1 - SURE ? 'Black wins' : isProven ? 'Draw' : '';
  return isProven ? `${winner}, proven` : winner;
}

/** "W 36 D 37 L 27": percent for White. */
export function formatWdl({ win, draw, loss }: Line['wdl']): string {
  const [w, d, l] = [win, draw, loss].map((share) => Math.round(share / 10));
  return `W ${w} D ${d} L ${l}`;
}

export function isBlacksTurn(fen: string): boolean {
  return fen.split(' ')[1] === 'b';
}

/** Of the player to move, 0 to 1. @param wdl per mille */
export function getExpectedPoints({ win, draw }: Line['wdl']): number {
  return (win + draw / 2) / 1000;
}

/** White's expected points, 0 to 1. */
export function getWhitePoints({ wdl }: Pick<Line, 'wdl'>, isBlack: boolean): number {
  return isBlack ? 1 - getExpectedPoints(wdl) : getExpectedPoints(wdl);
}

/** Per mille for White: won, drawn, lost. */
export function getWhiteWdl({ wdl: { win, draw, loss } }: Pick<Line, 'wdl'>, isBlack: boolean): Line['wdl'] {
  return isBlack ? { win: loss, draw, loss: win } : { win, draw, loss };
}

/** Per mille for White. @param q win minus loss for the player who makes the move. @param draw its probability, 0 to 1 */
export function computeWhiteWdl(q: number, draw: number, isBlack: boolean): Line['wdl'] {
  const [win, loss] = [500 * (1 + q - draw), 500 * (1 - q - draw)];
  return getWhiteWdl({ wdl: { win, draw: 1000 * draw, loss } }, isBlack);
}

/** 12345678 → "12.3 M". */
export function formatCount(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)} G`;
  if (count >= 1e6) return `${(count / 1e6).toFixed(count >= 1e8 ? 0 : 1)} M`;
  if (count >= 1e4) return `${(count / 1e3).toFixed(count >= 1e5 ? 0 : 1)} k`;
  return String(count);
}

export function formatPercent(share: number): string {
  const percent = 100 * share;
  return `${percent.toFixed(percent >= 9.95 || percent === 0 ? 0 : 1)} %`;
}

/** Games from which on the likelihood of superiority says something. */
const FEWEST_GAMES = 20;

/** @param los likelihood of superiority, 0 to 1. @returns '' while there are too few games */
export function formatSuperiority(los: number, games: number): string {
  if (games < FEWEST_GAMES) return '';
  const percent = (100 * los).toFixed(1);
  return `${percent === '100.0' ? '> 99.9' : percent === '0.0' ? '< 0.1' : percent} %`;
}

/** "+0.123" with a real minus sign. */
export function formatSigned(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(text) !== 0 ? '−' : '+'}${text}`;
}

/** What White and Black got: "½" each for "1/2-1/2"; '' each for a game without a result. */
export function splitPoints(result = ''): readonly [white: string, black: string] {
  const [white, black] = result.replaceAll('1/2', '½').split('-');
  return black === undefined ? ['', ''] : [white, black];
}

/** 75 s → "1:15"; below twenty seconds with tenths. */
export function formatClock(remainingMs: number): string {
  const ms = Math.max(0, remainingMs);
  if (ms < 20_000) return `0:${(Math.floor(ms / 100) / 10).toFixed(1).padStart(4, '0')}`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const tail = `${String(minutes).padStart(hours > 0 ? 2 : 1, '0')}:${String(rest).padStart(2, '0')}`;
  return hours > 0 ? `${hours}:${tail}` : tail;
}

/** What programs write after each move of a game: "book", "0.00", or "+0.31/12 0.5s", score, depth and time; maybe with an end. */
const ENGINE_NOTE = /^(book|[+-]?(?:\d+\.\d+|M\d+)|[\d.]+s)(?:\/\d+)?(?: [\d.]+s)?(?:, (.*))?$/;

/**
 * A comment as a short note beside its move, and what is left of it.
 * @param isBlack who moved: programs write their scores from the mover's view, the page from White's
 */
export function splitEngineNote(comment: string, isBlack = false): { readonly note: string; readonly rest: string } {
  const [, said, rest = ''] = ENGINE_NOTE.exec(comment) ?? [];
  if (said === undefined) return { note: '', rest: comment };
  const [, sign = '', mate, pawns] = /^([+-]?)(?:(M)\d+|([\d.]+))$/.exec(said) ?? [];
  if (mate === undefined && pawns === undefined) return { note: said, rest };
  const value = (sign === '-' ? -1 : 1) * (mate === undefined ? 100 * Number(pawns) : 1);
  return { note: formatScore({ kind: mate === undefined ? 'cp' : 'mate', value }, isBlack), rest };
}

/** By their letters. */
export const PIECE_NAMES: Readonly<Record<string, string>> = {
  k: 'king',
  q: 'queen',
  r: 'rook',
  b: 'bishop',
  n: 'knight',
  p: 'pawn',
};

/** Squares of a FEN from a8 to h1. `letter` is the piece's, ' ' for none; `file` and `rank` count from 0, `rank` from the top. */
export function listSquares(fen: string): readonly { letter: string; file: number; rank: number }[] {
  const rows = fen
    .split(' ')[0]
    .replace(/\d/g, (count) => ' '.repeat(Number(count)))
    .split('/');
  return rows.flatMap((row, rank) => [...row].map((letter, file) => ({ letter, file, rank })));
}

/** "White to move. White: king e1, … Black: king e8, …" @param fen a valid one */
export function describeBoard(fen: string): string {
  const squares = listSquares(fen);
  const describeSide = (isWhite: boolean): string =>
    Object.entries(PIECE_NAMES)
      .flatMap(([letter, name]) => {
        const own = squares.filter((square) => square.letter === (isWhite ? letter.toUpperCase() : letter));
        const names = own.map(({ file, rank }) => `${'abcdefgh'[file]}${8 - rank}`);
        return own.length === 0 ? [] : [`${name}${own.length > 1 ? 's' : ''} ${names.join(' ')}`];
      })
      .join(', ');
  const mover = isBlacksTurn(fen) ? 'Black' : 'White';
  return `${mover} to move. White: ${describeSide(true)}. Black: ${describeSide(false)}.`;
}

const PIECE_POINTS: Readonly<Record<string, number>> = { q: 9, r: 5, b: 3, n: 3, p: 1 };
const FIGURES: Readonly<Record<string, string>> = { q: '♛', r: '♜', b: '♝', n: '♞', p: '♟' };

/** What a player has more than the opponent: the pieces as figures, and all material together in pawns. @param fen a valid one */
export function countMaterial(fen: string, side: 'white' | 'black'): { readonly ahead: string; readonly lead: number } {
  const [placement] = fen.split(' ');
  const count = (letter: string): number => placement.split(letter).length - 1;
  let ahead = '';
  let lead = 0;
  for (const [letter, points] of Object.entries(PIECE_POINTS)) {
    const whites = count(letter.toUpperCase()) - count(letter);
    const more = side === 'white' ? whites : -whites;
    lead += points * more;
    ahead += FIGURES[letter].repeat(Math.max(0, more));
  }
  return { ahead, lead };
}

export interface MatchScore {
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

function getPoints({ white, result }: MatchGame, player: string): number {
  if (result === '1/2-1/2') return 0.5;
  return (result === '1-0') === (white === player) ? 1 : 0;
}

/** @param isWhite only games in which the player had this colour; all when left out */
export function countScore(games: readonly MatchGame[], player: string, isWhite?: boolean): MatchScore {
  const points = games
    .filter(({ white }) => isWhite === undefined || (white === player) === isWhite)
    .map((game) => getPoints(game, player));
  const count = (wanted: number): number => points.filter((own) => own === wanted).length;
  return { wins: count(1), draws: count(0.5), losses: count(0) };
}

/** Share of the points in percent after each game. */
export function listScores(games: readonly MatchGame[], player: string): number[] {
  let sum = 0;
  return games.map((game, index) => {
    sum += getPoints(game, player);
    return (100 * sum) / (index + 1);
  });
}

/** `+206 ± 78`, with half the width of the 95 % interval. */
export function formatRating(elo: number, error: number | null): string {
  const value = `${elo >= 0 ? '+' : '−'}${Math.abs(elo).toFixed(0)}`;
  return error === null ? value : `${value} ± ${error.toFixed(0)}`;
}
