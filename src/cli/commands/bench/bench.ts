/** `sardonyx bench`: speed and signature over fixed positions. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { addEngineFlags, readEngineFlags } from '../../engine-flags.js';
import { wholeFlag } from '../../number-flag.js';
import { printJson, printLine, printNote } from '../../output.js';
import { BENCH_DEFAULTS, formatBench, runBench } from './bench-run.js';

interface BenchArguments {
  nodes: number;
  movetime: number;
  'num-positions': number;
  fen: string | undefined;
  json: boolean;
}

export const benchCommand: CommandModule<object, BenchArguments> = {
  command: ['bench', 'benchmark'],
  describe: 'Search fixed positions and print nodes, speed and a signature',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option(
        ...wholeFlag('nodes', { min: 0, default: 0, describe: 'Nodes for each position; 0 = what suits the backend' }),
      )
      .option(
        ...wholeFlag('movetime', { min: 0, default: 0, describe: 'Milliseconds for each position, instead of nodes' }),
      )
      .option(
        ...wholeFlag('num-positions', {
          min: 1,
          default: BENCH_DEFAULTS.positions,
          describe: 'Number of positions to search',
        }),
      )
      .option('fen', { type: 'string', describe: 'Search this position only' })
      .option('json', { type: 'boolean', default: false, describe: 'Print the result as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<BenchArguments>) => {
    const limits = {
      nodes: args.nodes,
      moveTimeMs: args.movetime,
      positions: args['num-positions'],
      fen: args.fen ?? null,
    };
    const result = await runBench(await readEngineFlags(args), limits, args.json ? printNote : printLine);
    if (args.json) printJson(result);
    else for (const line of formatBench(result)) printLine(line);
  },
};
