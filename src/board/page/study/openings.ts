/**
 * Names of openings: lichess's list (github.com/lichess-org/chess-openings, CC0) in openings.tsv. The last named position on the
 * way to the one on the board counts, so that transpositions are recognised, and positions that were set up. The list is
 * fetched when it is first needed.
 */
import { computed, effect, signal } from '@preact/signals';
import { formatFen, parseFen, parseSan, START_FEN } from '../../../chess/index.js';
import { unwrap } from '../../../util/index.js';
import { getPath } from '../../game/move-tree.js';
import { study } from './study.js';

/** Position without clocks → name. Null until the list is read. */
const names = signal<ReadonlyMap<string, string> | null>(null);
/** Longest line of the list. */
const MOST_PLIES = 40;
const LINES_A_TURN = 200;

let isAsked = false;

effect(() => {
  if (isAsked || study.node.value.fen === START_FEN) return;
  isAsked = true;
  void readNames();
});

/** "B90 Sicilian Defense: Najdorf Variation"; '' = none. */
export const openingName = computed(() => {
  const known = names.value;
  if (known === null) return '';
  const path = getPath(study.node.value).slice(0, MOST_PLIES);
  return path.reduce((name, { fen }) => known.get(getKey(fen)) ?? name, '');
});

function getKey(fen: string): string {
  return fen.split(' ').slice(0, 4).join(' ');
}

/** Replays the list in small portions, so that the page never stands still. */
async function readNames(): Promise<void> {
  const response = await fetch(new URL('./openings.tsv', import.meta.url)).catch(() => null);
  if (!response?.ok) return;
  const known = new Map<string, string>();
  for (const [index, line] of (await response.text()).trim().split('\n').entries()) {
    if (index % LINES_A_TURN === 0) await new Promise((resolve) => setTimeout(resolve));
    const [eco, name, pgn] = line.split('\t');
    const position = unwrap(parseFen(START_FEN));
    const moves = pgn.split(' ').filter((word) => !word.endsWith('.'));
    for (const san of moves) position.makeMove(unwrap(parseSan(position, san)));
    known.set(getKey(formatFen(position)), `${eco} ${name}`);
  }
  names.value = known;
}
