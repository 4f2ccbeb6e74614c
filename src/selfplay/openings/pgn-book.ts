/** The opening line of a PGN game. Comments, variations, annotation glyphs, move numbers and results are skipped. */
import { type Move, parseFen, parseSan, START_FEN } from '../../chess/index.js';
import { parsePgnMoves, parsePgnTags } from '../../data/index.js';
import { failure, type Result, success } from '../../util/index.js';

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
