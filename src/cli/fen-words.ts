/** A FEN that was not quoted reaches us as up to six words, one of which may be `-`, which yargs takes for itself. */

const PIECES = /^[pnbrqkPNBRQK1-8]+(\/[pnbrqkPNBRQK1-8]+){7}$/;
/** The fields behind the pieces: side, castling, en passant, two counts. */
const FIELDS = [/^[wb]$/, /^(-|[KQkqA-Ha-h]+)$/, /^(-|[a-h][36])$/, /^\d+$/, /^\d+$/];

/** The same arguments with the words of each FEN as one. */
export function joinFenWords(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const words = [args[i]];
    if (PIECES.test(args[i].replace(/^--?\w+=/, ''))) {
      while (words.length <= FIELDS.length && i + 1 < args.length && FIELDS[words.length - 1].test(args[i + 1])) {
        words.push(args[++i]);
      }
    }
    joined.push(words.join(' '));
  }
  return joined;
}
