/** `sardonyx tune`: measures and saves the fastest threads and batches for a network on this machine. */
import { createNetwork, enginePorts } from '../../../app/index.js';
import { createTuningKey, isFileless, isTunable, saveTuning } from '../../../networks/index.js';
import { declareCommand, number, toggle } from '../../declare-command.js';
import { readEngineFlags } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import { countLeaves, runTune, type TuneRow } from './tune-run.js';

export const tuneCommand = declareCommand({
  command: 'tune',
  describe: 'Measure the fastest number of threads and batch size for a network on this machine, and save them',
  // biome-ignore format: a row a flag
  flags: {
    seconds: number({ min: 0, isMinExcluded: true, default: 20 }, 'Seconds of searching, without the time for loading'),
    save: toggle('Save the result in the user’s config folder', true),
    json: toggle('Print the result as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const options = await readEngineFlags(given);
    const fileless = isFileless(options);
    if (!fileless && !isTunable(options)) {
      throw new Error('tune chooses --threads, --minibatch-size and --batches-in-flight: leave them out');
    }
    const key = fileless ? null : await createTuningKey(options);
    const say = args.json ? printNote : printLine;
    say('threads minibatch batches-in-flight nodes/s');
    const { rows, best, defaultNodesPerSecond } = await runTune(
      options,
      { ...enginePorts, createNetwork },
      args.seconds,
      (row) => say(formatRow(row)),
    );
    let file: string | null = null;
    if (args.save && key !== null) {
      const saved = saveTuning({
        ...key,
        ...best,
        defaultNodesPerSecond,
        date: new Date().toISOString().slice(0, 10),
      });
      if (saved.ok) file = saved.value;
      else printNote(saved.error);
    }
    if (args.json) {
      printJson({ ...key, best, rows, file });
      return;
    }
    const flags = `--threads=${best.threads} --minibatch-size=${best.minibatch} --batches-in-flight=${best.batchesInFlight}`;
    const isOwn = best.threads === rows[0].threads && countLeaves(best) === countLeaves(rows[0]);
    // The default's speed is that of the same runs, or chance would decide the comparison.
    const slower =
      best.nodesPerSecond < defaultNodesPerSecond
        ? '; as fast within a few per cent, and closer to a sequential search'
        : '';
    const comparison = isOwn ? 'the default' : `default: ${defaultNodesPerSecond}${slower}`;
    printLine(`Best: ${flags}, ${best.nodesPerSecond} nodes/s (${comparison})`);
    if (file !== null) printLine(`Saved in ${file}; used when none of the three is set`);
  },
});

function formatRow({ threads, minibatch, batchesInFlight, nodesPerSecond }: TuneRow): string {
  const cells = [`${threads}`.padStart(7), `${minibatch}`.padStart(9), `${batchesInFlight}`.padStart(17)];
  return `${cells.join(' ')} ${nodesPerSecond}`;
}
