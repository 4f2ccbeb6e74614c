/** `sardonyx eval`: the network's evaluation of a position, without search. */
import { formatUciMove, type Move } from '../../chess/rules/index.js';
import { enginePorts } from '../../engine/app/index.js';
import {
  Analyst,
  computeRootScore,
  getMovesLeft,
  type RootStats,
  writesKingTakesRook,
} from '../../engine/core/index.js';
import { formatEvalAnswer } from '../../engine/uci/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import { declareCommand, onOff } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';

export const evalCommand = declareCommand({
  command: 'eval [position..]',
  describe: 'Print the network’s evaluation of a position, without search',
  words: POSITION_WORDS,
  flags: {
    ...POSITION_FLAGS,
    json: onOff('Print the result as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const { fen, moves, position } = readPosition(args);
    const options = await readEngineFlags(given);
    const chess960 = writesKingTakesRook(options, position);
    const scoreType = options.getString('ScoreType') as ScoreType;
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const stats = await analyst.evaluate(fen, moves);
      if (stats === null) throw new Error('There is nothing to evaluate: the game is over');
      if (args.json) printJson(summarise(stats, scoreType, chess960));
      else for (const line of formatEvalAnswer(stats, scoreType, chess960)) printLine(line);
    } finally {
      await analyst.engine.dispose();
    }
  },
});

function summarise(stats: RootStats, scoreType: ScoreType, chess960: boolean): object {
  const { node, moves } = stats;
  const policy = [...moves].sort((a, b) => b.prior - a.prior);
  return {
    score: computeRootScore(stats, scoreType),
    q: node.q,
    wdl: computeWdl(node.wl ?? node.q, node.d ?? 0),
    movesLeft: getMovesLeft(stats),
    policy: policy.map(({ move, prior }) => ({ move: formatUciMove(move as Move, chess960), prior })),
  };
}
