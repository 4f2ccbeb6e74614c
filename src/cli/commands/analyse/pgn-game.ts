/**
 * PGN text ↔ games. The tree of chessops holds what the author wrote: headers, comments, glyphs, variations. Moves of the
 * main line are read by our own rules, which know Chess960; variations stay as they were written. A game with a wrong
 * move is read up to it, and the tree keeps the rest.
 */
import {
  type ChildNode,
  defaultGame,
  type Game,
  makePgn,
  type PgnNodeData,
  parsePgn,
  parseVariant,
} from 'chessops/pgn';
import {
  formatSan,
  formatUciMove,
  hasChess960Castling,
  type Move,
  type Position,
  parseFen,
  parseSan,
  START_FEN,
} from '../../../chess/index.js';
import { parsePgnMoves, parsePgnTags, splitPgnText } from '../../../data/index.js';
import { failure, type Result, success } from '../../../util/index.js';
import { annotate, type Remark } from './pgn-remark.js';

export interface PgnMove {
  readonly uci: string;
  readonly san: string;
}

export interface PgnGame {
  /** The seven that PGN demands come first and are never missing; the others follow in the order of the file. */
  readonly headers: Readonly<Record<string, string>>;
  readonly startFen: string;
  /** UCI moves spell castling king takes rook. */
  readonly isChess960: boolean;
  /** The main line, as far as it is legal. */
  readonly moves: readonly PgnMove[];
  /** The sentence that says where the legal moves end and why; null when all are legal. */
  readonly problem: string | null;
  readonly tree: Game<PgnNodeData>;
}

/** A file → the texts of its games. Each is UTF-8 or, where it cannot be that, the standard's ISO 8859-1. */
export function splitGames(file: Buffer): string[] {
  return splitPgnText(file.toString('latin1')).map((text) => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'));
    } catch {
      return text;
    }
  });
}

/**
 * The error is the sentence for the user. A game of another variant, with a wrong FEN or a wrong first move is one.
 * @param number of the game in its file, for sentences
 * @param asksForChess960 also where neither tag nor FEN says it
 */
export function parseGame(text: string, number: number, asksForChess960 = false): Result<PgnGame> {
  const tidyText = tidyUp(text);
  const [tree = defaultGame<PgnNodeData>()] = parsePgn(tidyText);
  const headers = Object.fromEntries(tree.headers);
  const players = `${headers.White} - ${headers.Black}`;
  const name = players === '? - ?' ? `Game ${number}` : `Game ${number} (${players})`;
  const start = readStart(headers);
  if (!start.ok) return failure(`${name} is left out: ${start.error}`);
  const position = start.value;
  const isChess960 = asksForChess960 || /960|fischer/i.test(headers.Variant ?? '') || hasChess960Castling(position);
  const moves: PgnMove[] = [];
  let problem: string | null = null;
  const { words, isGame } = readWords(tidyText);
  if (!isGame) return failure(`${name} is left out: it has no headers, no moves and no result`);
  let node = tree.moves.children[0];
  for (const word of words) {
    const move = readMove(position, word, node);
    if (!move.ok) {
      const place = `move ${(position.gamePly >> 1) + 1}${position.sideToMove === 0 ? '.' : '...'}${word}`;
      if (moves.length === 0) return failure(`${name} is left out, for ${place} cannot be read: ${move.error}`);
      problem = `${name} is analysed only up to ${place}, which cannot be read: ${move.error}`;
      break;
    }
    const san = formatSan(position, move.value);
    moves.push({ uci: formatUciMove(move.value, isChess960), san });
    node.data.san = san;
    node = node.children[0];
    position.makeMove(move.value);
  }
  return success({ headers, startFen: headers.FEN || START_FEN, isChess960, moves, problem, tree });
}

/** @param remarks one for each move that was read */
export function formatGame({ tree }: PgnGame, remarks: readonly Remark[]): string {
  return makePgn({ ...tree, moves: annotate(tree.moves, remarks) });
}

/** Comments to the end of the line get braces, and a backslash alone in a header is doubled: chessops drops both. */
function tidyUp(text: string): string {
  return text.replace(/\r/g, '').replace(/^\[.*$|\{[^}]*\}|;(.*)/gm, (whole, comment: string | undefined) => {
    if (comment !== undefined) return `{${comment.replaceAll('}', '')} }`;
    return whole.startsWith('[') ? whole.replace(/\\(["\\])?/g, (pair, escaped) => (escaped ? pair : '\\\\')) : whole;
  });
}

function readStart({ Variant: variant, FEN: fen }: Record<string, string | undefined>): Result<Position> {
  if (parseVariant(variant) !== 'chess') return failure(`its variant is ${variant}`);
  return parseFen(fen || START_FEN);
}

/**
 * The words of the main line that may be moves. chessops finds moves inside of words: it reads Sf3, a knight's move in
 * German, as f3. So words are read beside its tree, and must mean the same.
 */
function readWords(text: string): { readonly words: readonly string[]; readonly isGame: boolean } {
  const { tags, end } = parsePgnTags(text);
  const { moves, result } = parsePgnMoves(text, end);
  const words = moves.filter((word) => /[a-h][1-8]|[Oo0][-–—]|--|Z0|0000/.test(word));
  return { words, isGame: tags.size > 0 || words.length > 0 || result !== '' };
}

function readMove(position: Position, word: string, node: ChildNode<PgnNodeData> | undefined): Result<Move> {
  const san = word.replace(/[o0]/g, 'O').replace(/[–—]/g, '-');
  if (node === undefined || !san.includes(node.data.san)) return failure(`it is not a move such as Nf3 or exd8=Q`);
  return parseSan(position, san);
}
