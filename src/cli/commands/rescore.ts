/**
 * `sardonyx rescore`: corrects recorded games with tablebases and by deblundering, as lc0's `rescorer` does, before `shards` makes
 * training data of them.
 */
import { countOf, unwrap } from '../../base/util/index.js';
import { MOST_MEN, NO_VALUE, rankRootMoves, type Tablebases } from '../../chess/syzygy/index.js';
import { openGameTables } from '../../games/play/index.js';
import {
  type RescoreSummary,
  type ResultTables,
  readPolicySubstitutions,
  rescoreGames,
} from '../../games/shards/index.js';
import { LC0_FORMATS } from '../../networks/encoding/index.js';
import { declareCommand, number, onOff, refused, text, whole, words } from '../declare-command.js';
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
    listWinningMoves(position) {
      if (!tables.mayProbe(position, menLimit) || (known(tables.probeWdl(position)) ?? 0) <= 0) return null;
      const ranking = rankRootMoves(tables, settings, position, true);
      return ranking?.usesDtz ? ranking.moves : null;
    },
  };
}

function describeRescored(summary: RescoreSummary): string {
  const { games, positions, damaged, corrected, errors, substituted, boosted, skipped } = summary;
  const parts = [`${countOf(games, 'game')}, ${countOf(positions, 'position')}`];
  if (damaged > 0) parts.push(`${countOf(damaged, 'damaged game')} skipped`);
  parts.push(`${countOf(corrected, 'result')} corrected`, `${countOf(errors, 'error')} found`);
  if (substituted > 0) parts.push(`${countOf(substituted, 'policy', 'policies')} replaced`);
  if (boosted > 0) parts.push(`${countOf(boosted, 'policy', 'policies')} boosted`);
  if (skipped > 0) parts.push(`finished earlier: ${countOf(skipped, 'input')}`);
  return parts.join('; ');
}

export const rescoreCommand = declareCommand({
  command: ['rescore [inputs..]', 'rescorer'],
  describe: 'Correct the results of recorded games with tablebases and by deblundering',
  words: {
    inputs: words('lc0 records (.gz, .tar, folders of .gz) or labelled games (.jsonl); folders of these'),
  },
  // biome-ignore format: a row a flag
  flags: {
    input: text('Folder of lc0 records, as another input'),
    out: text('Folder to write the games in', { alias: 'output' }),
    'syzygy-paths': text('Folders of Syzygy tablebases: the result of a position in the tables replaces the results before it', { default: '' }),
    'men-limit': whole({ min: 3, max: MOST_MEN, default: MOST_MEN, goesWith: ['syzygy-paths'] }, 'men of the largest table used'),
    'dtz-policy-boost': number({ min: 0, max: 100, default: 0, alias: 'dtz_policy_boost', goesWith: ['syzygy-paths'] }, 'added to the policy of moves on the shortest way to a tablebase win'),
    'dist-offset': number({ min: -0.999, max: 0, default: 0, alias: 'dist_offset' }, 'Added to the policy of every move, not below 0'),
    temperature: number({ min: 0.001, max: 100, default: 1 }, 'Temperature of the policy, after offset and boost'),
    deblunder: onOff('At an error and before it, replace the result by the best move’s value (lc0 records only)'),
    'deblunder-q-blunder-threshold': number({ min: 0, max: 2, default: 2, goesWith: ['deblunder'] }, 'a move is an error if its W − L is this much below the best move’s'),
    'deblunder-q-blunder-width': number({ min: 0, max: 2, default: 0, goesWith: ['deblunder'] }, 'width around the threshold over which result and value are mixed'),
    'nnue-plain-file': text('Append the positions to this file in Stockfish’s text format'),
    'nnue-best-score': onOff('the best move’s score, not the played one’s', true, { goesWith: ['nnue-plain-file'] }),
    'nnue-best-move': onOff('the best move, not the played one', false, { goesWith: ['nnue-plain-file'] }),
    'delete-files': onOff('Delete each input once its output is complete'),
    threads: whole({ min: 1, max: 20, alias: 't' }, 'No effect: inputs are read one after the other'),
    'new-input-format': whole({ min: -1, max: 256, default: -1 }, 'Input format of the records written, by lc0’s number; -1 = as they are'),
    'gaviotatb-paths': refused('Syzygy tablebases decide the results'),
    'policy-substitutions': text('Folder of lc0 records whose policies replace those of games that begin with the same moves'),
    json: onOff('Print the summary as JSON'),
  },
  epilogue:
    'Unlike lc0’s rescorer, this command keeps its inputs unless it is given --delete-files, and takes plies left from the search ' +
    'only where the network predicts them.',
  run: async (args) => {
    const inputs = [...args.inputs, ...(args.input === undefined ? [] : [args.input])];
    const { out, temperature, 'nnue-plain-file': plainPath } = args;
    const policy = { distanceBoost: args['dtz-policy-boost'], temperature, offset: args['dist-offset'] };
    const plain =
      plainPath === undefined
        ? null
        : { path: plainPath, takesBestScore: args['nnue-best-score'], takesBestMove: args['nnue-best-move'] };
    const missing = [...(inputs.length === 0 ? ['<inputs> or --input'] : []), ...(out === undefined ? ['--out'] : [])];
    if (out === undefined || missing.length > 0) throw new Error(`The command needs ${missing.join(', ')}`);
    const { 'policy-substitutions': otherRecords, 'new-input-format': formatNumber } = args;
    const inputFormat = LC0_FORMATS.find(({ id }) => id === formatNumber) ?? null;
    if (formatNumber !== -1 && inputFormat === null) {
      const numbers = LC0_FORMATS.map(({ id }) => id).sort((a, b) => a - b);
      throw new Error(`lc0 has no input format ${formatNumber}; there are ${numbers.join(', ')}`);
    }
    const changesPolicy = temperature !== 1 || policy.offset !== 0 || otherRecords !== undefined;
    if (args['syzygy-paths'] === '' && !args.deblunder && plain === null && !changesPolicy && inputFormat === null) {
      throw new Error(
        'Nothing to do: give --syzygy-paths, --deblunder, --temperature, --dist-offset, --policy-substitutions, --new-input-format or --nnue-plain-file',
      );
    }
    const notes = new NoteList();
    const tables = unwrap(openGameTables(args['syzygy-paths'], (text) => notes.add(text)));
    const bar = createProgressBar('{games} games, {positions} positions, {corrected} results corrected');
    bar.start(1, 0, { games: 0, positions: 0, corrected: 0 });
    try {
      const summary = unwrap(
        await rescoreGames(
          inputs,
          out,
          {
            tables: tables === null ? null : createResultTables(tables, args['men-limit']),
            deblunder: args.deblunder
              ? { threshold: args['deblunder-q-blunder-threshold'], width: args['deblunder-q-blunder-width'] }
              : null,
            policy,
            substitutions: otherRecords === undefined ? null : unwrap(await readPolicySubstitutions(otherRecords)),
            inputFormat,
            plain,
            deletesInputs: args['delete-files'],
          },
          { onProgress: (done) => bar.update({ ...done }), onWarning: (text) => notes.add(text) },
        ),
      );
      if (args.json) printJson(summary);
      else printLine(describeRescored(summary));
    } finally {
      bar.stop();
      notes.print();
      tables?.close();
    }
  },
});
