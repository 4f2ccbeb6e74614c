/**
 * Names of openings: lichess's list (github.com/lichess-org/chess-openings, CC0) in openings.tsv. The last named position of a line
 * counts, so that transpositions are recognised, and positions that were set up. The list is fetched when it is first needed.
 */
import { signal } from '@preact/signals';
import { START_FEN } from '../../../chess/rules/index.js';
import { nameOpening } from '../../game/game-names.js';
import { getPath, type MoveNode } from '../../game/move-tree.js';

/** Position without clocks → "B90 Sicilian Defense: Najdorf Variation". Null until the list is read. */
const names = signal<ReadonlyMap<string, string> | null>(null);
let reading: Promise<ReadonlyMap<string, string>> | null = null;

/** Empty where the list cannot be read. */
export function readOpenings(): Promise<ReadonlyMap<string, string>> {
  reading ??= fetchNames().catch(() => new Map());
  return reading;
}

/** From lines of `PLACE\tNAME`, which the build makes of the list. */
async function fetchNames(): Promise<ReadonlyMap<string, string>> {
  const response = await fetch(new URL('./openings.tsv', import.meta.url));
  const lines = response.ok ? (await response.text()).trim().split('\n') : [];
  return new Map(lines.map((line) => line.split('\t') as [string, string]));
}

/** The opening of the line that leads to a node; '' = none, or nobody knows yet. */
export function nameLine(node: MoveNode): string {
  if (node.fen === START_FEN) return '';
  if (names.value !== null)
    return nameOpening(
      names.value,
      getPath(node).map(({ fen }) => fen),
    );
  void readOpenings().then((known) => {
    names.value = known;
  });
  return '';
}
