/** The position that a command is given: a FEN and the moves behind it. */
import type { Position } from '../chess/index.js';
import { createGamePosition } from '../engine/index.js';
import { unwrap } from '../util/index.js';
import { printNote } from './output.js';

/** Prints what was dropped; throws one sentence. @param fen null = the start position. @param moves separated by blanks */
export function readPosition(fen: string | null, moves = ''): Position {
  const played = moves.split(/\s+/).filter((text) => text !== '');
  const { position, notes } = unwrap(createGamePosition(fen, played));
  for (const note of notes) printNote(note);
  return position;
}
