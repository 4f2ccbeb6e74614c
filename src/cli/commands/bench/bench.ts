/** `sardonyx bench`: speed and signature over fixed positions. */

import { declareCommand, text, toggle, whole } from '../../declare-command.js';
import { readEngineFlags } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import { BENCH_DEFAULTS, formatBench, runBench } from './bench-run.js';

export const benchCommand = declareCommand({
  command: ['bench', 'benchmark'],
  describe: 'Search fixed positions and print nodes, speed and a signature',
  // biome-ignore format: a row a flag
  flags: {
    nodes: whole({ min: 0, default: 0 }, 'Nodes for each position; 0 = what suits the backend'),
    movetime: whole({ min: 0, default: 0 }, 'Milliseconds for each position, instead of nodes'),
    'num-positions': whole({ min: 1, default: BENCH_DEFAULTS.positions }, 'Number of positions to search'),
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
    const result = await runBench(await readEngineFlags(given), limits, args.json ? printNote : printLine);
    if (args.json) printJson(result);
    else for (const line of formatBench(result)) printLine(line);
  },
});
