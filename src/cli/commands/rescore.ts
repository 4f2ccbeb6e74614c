/**
 * `sardonyx rescore`: corrects recorded games with tablebases and by deblundering, as lc0's `rescorer` does, before `shards` makes
 * training data of them.
 */
import { type RescoreSummary, type ResultTables, rescoreGames } from '../../data/index.js';
import { MOST_MEN, NO_VALUE, rankRootMoves, Tablebases } from '../../syzygy/index.js';
import { unwrap } from '../../util/index.js';
import { declareCommand, number, requiredText, text, toggle, whole, words } from '../declare-command.js';
import { createProgressBar, NoteList, printJson, printLine } from '../output.js';

/** The probes of rescoring over Syzygy tablebases; as in lc0, the fifty-move rule applies. */
function createResultTables(tables: Tablebases, menLimit: number): ResultTables {
  const settings = { paths: '', menLimit, fiftyMoveRule: true };
  const known = (value: number): number | null => (value === NO_VALUE ? null : value);
  return {
    probeResult(position) {
      const wdl = tables.mayProbe(position, menLimit) ? known(tables.probeWdl(position)) : null;
      return wdl === null ? null : Math.abs(wdl) === 1 ? 0 : Math.sign(wdl);
    },
    probeDistance(position) {
      const distance = tables.mayProbe(position, menLimit) ? known(tables.probeDtz(position)) : null;
      return distance === null ? null : Math.abs(distance);
    },
    listBestMoves(position) {
      const ranking = rankRootMoves(tables, settings, position, true);
      return ranking?.usesDtz ? ranking.moves : null;
    },
  };
}

function describe(summary: RescoreSummary): string {
  const { games, positions, damaged, corrected, errors, boosted, skipped } = summary;
  const parts = [`${games} games, ${positions} positions`];
  if (damaged > 0) parts.push(`${damaged} damaged games skipped`);
  parts.push(`${corrected} results corrected`, `${errors} errors found`);
  if (boosted > 0) parts.push(`${boosted} policies boosted`);
  if (skipped > 0) parts.push(`${skipped} inputs were finished earlier`);
  return parts.join('; ');
}

export const rescoreCommand = declareCommand({
  command: 'rescore <inputs..>',
  describe: 'Correct the results of recorded games with tablebases and by deblundering',
  words: {
    inputs: words('lc0 records (.gz, .tar, folders of .gz) or labelled games (.jsonl); folders of these'),
  },
  // biome-ignore format: a row a flag
  flags: {
    out: requiredText('Folder to write the games in'),
    'syzygy-paths': text('Folders of Syzygy tablebases: results are corrected back from the first position that they know', { default: '' }),
    'men-limit': whole({ min: 3, max: MOST_MEN, default: MOST_MEN }, 'Men of the largest table used'),
    'dtz-policy-boost': number({ min: 0, max: 100, default: 0 }, 'Added to the policy of moves on the shortest way to a tablebase result'),
    deblunder: toggle('At an error and before it, replace the result by the best move’s value (lc0 records only)'),
    'deblunder-q-blunder-threshold': number({ min: 0, max: 2, default: 2 }, 'A move is an error if its W − L is this much below the best move’s'),
    'deblunder-q-blunder-width': number({ min: 0, max: 2, default: 0 }, 'Around the threshold, result and value are mixed over this width'),
    json: toggle('Print the summary as JSON'),
  },
  run: async (args) => {
    const notes = new NoteList();
    const tables = args['syzygy-paths'] === '' ? null : openTables(args['syzygy-paths'], (text) => notes.add(text));
    if (tables === null && !args.deblunder) throw new Error('Nothing to do: give --syzygy-paths or --deblunder');
    const bar = createProgressBar('{games} games, {positions} positions, {corrected} results corrected');
    bar.start(1, 0, { games: 0, positions: 0, corrected: 0 });
    try {
      const summary = unwrap(
        await rescoreGames(
          args.inputs ?? [],
          args.out,
          {
            tables: tables === null ? null : createResultTables(tables, args['men-limit']),
            deblunder: args.deblunder
              ? { threshold: args['deblunder-q-blunder-threshold'], width: args['deblunder-q-blunder-width'] }
              : null,
            distanceBoost: args['dtz-policy-boost'],
          },
          { onProgress: (done) => bar.update({ ...done }), onWarning: (text) => notes.add(text) },
        ),
      );
      if (args.json) printJson(summary);
      else printLine(describe(summary));
    } finally {
      bar.stop();
      notes.print();
      tables?.close();
    }
  },
});

function openTables(paths: string, onWarning: (text: string) => void): Tablebases {
  const tables = new Tablebases(paths, onWarning);
  const [warning] = tables.warnings;
  if (tables.mostMen === 0) throw new Error(warning ?? `There are no tablebases in ${paths}`);
  return tables;
}
