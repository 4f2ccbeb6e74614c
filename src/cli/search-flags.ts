/** The flags of commands that evaluate or search positions: which one, and how long. Every such command has the same. */
import { existsSync } from 'node:fs';
import { getProgramCommand } from '#platform/machine.js';
import { unwrap } from '../base/util/index.js';
import type { Position } from '../chess/rules/index.js';
import { createGamePosition, type GoRequest } from '../engine/core/index.js';
import { text, type ValuesOf, words } from './declare-command.js';
import { printNote } from './output.js';

export const POSITION_WORDS = {
  position: words('A FEN, or the word startpos; the start position when left out'),
};

// biome-ignore format: a row a flag
export const POSITION_FLAGS = {
  fen: text('The position, as a flag'),
  moves: words('Moves played from the position, in UCI notation'),
};

export interface GivenPosition {
  /** Null for the start position. */
  readonly fen: string | null;
  readonly moves: readonly string[];
  /** After the moves. */
  readonly position: Position;
  /** By words or flags; else it is the start position. */
  readonly isGiven: boolean;
}

type PositionArguments = ValuesOf<typeof POSITION_WORDS & typeof POSITION_FLAGS>;

/** Prints what was dropped from the FEN; throws one sentence. */
export function readPosition({ position: given, fen: flag, moves: texts }: PositionArguments): GivenPosition {
  const text = given.join(' ').trim();
  if (text !== '' && flag !== undefined) throw new Error('The position is given twice, as words and with --fen');
  if (text !== '' && existsSync(text)) {
    const reader = `"${getProgramCommand()} analyse ${text}"`;
    throw new Error(`${text} is a file, and this command takes one position (FEN); ${reader} reads files`);
  }
  const fen = flag ?? (text === '' ? null : text);
  const moves = texts.flatMap((words) => words.split(/\s+/)).filter((move) => move !== '');
  const { position, notes } = unwrap(createGamePosition(fen, moves));
  for (const note of notes) printNote(note);
  return { fen, moves, position, isGiven: fen !== null || moves.length > 0 };
}

/** For searches that nobody stops: a limit is needed. */
export function refuseEndless(): never {
  throw new Error('Give --nodes or --movetime, otherwise the first position would be searched for ever');
}

interface LimitArguments {
  readonly nodes: number | null | undefined;
  readonly movetime: number | null | undefined;
}

/** Both limits together: the search ends at whichever comes first. @param unasked what holds when neither flag is given */
export function readLimits({ nodes, movetime }: LimitArguments, unasked: GoRequest): GoRequest {
  if (nodes === undefined && movetime === undefined) return unasked;
  return { ...(nodes == null ? {} : { nodes }), ...(movetime == null ? {} : { moveTimeMs: movetime }) };
}
