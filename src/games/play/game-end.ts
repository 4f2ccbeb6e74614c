/** How a game ended: the result, the reason, and their texts in PGN and reports. */
import { computeOutcome, type Outcome, type Position } from '../../chess/rules/index.js';

export type ResultText = '1-0' | '0-1' | '1/2-1/2';

export type EndReason =
  | Exclude<Outcome, 'ongoing'>
  | 'tablebase'
  | 'resignation'
  | 'adjudicated-win'
  | 'adjudicated-draw'
  | 'max-plies'
  | 'time'
  | 'illegal-move'
  | 'crash';

export interface GameEnd {
  readonly result: ResultText;
  readonly reason: EndReason;
}

export function createWin(winner: 0 | 1, reason: EndReason): GameEnd {
  return { result: winner === 0 ? '1-0' : '0-1', reason };
}

export function createDraw(reason: EndReason): GameEnd {
  return { result: '1/2-1/2', reason };
}

/** The end by the laws of chess, null while the game goes on. */
export function findEndByLaws(position: Position): GameEnd | null {
  const outcome = computeOutcome(position);
  if (outcome === 'ongoing') return null;
  if (outcome === 'checkmate') return createWin(position.sideToMove === 0 ? 1 : 0, outcome);
  return createDraw(outcome);
}

/** Points of White in half points: 2, 1 or 0. */
export function countWhiteHalfPoints(result: ResultText): 0 | 1 | 2 {
  return result === '1-0' ? 2 : result === '0-1' ? 0 : 1;
}

const SENTENCES: Readonly<Record<EndReason, string>> = {
  checkmate: 'WINNER mates',
  stalemate: 'Draw by stalemate',
  'insufficient-material': 'Draw by insufficient mating material',
  'fifty-moves': 'Draw by fifty moves rule',
  threefold: 'Draw by 3-fold repetition',
  tablebase: 'Adjudicated by tablebase',
  resignation: 'LOSER resigns',
  'adjudicated-win': 'WINNER wins by adjudication',
  'adjudicated-draw': 'Draw by adjudication',
  'max-plies': 'Draw by adjudication: maximum game length',
  time: 'LOSER loses on time',
  'illegal-move': 'LOSER makes an illegal move',
  crash: 'LOSER disconnects',
};

export const END_REASONS = Object.keys(SENTENCES) as readonly EndReason[];

export function describeEnd({ result, reason }: GameEnd): string {
  const [winner, loser] = result === '0-1' ? ['Black', 'White'] : ['White', 'Black'];
  return SENTENCES[reason].replace('WINNER', winner).replace('LOSER', loser);
}

/** The value of PGN's Termination tag. */
export function formatTermination(reason: EndReason): string {
  switch (reason) {
    case 'time':
      return 'time forfeit';
    case 'illegal-move':
      return 'rules infraction';
    case 'crash':
      return 'abandoned';
    case 'tablebase':
    case 'adjudicated-win':
    case 'adjudicated-draw':
    case 'max-plies':
      return 'adjudication';
    default:
      return 'normal';
  }
}
