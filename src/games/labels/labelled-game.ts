/**
 * Plays one labelled game: an engine scores every position (MultiPV, fixed nodes), and chooseWanderingMove chooses the move.
 * The game ends by the laws of chess, when one side stays far ahead, or by length. Everything random follows from the seed and
 * the number of the game.
 */
import { createPrng, mixSeeds, type Prng, unwrap } from '../../base/util/index.js';
import { computeOutcome, formatFen, hasChess960Castling, parseUciMove } from '../../chess/rules/index.js';
import type { UciClient } from '../engines/index.js';
import { findEndByLaws } from '../play/index.js';
import type { LabelledPly, ScoredMove } from '../records/index.js';
import { type LabelledGameRecord, listLegalUciMoves, scorePosition } from './label-record.js';
import type { LabelSettings } from './label-settings.js';
import { drawStart, type StartBooks } from './label-starts.js';

export async function playLabelledGame(
  engine: UciClient,
  settings: LabelSettings,
  books: StartBooks,
  gameIndex: number,
): Promise<LabelledGameRecord> {
  const prng = createPrng(mixSeeds(settings.seed, gameIndex));
  const { position, randomPlies } = drawStart(books, settings.sources, prng);
  const rates: WanderRates = {
    wander: drawBetween(prng, settings.wander),
    blunder: drawBetween(prng, settings.blunder),
    temperatureCp: settings.temperatureCp,
  };
  const isPlayedOut = prng.nextFloat() < settings.playOut;
  const fen = formatFen(position);
  const moves: string[] = [];
  const isChess960 = hasChess960Castling(position);
  const plies: LabelledPly[] = [];
  let hopelessPlies = 0;
  let whiteScore = 0;

  engine.setChess960(isChess960);
  await engine.newGame();
  while (plies.length < settings.maxPlies && computeOutcome(position) === 'ongoing') {
    const legal = listLegalUciMoves(position, isChess960);
    let played: string;
    if (plies.length < randomPlies) {
      played = legal[prng.nextBelow(legal.length)];
      plies.push([played, []]);
    } else {
      const scored = await scorePosition(engine, fen, moves, legal, settings.nodes);
      played = chooseWanderingMove(prng, scored, legal, rates);
      plies.push([played, scored]);
      const [, best] = scored[0];
      whiteScore = position.sideToMove === 0 ? best : -best;
      hopelessPlies = Math.abs(whiteScore) >= settings.resignCp ? hopelessPlies + 1 : 0;
    }
    position.makeMove(unwrap(parseUciMove(position, played)));
    moves.push(played);
    if (!isPlayedOut && hopelessPlies >= settings.resignPlies) break;
  }
  const resigned = hopelessPlies >= settings.resignPlies ? (whiteScore > 0 ? '1-0' : '0-1') : '*';
  return { fen, result: findEndByLaws(position)?.result ?? resigned, plies };
}

function drawBetween(prng: Prng, [least, most]: readonly [number, number]): number {
  return least + prng.nextFloat() * (most - least);
}

interface WanderRates {
  readonly wander: number;
  readonly blunder: number;
  readonly temperatureCp: number;
}

/**
 * With best play only, a network would see few mistakes and would not learn to punish them. So games wander: some moves are chosen
 * at random among the scored ones (weight exp(−loss / temperature)), and a few among all legal ones.
 *
 * @param scored best first, not empty
 * @param legal all legal moves
 */
export function chooseWanderingMove(
  prng: Prng,
  scored: readonly ScoredMove[],
  legal: readonly string[],
  rates: WanderRates,
): string {
  const dice = prng.nextFloat();
  if (dice < rates.blunder) return legal[prng.nextBelow(legal.length)];
  if (dice >= rates.blunder + rates.wander) return scored[0][0];
  const weights = scored.map(([, score]) => Math.exp((score - scored[0][1]) / rates.temperatureCp));
  let rest = prng.nextFloat() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < scored.length; i++) {
    rest -= weights[i];
    if (rest < 0) return scored[i][0];
  }
  return scored[0][0];
}
