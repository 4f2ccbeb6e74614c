/** `sardonyx shards`: makes Arrow files for the training scripts from games. */
import { availableParallelism } from 'node:os';
import { countOf, unwrap } from '../../base/util/index.js';
import { createShards, parseSplitShares, type ShardsSummary } from '../../games/shards/index.js';
import { choice, declareCommand, limit, onOff, requiredText, text, texts, whole, words } from '../declare-command.js';
import { createProgressBar, printBesideBar, printJson, printLine, printNote } from '../output.js';

const BAR_FORMAT = '{bar} {percentage} % of input, {positions} positions, {rate} a second, {eta_formatted} left';

function describeShards(summary: ShardsSummary, seconds: number): string {
  const { positions, games, damaged, newPositions } = summary;
  const counts = `train ${positions.train}, validation ${positions.validation}, test ${positions.test}`;
  const skipped = damaged > 0 ? `, ${damaged} damaged and skipped` : '';
  const rate = Math.round(newPositions / seconds);
  return `${countOf(games, 'game')}${skipped}; positions: ${counts}; ${newPositions} of them new, ${rate} a second`;
}

export const shardsCommand = declareCommand({
  command: 'shards <inputs..>',
  describe: 'Make training shards (Arrow files) from labelled games, PGN or lc0 records',
  words: {
    inputs: words(
      'Labelled games (.jsonl) or PGN, plain, .gz, .zst, .bz2 or .zip; lc0 records (.gz, .tar, .tar.gz); folders of these',
    ),
  },
  // biome-ignore format: a row a flag
  flags: {
    out: requiredText('Folder to write train/, validation/ and test/ in'),
    encoding: text('Encoding of the input planes', { default: 'lc0-112' }),
    policy: text('Numbering of the moves', { default: 'lc0-1858' }),
    'history-fill': choice(['no', 'fen_only', 'always'], 'fen_only', 'What fills the planes of positions before the first one'),
    'min-elo': whole({ min: 0, default: 0 }, 'Of PGN files, take games in which both players have at least this rating'),
    'skip-plies': whole({ min: 0, default: 0 }, 'Plies at the start of each game to leave out'),
    split: text('Shares of the games for train/validation/test; 96/2/2 by default, 100/0/0 when files are held out'),
    'validation-files': texts('Hold out files whose names contain this text for validation; may be given several times'),
    'test-files': texts('Hold out files whose names contain this text for the test'),
    positions: limit('Stop after about this many positions', { default: null }),
    threads: whole({ min: 1, default: availableParallelism() }, 'Worker threads'),
    json: onOff('Print the summary as JSON'),
  },
  run: async (args) => {
    const holdsOutFiles = args['validation-files'].length + args['test-files'].length > 0;
    const shares = unwrap(parseSplitShares(args.split ?? (holdsOutFiles ? '100/0/0' : '96/2/2')));
    const startedAt = performance.now();
    const bar = createProgressBar(BAR_FORMAT, { etaBuffer: 100 });
    const secondsSoFar = (): number => (performance.now() - startedAt) / 1000;
    let warnings = 0;
    const result = await createShards(
      {
        inputs: args.inputs,
        folder: args.out,
        input: args.encoding,
        policy: args.policy,
        historyFill: args['history-fill'],
        shares,
        filter: { minElo: args['min-elo'], skipPlies: args['skip-plies'] },
        validationFiles: args['validation-files'],
        testFiles: args['test-files'],
        maxPositions: args.positions ?? Infinity,
        threads: args.threads,
      },
      {
        onProgress(bytesDone, bytesTotal, positions) {
          if (!bar.isActive) bar.start(bytesTotal, bytesDone, { positions, rate: 0 });
          bar.update(bytesDone, { positions, rate: Math.round(positions / secondsSoFar()) });
        },
        onWarning: (text) => {
          warnings++;
          printBesideBar(text);
        },
      },
    );
    bar.stop();
    const summary = unwrap(result);
    const { train, validation, test } = summary.positions;
    if (train + validation + test === 0) {
      // The one sentence about the one file says it.
      if (warnings !== 1 || args.inputs.length !== 1) printNote('No position could be taken from the inputs');
      process.exitCode = 1;
      return;
    }
    const seconds = secondsSoFar();
    if (args.json) printJson({ ...summary, seconds });
    else printLine(describeShards(summary, seconds));
    // A script that goes on with the shards must not take a part of the games for all of them.
    if (summary.refused > 0) process.exitCode = 1;
  },
});
