/** `sardonyx bench`: speed and signature over fixed positions; `sardonyx benchmark`: lc0's benchmark, with its flags and lines. */

import { formatFen } from '../../chess/rules/index.js';
import { declareCommand, limit, onOff, whole, words } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, readPosition, refuseEndless } from '../search-flags.js';
import { BENCH_DEFAULTS, formatBench, formatBenchmark, MOST_POSITIONS, runBench } from './bench.js';

function declareBench(
  command: string,
  describe: string,
  isLc0Style: boolean,
  defaults: { readonly moveTimeMs: number | null; readonly positions: number },
) {
  return declareCommand({
    command: `${command} [position..]`,
    describe,
    words: { position: words('A FEN, or the word startpos: search it alone. One number: the same as --nodes') },
    // biome-ignore format: a row a flag
    flags: {
      nodes: limit('Nodes for each position', { default: null, ...(isLc0Style ? {} : { defaultDescription: 'what suits the backend' }) }),
      movetime: limit('Milliseconds for each position', { default: defaults.moveTimeMs }),
      'num-positions': whole({ min: 1, max: MOST_POSITIONS, default: defaults.positions }, 'Number of positions to search'),
      ...POSITION_FLAGS,
      json: onOff('Print the result as JSON'),
    },
    engineFlags: 'named',
    run: async (args, given) => {
      const [first = '', ...others] = args.position;
      const count = others.length === 0 && /^\d+$/.test(first) ? Number(first) : null;
      const { isGiven, position } = readPosition(count === null ? args : { ...args, position: [] });
      const limits = {
        nodes: args.nodes ?? count ?? 0,
        moveTimeMs: args.movetime ?? 0,
        positions: args['num-positions'],
        fen: isGiven ? formatFen(position) : null,
      };
      if (isLc0Style && limits.nodes + limits.moveTimeMs === 0) refuseEndless();
      const options = await readEngineFlags(given);
      const settings = { isLc0Style, onWarning: printNote };
      const result = await runBench(options, limits, args.json ? printNote : printLine, settings);
      if (args.json) printJson(result);
      else for (const line of isLc0Style ? formatBenchmark(result) : formatBench(result)) printLine(line);
    },
  });
}

const SIGNATURE = 'Search fixed positions and print nodes, speed and a signature';
export const benchCommand = declareBench('bench', SIGNATURE, false, { ...BENCH_DEFAULTS, moveTimeMs: null });

const BENCHMARK = 'lc0’s benchmark: search 34 positions for 10 s each';
const BENCHMARK_DEFAULTS = { moveTimeMs: 10_000, positions: MOST_POSITIONS };
export const benchmarkCommand = declareBench('benchmark', BENCHMARK, true, BENCHMARK_DEFAULTS);
