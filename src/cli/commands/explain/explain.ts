/**
 * `sardonyx explain`: which pieces a network's favourite move and its value depend on. It wipes each square in turn from
 * the input (occlusion) and compares the answers, or shows where the last layer of the body looks (Grad-CAM).
 */
import { extname } from 'node:path';
import { createPoolOptions } from '../../../app/index.js';
import { formatUciMove, type Move, type Position } from '../../../chess/index.js';
import type { HistoryFill } from '../../../encoding/index.js';
import { createGamePosition, writesKingTakesRook } from '../../../engine/index.js';
import { computeClassActivation, computeOcclusion } from '../../../explain/index.js';
import { findModel } from '../../../networks/index.js';
import type { OptionStore } from '../../../options/index.js';
import { unwrap } from '../../../util/index.js';
import { choice, declareCommand, text, toggle, words } from '../../declare-command.js';
import { readEngineFlags } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import { writeOutput } from '../../write-output.js';
import {
  createActivationMap,
  createExplanation,
  drawExplanation,
  type Explanation,
  formatExplanation,
} from './explanation.js';

export const explainCommand = declareCommand({
  command: 'explain [fen..]',
  describe: 'Show which squares a network’s move and value depend on',
  words: {
    fen: words('Position; start position when left out'),
  },
  // biome-ignore format: a row a flag
  flags: {
    moves: text('Moves played from there, in UCI notation', { default: '' }),
    move: text('Legal move to explain; the network’s favourite when left out'),
    method: choice(['occlusion', 'gradcam'], 'occlusion', 'occlusion = what changes without each square; gradcam = which squares of the body’s last feature maps support the move (single precision only)'),
    out: text('Picture to write, an .svg file'),
    json: toggle('Print the numbers as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    if (args.out !== undefined && extname(args.out).toLowerCase() !== '.svg') {
      throw new Error(`--out needs a name that ends in .svg, not ${args.out}`);
    }
    const options = await readEngineFlags(given);
    const fen = args.fen === undefined || args.fen.length === 0 ? null : args.fen.join(' ');
    const words = args.moves.split(/\s+/).filter((word) => word !== '');
    const { position } = unwrap(createGamePosition(fen, words));
    if (position.countLegalMoves() === 0) throw new Error('There is nothing to explain: the game is over');
    const explain = args.method === 'gradcam' ? explainByActivation : explainByOcclusion;
    const explanation = await explain(options, position, args.move ?? null);
    if (args.out !== undefined) await writeOutput(args.out, drawExplanation(explanation));
    if (args.json) printJson(explanation);
    else for (const line of formatExplanation(explanation, usesColour())) printLine(line, usesColour());
  },
});

/** @param wanted the move to explain, null for the network's favourite */
async function explainByOcclusion(
  options: OptionStore,
  position: Position,
  wanted: string | null,
): Promise<Explanation> {
  const occlusion = unwrap(await computeOcclusion(await createPoolOptions(options, printNote), position));
  const names = nameMoves(options, position, occlusion.moves);
  findWanted(names, wanted);
  return createExplanation(occlusion, position, names, wanted);
}

/** The network is taken in single precision and in its plain form, whose body ends in feature maps. */
async function explainByActivation(
  options: OptionStore,
  position: Position,
  wanted: string | null,
): Promise<Explanation> {
  const given = options.getString('BackendOptions');
  unwrap(options.set('BackendOptions', [...(given === '' ? [] : [given]), 'datatype=f32', 'winograd=false'].join(',')));
  const model = unwrap(await findModel(options, { provider: 'cpu', precision: 'f32' }));
  const historyFill = options.getString('HistoryFill') as HistoryFill;
  let chosen = -1;
  const activation = unwrap(
    await computeClassActivation(model, position, historyFill, (moves, priors) => {
      chosen = findWanted(nameMoves(options, position, moves), wanted) ?? priors.indexOf(Math.max(...priors));
      return chosen;
    }),
  );
  return createActivationMap(activation, position, nameMoves(options, position, activation.moves), chosen);
}

function nameMoves(options: OptionStore, position: Position, moves: readonly Move[]): string[] {
  const chess960 = writesKingTakesRook(options, position);
  return moves.map((move) => formatUciMove(move, chess960));
}

/** @returns the index of the wanted move, null if none is wanted. Throws one sentence if it is not legal */
function findWanted(names: readonly string[], wanted: string | null): number | null {
  if (wanted === null) return null;
  if (names.includes(wanted)) return names.indexOf(wanted);
  throw new Error(`${wanted} is not a legal move here; legal are ${names.join(' ')}`);
}

function usesColour(): boolean {
  return process.stdout.isTTY && (process.env.NO_COLOR ?? '') === '';
}
