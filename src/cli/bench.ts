/** `sardonyx bench`: speed and signature over fixed positions. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { BENCH_DEFAULTS, formatBench, runBench } from './bench-run.js';
import { addEngineFlags, readEngineFlags } from './engine-flags.js';
import { printJson, printLine, printNote, requireWhole } from './output.js';

interface BenchArguments {
  nodes: number;
  movetime: number;
  'num-positions': number;
  fen: string | undefined;
  json: boolean;
}

export const benchCommand: CommandModule<object, BenchArguments> = {
  command: ['bench', 'benchmark'],
  describe: 'Search fixed positions; print nodes, speed and a signature',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .option('nodes', { type: 'number', default: 0, describe: 'Nodes for each position; 0 = what suits the backend' })
      .option('movetime', { type: 'number', default: 0, describe: 'Milliseconds for each position, instead of nodes' })
      .option('num-positions', { type: 'number', default: BENCH_DEFAULTS.positions, describe: 'How many positions' })
      .option('fen', { type: 'string', describe: 'Search this position only' })
      .option('json', { type: 'boolean', default: false, describe: 'Print the result as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<BenchArguments>) => {
    const limits = {
      nodes: requireWhole('nodes', args.nodes, 0),
      moveTimeMs: requireWhole('movetime', args.movetime, 0),
      positions: requireWhole('num-positions', args['num-positions'], 1),
      fen: args.fen ?? null,
    };
    const result = await runBench(readEngineFlags(args), limits, args.json ? printNote : printLine);
    if (args.json) printJson(result);
    else for (const line of formatBench(result)) printLine(line);
  },
};
