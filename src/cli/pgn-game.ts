/** PGN text ↔ games, by chess.js. Comments and variations of the input are not kept. */
import { Chess } from 'chess.js';

export interface PgnMove {
  readonly uci: string;
  readonly san: string;
}

export interface PgnGame {
  readonly headers: Readonly<Record<string, string>>;
  readonly startFen: string;
  readonly moves: readonly PgnMove[];
}

/** What is said about one move of a game. */
export interface MoveComment {
  /** Numeric annotation glyph (PGN standard 8.2.4), 0 = none. */
  readonly nag: number;
  readonly text: string;
}

/** A file's games; throws the sentence for the user, which names the game. */
export function parseGames(text: string): PgnGame[] {
  const texts = splitGames(text);
  if (texts.length === 0) throw new Error('There is no game in the PGN');
  return texts.map((gameText, index) => {
    const chess = new Chess();
    try {
      chess.loadPgn(gameText);
    } catch (error) {
      const [reason] = (error as Error).message.split('\n');
      throw new Error(`Game ${index + 1} of the PGN cannot be read: ${reason}`);
    }
    const history = chess.history({ verbose: true });
    return {
      headers: chess.getHeaders(),
      startFen: history[0]?.before ?? chess.fen(),
      moves: history.map(({ lan, san }) => ({ uci: lan, san })),
    };
  });
}

/** A game begins at a tag pair that follows anything but another tag pair. */
function splitGames(text: string): string[] {
  const games: string[] = [];
  let current: string[] = [];
  let hasMoves = false;
  const finish = (): void => {
    const game = current.join('\n').trim();
    if (game !== '') games.push(game);
    current = [];
    hasMoves = false;
  };
  for (const line of text.split(/\r?\n/)) {
    const isTag = /^\s*\[\w+\s+"/.test(line);
    if (isTag && hasMoves) finish();
    if (!isTag && line.trim() !== '') hasMoves = true;
    current.push(line);
  }
  finish();
  return games;
}

/** @param comments one for each move */
export function formatGame(game: PgnGame, comments: readonly MoveComment[]): string {
  const headers = Object.entries(game.headers).map(([name, value]) => `[${name} "${value.replace(/["\\]/g, '\\$&')}"]`);
  const [, side = 'w', , , , numberText = '1'] = game.startFen.split(' ');
  const firstPly = 2 * (Number(numberText) - 1) + (side === 'b' ? 1 : 0);
  const words = game.moves.flatMap(({ san }, index) => {
    const ply = firstPly + index;
    const { nag, text } = comments[index] ?? { nag: 0, text: '' };
    // After a comment the number of Black's move is repeated, as the standard wants.
    const number = ply % 2 === 0 ? [`${ply / 2 + 1}.`] : index === 0 || text !== '' ? [`${(ply + 1) / 2}...`] : [];
    return [...number, san, ...(nag === 0 ? [] : [`$${nag}`]), ...(text === '' ? [] : [`{${text}}`])];
  });
  return `${headers.join('\n')}\n\n${wrapWords([...words, game.headers.Result ?? '*'])}\n`;
}

function wrapWords(words: readonly string[]): string {
  const lines: string[] = [];
  let line = '';
  for (const word of words.flatMap((text) => text.split(' '))) {
    if (line !== '' && line.length + 1 + word.length > 79) {
      lines.push(line);
      line = '';
    }
    line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].join('\n');
}

/** Moves in UCI spelling → SAN, as far as chess.js can follow (it knows no Chess960). */
export function formatSanLine(fen: string, moves: readonly string[]): string[] {
  const sans: string[] = [];
  try {
    const chess = new Chess(fen);
    for (const move of moves) {
      const [, from, to, promotion] = /^(..)(..)(.?)$/.exec(move) ?? [];
      sans.push(chess.move(promotion ? { from, to, promotion } : { from, to }).san);
    }
  } catch {
    // What is converted so far is right.
  }
  return sans;
}
