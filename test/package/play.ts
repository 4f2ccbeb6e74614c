/** A short game of an engine against itself in which every move is checked against the rules. */
import assert from 'node:assert/strict';
import { parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/index.js';
import { unwrap } from '#sardonyx/util/index.js';
import type { UciProcess } from './installed-engine.js';

export async function playGame(engine: UciProcess, plies: number, limit: string): Promise<string[]> {
  const position = unwrap(parseFen(START_FEN));
  const moves: string[] = [];
  await engine.ask('readyok', 'ucinewgame', 'isready');
  while (moves.length < plies) {
    const played = moves.length === 0 ? '' : ` moves ${moves.join(' ')}`;
    const answer = await engine.ask('bestmove', `position startpos${played}`, `go ${limit}`);
    assert.ok(
      answer.some((line) => /^info .*\bscore (cp|mate) -?\d+/.test(line)),
      answer.join('\n'),
    );
    const move = answer.at(-1)?.split(' ')[1] ?? '';
    if (move === '(none)') break;
    position.makeMove(unwrap(parseUciMove(position, move)));
    moves.push(move);
  }
  return moves;
}
