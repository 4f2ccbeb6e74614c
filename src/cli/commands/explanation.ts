/** An explanation square by square: as numbers, and as two boards in text. */

import { formatFen, formatPiece, formatSquare, type Position, type Square } from '../../chess/rules/index.js';
import type { ClassActivation, Occlusion, Opinion } from '../../networks/explain/index.js';

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

const LISTED_PIECES = 8;

/** @param names of the occlusion's moves; `move` is the index of the explained one */
export function createExplanation(
  { network, whole, withoutSquare, withoutHistory }: Occlusion,
  position: Position,
  names: readonly string[],
  move: number,
): Explanation {
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
  return { square: formatSquare(square as Square), piece: formatPiece(board[square]).trim() };
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
    const text = ` ${square.piece || '·'}${formatHundredths(weight).padStart(5)}`;
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

/** '' for a weight that rounds to 0. */
export function formatHundredths(weight: number): string {
  const hundredths = Math.round(100 * weight);
  if (hundredths === 0) return '';
  return `${hundredths > 0 ? '+' : '−'}${Math.abs(hundredths)}`;
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
