/** `sardonyx elo`: what a match's result says about two players, for results that were added up outside of a match. */
import { unwrap } from '../../base/util/index.js';
import { formatElo, formatSprt } from '../../games/match/index.js';
import { computeSprt, distributeGames, distributePairs, estimateElo, parseSprt } from '../../games/statistics/index.js';
import { declareCommand, onOff, text, words } from '../declare-command.js';
import { printJson, printLine } from '../output.js';

export const eloCommand = declareCommand({
  command: 'elo <counts..>',
  describe: 'Elo with its error, and SPRT, of the result of a match',
  words: {
    counts: words('Wins, draws and losses; or the numbers of game pairs with 0, ½, 1, 1½ and 2 points'),
  },
  // biome-ignore format: a row a flag
  flags: {
    sprt: text('Sequential test: "elo0=0 elo1=5 alpha=0.05 beta=0.05 model=normalized"'),
    json: onOff('Print the result as JSON'),
  },
  run: ({ counts, sprt: wanted, json }) => {
    const numbers = counts.map(Number);
    if ((numbers.length !== 3 && numbers.length !== 5) || !numbers.every((n) => Number.isSafeInteger(n) && n >= 0)) {
      throw new Error(`elo takes wins, draws and losses, or five numbers of pairs, not "${counts.join(' ')}"`);
    }
    const [a, b, c, d, e] = numbers;
    const distribution =
      numbers.length === 3 ? distributeGames({ wins: a, draws: b, losses: c }) : distributePairs([a, b, c, d, e]);
    const elo = estimateElo(distribution);
    const settings = wanted === undefined ? null : unwrap(parseSprt(wanted));
    const sprt = settings === null ? null : { ...settings, ...computeSprt(distribution, settings) };
    if (json) return printJson({ elo, sprt });
    if (elo === null) printLine('no games');
    else printLine(`Elo: ${formatElo(elo.elo)} +/- ${formatElo(elo.eloError)}, LOS: ${(100 * elo.los).toFixed(2)} %`);
    if (sprt !== null) printLine(formatSprt(sprt));
  },
});
