/**
 * `sardonyx explain`: which pieces a network's favourite move and its value depend on. It wipes each square in turn from
 * the input (occlusion) and compares the answers. Grad-CAM, which needs gradients, is in scripts/train/explain.py.
 */
import { extname } from 'node:path';
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { createPoolOptions } from '../../../app/index.js';
import { formatUciMove } from '../../../chess/index.js';
import { createGamePosition, writesKingTakesRook } from '../../../engine/index.js';
import { computeOcclusion } from '../../../nn/index.js';
import { unwrap } from '../../../util/index.js';
import { addEngineFlags, readEngineFlags } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import { writeOutput } from '../../write-output.js';
import { createExplanation, formatExplanation } from './explanation.js';
import { drawExplanation } from './explanation-picture.js';

interface ExplainArguments {
  fen?: string[];
  moves: string;
  move: string | undefined;
  out: string | undefined;
  json: boolean;
}

export const explainCommand: CommandModule<object, ExplainArguments> = {
  command: 'explain [fen..]',
  describe: 'Show which squares a network’s move and value depend on',
  builder: (yargs) =>
    addEngineFlags(yargs)
      .positional('fen', { type: 'string', array: true, describe: 'Position; start position when left out' })
      .option('moves', { type: 'string', default: '', describe: 'Moves played from there, in UCI notation' })
      .option('move', { type: 'string', describe: 'Legal move to explain; the network’s favourite when left out' })
      .option('out', { type: 'string', describe: 'Picture to write, an .svg file' })
      .option('json', { type: 'boolean', default: false, describe: 'Print the numbers as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<ExplainArguments>) => {
    if (args.out !== undefined && extname(args.out).toLowerCase() !== '.svg') {
      throw new Error(`--out needs a name that ends in .svg, not ${args.out}`);
    }
    const options = await readEngineFlags(args);
    const fen = args.fen === undefined || args.fen.length === 0 ? null : args.fen.join(' ');
    const words = args.moves.split(/\s+/).filter((word) => word !== '');
    const { position } = unwrap(createGamePosition(fen, words));
    if (position.countLegalMoves() === 0) throw new Error('There is nothing to explain: the game is over');
    const occlusion = unwrap(await computeOcclusion(await createPoolOptions(options, printNote), position));
    const chess960 = writesKingTakesRook(options, position);
    const names = occlusion.moves.map((move) => formatUciMove(move, chess960));
    const wanted = args.move ?? null;
    if (wanted !== null && !names.includes(wanted)) {
      throw new Error(`${wanted} is not a legal move here; legal are ${names.join(' ')}`);
    }
    const explanation = createExplanation(occlusion, position, names, wanted);
    if (args.out !== undefined) await writeOutput(args.out, drawExplanation(explanation));
    if (args.json) printJson(explanation);
    else for (const line of formatExplanation(explanation, usesColour())) printLine(line);
  },
};

function usesColour(): boolean {
  return process.stdout.isTTY && (process.env.NO_COLOR ?? '') === '';
}
