/**
 * `sardonyx explain`: which pieces a network's favourite move and its value depend on. It wipes each square in turn from
 * the input (occlusion) and compares the answers, or shows where the last layer of the body looks (Grad-CAM).
 */
import { basename, extname } from 'node:path';
import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { formatUciMove, type Move, type Position } from '../../chess/rules/index.js';
import { createPoolOptions } from '../../engine/app/index.js';
import { writesKingTakesRook } from '../../engine/core/index.js';
import {
  findBundledNetwork,
  findModel,
  getNetworkName,
  isBundled,
  isFileless,
  listBundledNetworks,
  type ResolvedNetwork,
  resolveNetwork,
} from '../../engine/weights/index.js';
import type { HistoryFill } from '../../networks/encoding/index.js';
import { computeClassActivation, computeOcclusion } from '../../networks/explain/index.js';
import { choice, declareCommand, onOff, text } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';
import { writeOutput } from '../write-output.js';
import { createActivationMap, createExplanation, type Explanation, formatExplanation } from './explanation.js';
import { drawExplanation } from './explanation-picture.js';

export const explainCommand = declareCommand({
  command: 'explain [position..]',
  describe: 'Show which squares a network’s move and value depend on',
  words: POSITION_WORDS,
  // biome-ignore format: a row a flag
  flags: {
    ...POSITION_FLAGS,
    move: text('Legal move to explain; the network’s favourite when left out'),
    method: choice(['occlusion', 'gradcam'], 'occlusion', 'occlusion = what changes without each square; gradcam = which squares of the body’s last feature maps support the move'),
    out: text('Picture to write, an .svg file'),
    json: onOff('Print the numbers as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    if (args.out !== undefined && extname(args.out).toLowerCase() !== '.svg') {
      throw new Error(`--out needs a name that ends in .svg, not ${args.out}`);
    }
    const options = await readEngineFlags(given);
    const { position } = readPosition(args);
    if (position.countLegalMoves() === 0) throw new Error('There is nothing to explain: the game is over');
    if (!isFileless(options)) nameNetwork(options, unwrap(await resolveNetwork(options)));
    const explain = args.method === 'gradcam' ? explainByActivation : explainByOcclusion;
    const explanation = await explain(options, position, args.move ?? null);
    if (args.out !== undefined) await writeOutput(args.out, drawExplanation(explanation));
    if (args.json) printJson(explanation);
    else for (const line of formatExplanation(explanation, usesColour())) printLine(line, usesColour());
  },
});

/**
 * Both methods explain the network that would play, in single precision: for a bundled network in 8 bits the one that it was made
 * from.
 */
function nameNetwork(options: OptionStore, network: ResolvedNetwork): void {
  const { path, builtIn } = network;
  const plainFile = basename(builtIn ?? path).replace('-int8.', '.');
  const plain = isBundled(network) ? findBundledNetwork(listBundledNetworks(), plainFile) : undefined;
  unwrap(options.set('WeightsFile', plain === undefined ? path : getNetworkName(plain)));
}

/** @param wanted the move to explain, null for the network's favourite */
async function explainByOcclusion(
  options: OptionStore,
  position: Position,
  wanted: string | null,
): Promise<Explanation> {
  const occlusion = unwrap(await computeOcclusion(await createPoolOptions(options, printNote), position));
  const names = nameMoves(options, position, occlusion.moves);
  return createExplanation(occlusion, position, names, findMove(names, occlusion.whole.priors, wanted));
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
      chosen = findMove(nameMoves(options, position, moves), priors, wanted);
      return chosen;
    }),
  );
  return createActivationMap(activation, position, nameMoves(options, position, activation.moves), chosen);
}

function nameMoves(options: OptionStore, position: Position, moves: readonly Move[]): string[] {
  const chess960 = writesKingTakesRook(options, position);
  return moves.map((move) => formatUciMove(move, chess960));
}

/** @returns the index of the wanted move, or of the favourite. Throws one sentence if the wanted move is not legal */
function findMove(names: readonly string[], priors: readonly number[] | Float32Array, wanted: string | null): number {
  if (wanted === null) return priors.indexOf(Math.max(...priors));
  if (names.includes(wanted)) return names.indexOf(wanted);
  throw new Error(`${wanted} is not a legal move here; legal are ${names.join(' ')}`);
}

function usesColour(): boolean {
  return process.stdout.isTTY && (process.env.NO_COLOR ?? '') === '';
}
