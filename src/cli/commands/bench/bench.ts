/** `sardonyx bench`: speed and signature over fixed positions; `sardonyx benchmark`: lc0's benchmark, with its flags and lines. */
import { declareCommand, text, toggle, whole } from '../../declare-command.js';
import { readEngineFlags } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import {
  BENCH_DEFAULTS,
  type BenchLimits,
  formatBench,
  formatBenchmark,
  MOST_POSITIONS,
  runBench,
} from './bench-run.js';

function declareBench(command: string, describe: string, isLc0Style: boolean, defaults: BenchLimits) {
  const none = isLc0Style ? '-1 = no limit' : '0 or -1 = what suits the backend';
  return declareCommand({
    command,
    describe,
    // biome-ignore format: a row a flag
    flags: {
      nodes: whole({ min: -1, default: defaults.nodes }, `Nodes for each position; ${none}`),
      movetime: whole({ min: -1, default: defaults.moveTimeMs }, `Milliseconds for each position; ${isLc0Style ? none : '0 or -1 = no limit'}`),
      'num-positions': whole({ min: 1, max: MOST_POSITIONS, default: defaults.positions }, 'Number of positions to search'),
      fen: text('Search this position only'),
      json: toggle('Print the result as JSON'),
    },
    engineFlags: 'named',
    run: async (args, given) => {
      const limits = {
        nodes: args.nodes,
        moveTimeMs: args.movetime,
        positions: args['num-positions'],
        fen: args.fen ?? null,
      };
      if (isLc0Style && limits.nodes < 0 && limits.moveTimeMs < 0) {
        throw new Error('Give --nodes or --movetime, otherwise the first position would be searched for ever');
      }
      const options = await readEngineFlags(given);
      const settings = { isLc0Style, onWarning: printNote };
      const result = await runBench(options, limits, args.json ? printNote : printLine, settings);
      if (args.json) printJson(result);
      else for (const line of isLc0Style ? formatBenchmark(result) : formatBench(result)) printLine(line);
    },
  });
}

const SIGNATURE = 'Search fixed positions and print nodes, speed and a signature';
export const benchCommand = declareBench('bench', SIGNATURE, false, BENCH_DEFAULTS);

const BENCHMARK = 'lc0’s benchmark: search 34 positions for 10 s each';
const BENCHMARK_DEFAULTS = { nodes: -1, moveTimeMs: 10_000, positions: MOST_POSITIONS, fen: null };
export const benchmarkCommand = declareBench('benchmark', BENCHMARK, true, BENCHMARK_DEFAULTS);
