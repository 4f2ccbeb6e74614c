/** The score of a match game by game, from the first player's view. */
import type { MatchGame } from '../protocol/replies.js';

export interface MatchScore {
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
}

function getPoints({ white, result }: MatchGame, player: string): number {
  if (result === '1/2-1/2') return 0.5;
  return (result === '1-0') === (white === player) ? 1 : 0;
}

/** @param isWhite only games in which the player had this colour; all when left out */
export function countScore(games: readonly MatchGame[], player: string, isWhite?: boolean): MatchScore {
  const points = games
    .filter(({ white }) => isWhite === undefined || (white === player) === isWhite)
    .map((game) => getPoints(game, player));
  const count = (wanted: number): number => points.filter((own) => own === wanted).length;
  return { wins: count(1), draws: count(0.5), losses: count(0) };
}

/** Share of the points in percent after each game. */
export function listScores(games: readonly MatchGame[], player: string): number[] {
  let sum = 0;
  return games.map((game, index) => {
    sum += getPoints(game, player);
    return (100 * sum) / (index + 1);
  });
}
