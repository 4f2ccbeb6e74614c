/**
 * `sardonyx explain`: which pieces a network's favourite move and its value depend on. It wipes each square in turn from
 * the input (occlusion) and compares the answers, or shows where the last layer of the body looks (Grad-CAM).
 */
import { basename, extname } from 'node:path';
import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import {
  formatFen,
  formatSquare,
  formatUciMove,
  type Move,
  type Position,
  type Square,
} from '../../chess/rules/index.js';
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
import {
  type ClassActivation,
  computeClassActivation,
  computeOcclusion,
  type Occlusion,
  type Opinion,
} from '../../networks/explain/index.js';
import { choice, declareCommand, onOff, text } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';
import { writeOutput } from '../write-output.js';

// Describes an occlusion square by square: as numbers, and as two boards in text.

/**
 * Occlusion: how much lower the outputs are without the content of a square; above 0 if it speaks for the move, or for the mover.
 * Grad-CAM: how much the network looks at the square, as a share of the largest.
 */
export interface ExplainedSquare {
  readonly square: string;
  /** FEN letter; '' for an empty square. */
  readonly piece: string;
  /** W − L, mover's view. */
  readonly value: number;
  /** Probability of the move. */
  readonly policy: number;
  /** Probability that moved to other moves (total variation distance of the policies); 0 with Grad-CAM, which does not tell. */
  readonly policyShift: number;
}

/** Everything from the view of the player to move. */
export interface Explanation {
  readonly method: 'occlusion' | 'gradcam';
  readonly network: string;
  readonly fen: string;
  readonly sideToMove: 'white' | 'black';
  readonly move: string;
  readonly probability: number;
  /** W − L. */
  readonly value: number;
  /** a1, b1, … h8. */
  readonly squares: readonly ExplainedSquare[];
  /** The same numbers for the position without the moves before it; null when there were none. */
  readonly withoutHistory: { readonly probability: number; readonly value: number } | null;
}

const PIECE_LETTERS = '.PNBRQK..pnbrqk';
const LISTED_PIECES = 8;

/** @param names of the occlusion's moves; `wanted` is one of them, or null for the favourite */
export function createExplanation(
  { network, whole, withoutSquare, withoutHistory }: Occlusion,
  position: Position,
  names: readonly string[],
  wanted: string | null,
): Explanation {
  const move = wanted === null ? whole.priors.indexOf(Math.max(...whole.priors)) : names.indexOf(wanted);
  return {
    method: 'occlusion',
    network,
    ...describePosition(position),
    move: names[move],
    probability: whole.priors[move],
    value: whole.valueWl,
    squares: withoutSquare.map((other, square) => ({
      ...nameSquare(position, square),
      value: whole.valueWl - other.valueWl,
      policy: whole.priors[move] - other.priors[move],
      policyShift: computeShift(whole, other),
    })),
    withoutHistory:
      withoutHistory === null ? null : { probability: withoutHistory.priors[move], value: withoutHistory.valueWl },
  };
}

/** @param move index of the explained one */
export function createActivationMap(
  { network, priors, valueWl, policy, value }: ClassActivation,
  position: Position,
  names: readonly string[],
  move: number,
): Explanation {
  const scale = (map: readonly number[]): number[] => {
    const largest = Math.max(...map);
    return map.map((weight) => (largest > 0 ? weight / largest : 0));
  };
  const [moveShares, valueShares] = [scale(policy), scale(value)];
  return {
    method: 'gradcam',
    network,
    ...describePosition(position),
    move: names[move],
    probability: priors[move],
    value: valueWl,
    squares: Array.from({ length: 64 }, (_, square) => ({
      ...nameSquare(position, square),
      value: valueShares[square],
      policy: moveShares[square],
      policyShift: 0,
    })),
    withoutHistory: null,
  };
}

function describePosition(position: Position): Pick<Explanation, 'fen' | 'sideToMove'> {
  return { fen: formatFen(position), sideToMove: position.sideToMove === 1 ? 'black' : 'white' };
}

function nameSquare({ board }: Position, square: number): Pick<ExplainedSquare, 'square' | 'piece'> {
  return { square: formatSquare(square as Square), piece: board[square] === 0 ? '' : PIECE_LETTERS[board[square]] };
}

function computeShift(a: Opinion, b: Opinion): number {
  return a.priors.reduce((sum, prior, i) => sum + Math.abs(prior - b.priors[i]), 0) / 2;
}

export function formatExplanation(explanation: Explanation, inColour: boolean): string[] {
  const { network, fen, sideToMove, move, probability, value, squares, withoutHistory } = explanation;
  const mover = sideToMove === 'white' ? 'White' : 'Black';
  const [ofMove, ofValue] =
    explanation.method === 'gradcam'
      ? ['squares that support the move (Grad-CAM, hundredths of the largest)', 'squares that support the value']
      : ['percentage points lost when the square is erased', 'hundredths lost when the square is erased'];
  const boards = [
    `${network}: ${fen}`,
    '',
    `${move} ${percent(probability)}: ${ofMove}`,
    ...formatBoard(squares, ({ policy }) => policy, inColour),
    '',
    `W − L ${signed(value)} for ${mover}: ${ofValue}`,
    ...formatBoard(squares, (square) => square.value, inColour),
  ];
  if (explanation.method === 'gradcam') return boards;
  const pieces = squares.filter(({ piece }) => piece !== '');
  const heaviest = [...pieces].sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, LISTED_PIECES);
  return [
    ...boards,
    '',
    'piece   W − L    move  policy shifted to other moves',
    ...heaviest.map(
      ({ square, piece, value: weight, policy, policyShift }) =>
        `${piece} ${square}  ${signed(weight)}  ${signed(policy)}  ${percent(policyShift)}`,
    ),
    ...(withoutHistory === null
      ? []
      : [
          '',
          `without the moves before: ${move} ${percent(withoutHistory.probability)}, W − L ${signed(withoutHistory.value)}`,
        ]),
  ];
}

/** Ranks from the eighth down, seven columns a square: letter and hundredths. */
function formatBoard(
  squares: readonly ExplainedSquare[],
  getWeight: (square: ExplainedSquare) => number,
  inColour: boolean,
): string[] {
  const largest = Math.max(...squares.map((square) => Math.abs(getWeight(square))), Number.MIN_VALUE);
  const formatCell = (square: ExplainedSquare): string => {
    const weight = getWeight(square);
    const hundredths = Math.round(100 * weight);
    const number = hundredths === 0 ? '' : `${hundredths > 0 ? '+' : '−'}${Math.abs(hundredths)}`;
    const text = ` ${square.piece || '·'}${number.padStart(5)}`;
    return inColour ? paint(text, weight / largest) : text;
  };
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].map(
    (rank) =>
      `${rank + 1} ${squares
        .slice(8 * rank, 8 * rank + 8)
        .map(formatCell)
        .join('')}`,
  );
  return [...ranks, `  ${[...'abcdefgh'].map((file) => ` ${file}     `).join('')}`.trimEnd()];
}

/** Colours a text: blue favours the move or the mover, red does not. @param strength −1 to 1 */
function paint(text: string, strength: number): string {
  const shades = strength > 0 ? [17, 19, 21] : [52, 88, 124];
  const level = Math.ceil(3 * Math.abs(strength) - 0.5);
  return level < 1 ? text : `\u001b[97;48;5;${shades[level - 1]}m${text}\u001b[0m`;
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function signed(number: number): string {
  return `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(3)}`;
}

/**
 * An explanation as an SVG picture: two boards side by side, the move's on the left, the value's on the right, White at
 * the bottom. SVG is text that browsers, editors and GitHub show, so no package that draws pixels is needed.
 */

type Colour = readonly [red: number, green: number, blue: number];

const CELL = 56;
const MARGIN = 28;
const TITLE = 40;
const BOARD = 8 * CELL;
const WIDTH = 2 * BOARD + 4 * MARGIN;
const HEIGHT = TITLE + BOARD + MARGIN;

const PAPER: Colour = [255, 255, 255];
const INK: Colour = [40, 40, 40];
const LIGHT: Colour = [236, 236, 232];
const DARK: Colour = [214, 214, 208];
/** Squares that speak for and against the move, or for and against the mover. */
const FOR: Colour = [33, 102, 172];
const AGAINST: Colour = [178, 24, 43];
const WHITE_PIECE: Colour = [255, 255, 255];
const BLACK_PIECE: Colour = [0, 0, 0];
const PLAQUE: Colour = [120, 120, 120];

/** Font size of a sans-serif whose capitals are 1 high. */
const FONT_SIZE = 1.4;

/** @returns the content of an .svg file */
export function drawExplanation({ move, probability, value, squares }: Explanation): string {
  const points = `${(100 * probability).toFixed(1)}%`;
  const valueTitle = `W−L ${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(2)}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" text-anchor="middle">`,
    drawRectangle(0, 0, WIDTH, HEIGHT, PAPER),
    ...drawBoard(MARGIN, `${move} ${points}`, squares, ({ policy }) => policy),
    ...drawBoard(BOARD + 3 * MARGIN, valueTitle, squares, (square) => square.value),
    '</svg>',
    '',
  ].join('\n');
}

function drawBoard(
  left: number,
  title: string,
  squares: readonly ExplainedSquare[],
  getWeight: (square: ExplainedSquare) => number,
): string[] {
  const largest = Math.max(...squares.map((square) => Math.abs(getWeight(square))), Number.MIN_VALUE);
  const parts = [drawText(title, left + BOARD / 2, TITLE / 2, 14, INK)];
  for (const [index, square] of squares.entries()) {
    const file = index % 8;
    const rank = index >> 3;
    const x = left + file * CELL;
    const y = TITLE + (7 - rank) * CELL;
    const weight = getWeight(square);
    const plain = (file + rank) % 2 === 0 ? DARK : LIGHT;
    parts.push(drawRectangle(x, y, CELL, CELL, mix(plain, weight > 0 ? FOR : AGAINST, Math.abs(weight) / largest)));
    if (square.piece !== '') parts.push(...drawPiece(x, y, square.piece));
    const hundredths = Math.round(100 * weight);
    const number = `${hundredths > 0 ? '+' : '−'}${Math.abs(hundredths)}`;
    if (hundredths !== 0) parts.push(drawText(number, x + CELL / 2, y + CELL - 9, 7, INK));
  }
  for (let i = 0; i < 8; i++) {
    parts.push(drawText('abcdefgh'[i], left + (i + 0.5) * CELL, TITLE + BOARD + MARGIN / 2, 7, INK));
    parts.push(drawText(String(8 - i), left - MARGIN / 2, TITLE + (i + 0.5) * CELL, 7, INK));
  }
  return parts;
}

/** A letter on a grey plaque, so that both colours stand out on every square. */
function drawPiece(x: number, y: number, piece: string): string[] {
  const isWhite = piece === piece.toUpperCase();
  return [
    drawRectangle(x + 14, y + 6, CELL - 28, CELL - 24, PLAQUE),
    drawText(piece.toUpperCase(), x + CELL / 2, y + 22, 21, isWhite ? WHITE_PIECE : BLACK_PIECE),
  ];
}

function drawRectangle(x: number, y: number, width: number, height: number, colour: Colour): string {
  return `<rect x="${x}" y="${y}" width="${width}" height="${height}" fill="rgb(${colour.join()})"/>`;
}

/** @param size height of a capital letter; the text is centred on (x, y) */
function drawText(text: string, x: number, y: number, size: number, colour: Colour): string {
  return `<text x="${x}" y="${y + size / 2}" font-size="${FONT_SIZE * size}" fill="rgb(${colour.join()})">${text}</text>`;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  const blend = (i: number): number => Math.round(from[i] + (to[i] - from[i]) * share);
  return [blend(0), blend(1), blend(2)];
}

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
