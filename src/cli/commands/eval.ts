/** `sardonyx eval`: prints the network's evaluation of a position, without search. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { enginePorts } from '../../app/index.js';
import { formatUciMove, type Move, START_FEN } from '../../chess/index.js';
import { Analyst, computeRootScore, getMovesLeft, type RootStats, writesKingTakesRook } from '../../engine/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import { formatEvaluation } from '../../uci/index.js';
import { addEngineFlags, readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { requireFen } from './analyse/analysis.js';

interface EvalArguments {
  fen?: string[];
  json: boolean;
}

export const evalCommand: CommandModule<object, EvalArguments> = {
  command: 'eval [fen..]',
  describe: 'Print the network’s evaluation of a position, without search',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .positional('fen', { type: 'string', array: true, describe: 'Position; start position when left out' })
      .option('json', { type: 'boolean', default: false, describe: 'Print the result as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<EvalArguments>) => {
    const fen = args.fen === undefined || ['', 'startpos'].includes(args.fen.join(' ')) ? null : args.fen.join(' ');
    const position = requireFen(fen ?? START_FEN);
    const options = await readEngineFlags(args);
    const chess960 = writesKingTakesRook(options, position);
    const scoreType = options.getString('ScoreType') as ScoreType;
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const stats = await analyst.evaluate(fen, []);
      if (stats === null) throw new Error('There is nothing to evaluate: the game is over');
      if (args.json) printJson(summarise(stats, scoreType, chess960));
      else for (const line of formatEvaluation(stats, scoreType, chess960)) printLine(line);
    } finally {
      await analyst.dispose();
    }
  },
};

function summarise(stats: RootStats, scoreType: ScoreType, chess960: boolean): object {
  const { node, moves } = stats;
  const { win, draw, loss } = computeWdl(node.wl ?? node.q, node.d ?? 0);
  const policy = [...moves].sort((a, b) => b.prior - a.prior);
  return {
    score: computeRootScore(stats, scoreType),
    q: node.q,
    wdl: [win, draw, loss],
    movesLeft: getMovesLeft(stats),
    policy: policy.map(({ move, prior }) => ({ move: formatUciMove(move as Move, chess960), prior })),
  };
}
