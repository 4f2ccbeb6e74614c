/** The known word that a mistyped one means, for sentences that refuse a name. */

/** Letters alone, because `moveTime`, `move-time` and `movetime` are easily mistaken for each other. */
const normalise = (word: string): string => word.toLowerCase().replace(/[^a-z0-9]/g, '');

/** The end of a sentence that refuses a name. @param otherwise said when no known name is near */
export function suggestName(word: string, known: readonly string[], otherwise: string): string {
  const near = findNearWord(word, known);
  return near === null ? `; ${otherwise}` : `; did you mean ${word.startsWith('-') ? '--' : ''}${near}?`;
}

/** The known word with the fewest typing errors, at most one in three letters; else the one that begins alike; else null. */
export function findNearWord(word: string, known: readonly string[]): string | null {
  // What is refused may be of any length.
  const typed = normalise(word.slice(0, 40));
  const most = Math.max(1, Math.floor(typed.length / 3));
  if (typed.length < 2) return null;
  const rows = known.map((name) => ({ name, errors: countTypingErrors(typed, normalise(name)) }));
  const [best] = rows.sort((a, b) => a.errors - b.errors);
  if (best !== undefined && best.errors <= most) return best.name;
  const isAlike = (name: string): boolean => name.startsWith(typed) || (name.length > 3 && typed.startsWith(name));
  return typed.length < 3 ? null : (known.find((name) => isAlike(normalise(name))) ?? null);
}

/** Letters added, left out, replaced or swapped with their neighbour (optimal string alignment). */
function countTypingErrors(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      row.push(Math.min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + Number(!isSame)));
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}
