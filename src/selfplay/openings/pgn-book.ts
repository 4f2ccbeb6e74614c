/**
 * Opening lines out of PGN: a file is cut into games cheaply, and a game is parsed only when it is asked for. Comments,
 * variations, annotation glyphs, move numbers and results are skipped.
 */
import { type Move, parseFen, parseSan, START_FEN } from '../../chess/index.js';
import { parsePgnMoves, parsePgnTags } from '../../data/index.js';
import { failure, type Result, success } from '../../util/index.js';

/** The text of each game: its tags (if any) and its moves. */
export function splitPgnGames(text: string): string[] {
  const games: string[] = [];
  let start = -1;
  let hasMoves = false;
  let offset = 0;
  for (const line of text.split('\n')) {
    const isTag = line.startsWith('[');
    const isBlank = line.trim() === '';
    if (isTag && hasMoves) {
      games.push(text.slice(start, offset));
      start = -1;
      hasMoves = false;
    }
    if (!isBlank && !line.startsWith('%')) {
      if (start < 0) start = offset;
      if (!isTag) hasMoves = true;
    }
    offset += line.length + 1;
  }
  if (start >= 0 && hasMoves) games.push(text.slice(start));
  return games;
}

/** @param maxPlies moves after these are left out */
export function parsePgnOpening(game: string, maxPlies: number): Result<{ fen: string; moves: Move[] }> {
  const { tags, end } = parsePgnTags(game);
  const fen = tags.get('FEN') ?? START_FEN;
  const start = parseFen(fen);
  if (!start.ok) return start;
  const position = start.value;
  const moves: Move[] = [];
  for (const word of parsePgnMoves(game, end).moves) {
    if (moves.length >= maxPlies) break;
    const move = parseSan(position, word);
    if (!move.ok) return failure(`move ${moves.length + 1}: ${move.error}`);
    position.makeMove(move.value);
    moves.push(move.value);
  }
  return success({ fen, moves });
}
