/** `sardonyx eval`: prints the network's evaluation of a position, without search. */
import { existsSync } from 'node:fs';
import { enginePorts } from '../../app/index.js';
import { formatUciMove, type Move } from '../../chess/index.js';
import { Analyst, computeRootScore, getMovesLeft, type RootStats, writesKingTakesRook } from '../../engine/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import { formatEvalAnswer } from '../../uci/index.js';
import { declareCommand, onOff, words } from '../declare-command.js';
import { readEngineFlags, readPosition } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';

export const evalCommand = declareCommand({
  command: 'eval [fen..]',
  describe: 'Print the network’s evaluation of a position, without search',
  words: {
    fen: words('Position; start position when left out'),
  },
  // biome-ignore format: a row a flag
  flags: {
    json: onOff('Print the result as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const fen = args.fen.join(' ');
    if (existsSync(fen))
      throw new Error(`${fen} is a file, and eval takes one position (FEN); "sardonyx analyse ${fen}" reads files`);
    const position = readPosition(fen);
    const options = await readEngineFlags(given);
    const chess960 = writesKingTakesRook(options, position);
    const scoreType = options.getString('ScoreType') as ScoreType;
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const stats = await analyst.evaluate(fen === '' ? null : fen, []);
      if (stats === null) throw new Error('There is nothing to evaluate: the game is over');
      if (args.json) printJson(summarise(stats, scoreType, chess960));
      else for (const line of formatEvalAnswer(stats, scoreType, chess960)) printLine(line);
    } finally {
      await analyst.dispose();
    }
  },
});

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
