/**
 * Checks the moves of external engines by two implementations of the rules that share no code: ours and chess.js. A wrong
 * verdict would cost an engine the game, so it counts only when both agree. If they differ, one of them has a defect, and the
 * match ends with an error instead of a wrong result.
 *
 * chess.js knows neither Chess960 nor every position that we accept (it refuses some FENs); there our rules judge alone.
 */

import { Chess } from 'chess.js';
import type { Result } from '../../base/util/index.js';
import { formatFen, formatUciMove, type Move, type Position, parseUciMove } from '../../chess/rules/index.js';

/**
 * @param text a move in UCI notation
 * @returns the move, or a sentence that says why it is illegal; throws when the two implementations differ
 */
export function judgeMove(position: Position, text: string, chess960: boolean): Result<Move> {
  const move = parseUciMove(position, text);
  if (chess960) return move;
  const fen = formatFen(position);
  const isLegal = askSecondOpinion(fen, move.ok ? formatUciMove(move.value, false) : text);
  if (isLegal !== null && isLegal !== move.ok) {
    const [legal, illegal] = move.ok ? ['Sardonyx', 'chess.js'] : ['chess.js', 'Sardonyx'];
    throw new Error(`${text} in ${fen} is legal for ${legal} and illegal for ${illegal}: please report this defect`);
  }
  return move;
}

/** Whether chess.js calls the move legal; null when it does not accept the position. */
function askSecondOpinion(fen: string, text: string): boolean | null {
  let chess: Chess;
  try {
    chess = new Chess(fen);
  } catch {
    return null;
  }
  const promotion = text.slice(4);
  try {
    const move = chess.move({ from: text.slice(0, 2), to: text.slice(2, 4), promotion });
    return (move.promotion ?? '') === promotion;
  } catch {
    return false;
  }
}
