/**
 * A file of games or positions as the list from which the user chooses: PGN of any kind, FENs and EPD, one a line. It streams and
 * runs in a Worker, so that the page stays responsive; games are kept as text, and the one that is chosen becomes a tree.
 */
import { nameGame, type PgnGame, type PgnText, readGameTexts, readPgnGame, spellMoves } from '../../pgn/index.js';
import { cutText, failure, type Result, success } from '../../util/index.js';

export interface ImportedGame {
  /** `Tal – Fischer  1-0  Bled 1961`, or its first moves. */
  readonly title: string;
  /** PGN of this game alone. */
  readonly text: string;
  /** What was dropped from the line of a position, which `text` does not show any more; absent = nothing. */
  readonly notes?: readonly string[];
}

/** The file's games in order; the error says what cannot be read, in one sentence. */
export async function* importGames(pieces: AsyncIterable<string>): AsyncGenerator<Result<ImportedGame>, void, void> {
  for await (const source of readGameTexts(pieces)) {
    yield source.ok ? importGame(source.value) : source;
    if (source.ok && source.value.openEnd !== undefined)
      yield failure(`${nameGame(source.value)}: ${source.value.openEnd}`);
  }
}

function importGame(source: PgnText): Result<ImportedGame> {
  const game = readPgnGame(source);
  if (!game.ok) return failure(`${nameGame(source)} cannot be read: ${game.error}`);
  const { text, notes = [] } = source;
  return success({ title: describeGame(game.value), text, ...(notes.length > 0 && { notes }) });
}

const LISTED_PLIES = 8;

function describeGame(game: PgnGame): string {
  const { players, about } = describeTags(game.tags);
  const line = spellMoves({ ...game, moves: game.moves.slice(0, LISTED_PLIES) }).map(({ san }) => san);
  if (players === '' && line.length === 0 && getTag(game.tags, 'FEN') !== '') {
    return cutText([getTag(game.tags, 'Event'), game.startFen].filter((text) => text !== '').join('  '), 200);
  }
  return cutText([players || line.join(' '), about].filter((text) => text !== '').join('  ') || 'No moves', 200);
}

/** The value of a PGN tag; '' where it says nothing ("?", "????.??.??", "*"). */
function getTag(tags: ReadonlyMap<string, string>, name: string): string {
  return (tags.get(name) ?? '').replace(/^[?.*]*$/, '');
}

/** `players`: "Anna – Ben", '' without names. `about`: "1-0 Event 2026.01.01", as far as it is known. */
export function describeTags(tags: ReadonlyMap<string, string>): { readonly players: string; readonly about: string } {
  const names = [getTag(tags, 'White'), getTag(tags, 'Black')];
  const isNamed = names.some((name) => name !== '');
  const about = ['Result', 'Event', 'Date'].map((name) => getTag(tags, name));
  return {
    players: isNamed ? names.map((name) => name || '?').join(' – ') : '',
    about: about.filter((text) => text !== '').join(' '),
  };
}
