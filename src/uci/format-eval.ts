/** The `eval` command: the network's opinion of the position, without any search. */
import { formatUciMove, type Move } from '../chess/index.js';
import { computeRootScore, computeWdl, getMovesLeft, type RootStats, type ScoreType } from '../engine/index.js';

export function formatEvaluation(stats: RootStats, scoreType: ScoreType, chess960: boolean): string[] {
  const { node } = stats;
  const wdl = computeWdl(node.wl ?? node.q, node.d ?? 0);
  const movesLeft = getMovesLeft(stats);
  const moves = [...stats.moves].sort((a, b) => b.prior - a.prior);
  return [
    `Score: ${computeRootScore(stats, scoreType)} (side to move)`,
    `WDL: ${wdl.win} ${wdl.draw} ${wdl.loss}`,
    ...(movesLeft === null ? [] : [`Moves left: ${movesLeft.toFixed(1)}`]),
    'Policy:',
    ...moves.map(({ move, prior }) => `${formatUciMove(move as Move, chess960).padEnd(6)}${percent(prior)}`),
  ];
}

function percent(probability: number): string {
  return `${(probability * 100).toFixed(2).padStart(6)} %`;
}
