/** The move to play and the reply to ponder on, when a search ends. */
import type { Prng } from '../../util/index.js';
import { computeTemperature, drawEdge, findBestEdge, getMove, getVisitedRecord } from '../best-move.js';
import type { SearchParams } from '../params.js';
import { NO_NODE, type NodeIndex, RECORD_NODE, RECORD_WORDS } from '../tree/layout.js';
import type { Tree } from '../tree/tree.js';
import type { RootMoves } from './root-moves.js';
import { computeRootFpu } from './root-utility.js';

export interface Answer {
  /** 0 = none. */
  readonly move: number;
  readonly ponder: number;
}

export const NO_ANSWER: Answer = { move: 0, ponder: 0 };

/** @param drawScore value of a draw for the root's mover */
export function chooseAnswer(
  tree: Tree,
  rootMoves: RootMoves,
  params: SearchParams,
  gamePly: number,
  drawScore: number,
  random: Prng,
): Answer {
  const root = tree.rootNode;
  if (root === NO_NODE) return NO_ANSWER;
  const filter = (edge: number): boolean => rootMoves.isAllowed(edge);
  const temperature = computeTemperature(params, gamePly);
  const edge =
    temperature > 0
      ? drawEdge(tree, root, params, {
          temperature,
          drawScore,
          fpu: computeRootFpu(tree, params, drawScore),
          random,
          filter,
        })
      : rootMoves.findBest(drawScore);
  if (edge < 0) return NO_ANSWER;
  return { move: getMove(tree, root, edge), ponder: findReply(tree, root, edge, drawScore) };
}

function findReply(tree: Tree, root: NodeIndex, edge: number, drawScore: number): number {
  const record = getVisitedRecord(tree, root, edge);
  if (record === -1) return 0;
  const node = tree.store.recordWords[record * RECORD_WORDS + RECORD_NODE] as NodeIndex;
  if (node === NO_NODE) return 0;
  const reply = findBestEdge(tree, node, -drawScore);
  return reply < 0 ? 0 : getMove(tree, node, reply);
}
