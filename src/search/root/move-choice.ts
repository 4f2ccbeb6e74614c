/**
 * The move to play and the reply to ponder on, when a search ends: the best move, or one drawn by temperature (lc0:
 * GetBestChildrenNoTemperature, GetBestRootChildWithTemperature).
 */
import type { Prng } from '../../base/util/index.js';
import type { SearchParams } from '../protocol/params.js';
import { NO_NODE, type NodeIndex, type RecordIndex } from '../tree/layout.js';
import {
  findBestEdge,
  getEdgeCount,
  getMove,
  getPrior,
  getRecordNode,
  getRecordQ,
  getRecordVisits,
  getVisitedRecord,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import type { RootContext } from './iteration-stats.js';
import { computeRootFpu } from './root-utility.js';

export interface MoveChoice {
  /** 0 = none. */
  readonly move: number;
  readonly ponder: number;
}

const NO_MOVE: MoveChoice = { move: 0, ponder: 0 };

/** @param gamePly plies played since move 1 of the game */
export function chooseMove(context: RootContext, gamePly: number, random: Prng): MoveChoice {
  const { tree, rootMoves, params, drawScore } = context;
  const root = tree.rootNode;
  if (root === NO_NODE) return NO_MOVE;
  const temperature = computeTemperature(params, gamePly);
  const edge = temperature > 0 ? drawEdge(context, temperature, random) : rootMoves.findBest(drawScore);
  if (edge < 0) return NO_MOVE;
  return { move: getMove(tree, root, edge), ponder: findReply(tree, root, edge, drawScore) };
}

function findReply(tree: Tree, root: NodeIndex, edge: number, drawScore: number): number {
  const record = getVisitedRecord(tree, root, edge);
  const node = getRecordNode(tree, record);
  if (node === NO_NODE) return 0;
  const reply = findBestEdge(tree, node, -drawScore);
  return reply < 0 ? 0 : getMove(tree, node, reply);
}

/** Temperature of this move: it decays with the moves of the game down to TempEndgame. */
export function computeTemperature(params: SearchParams, gamePly: number): number {
  const moves = Math.floor(gamePly / 2);
  if (params.tempCutoffMove > 0 && moves + 1 >= params.tempCutoffMove) return params.tempEndgame;
  const { temperature, tempDecayDelayMoves: delay, tempDecayMoves: decay } = params;
  if (temperature === 0 || decay === 0) return temperature;
  const left = Math.min(1, Math.max(0, (delay + decay - moves) / decay));
  return Math.max(temperature * left, params.tempEndgame);
}

/**
 * A root move drawn with probability ∝ ((visits + offset) / most visits)^(1/T), among those whose value is not worse
 * than the most visited one's by more than TempValueCutoff percent of win probability.
 */
function drawEdge({ tree, rootMoves, params, drawScore }: RootContext, temperature: number, random: Prng): number {
  const node = tree.rootNode;
  const count = getEdgeCount(tree, node);
  const fpu = computeRootFpu(tree, params, drawScore);
  const getQ = (record: RecordIndex | -1): number => (record === -1 ? fpu : getRecordQ(tree, record, drawScore));
  let mostVisits = 0;
  let bestQ = -1;
  for (let edge = 0; edge < count; edge++) {
    if (!rootMoves.isAllowed(edge)) continue;
    const record = getVisitedRecord(tree, node, edge);
    const visits = getRecordVisits(tree, record) + params.tempVisitOffset;
    if (visits <= mostVisits) continue;
    mostVisits = visits;
    bestQ = getQ(record);
  }
  const weights = new Float64Array(count);
  let sum = 0;
  for (let edge = 0; edge < count; edge++) {
    if (!rootMoves.isAllowed(edge)) continue;
    const record = getVisitedRecord(tree, node, edge);
    if (getQ(record) < bestQ - params.tempValueCutoff / 50) continue;
    const share =
      mostVisits <= 0
        ? getPrior(tree, node, edge)
        : (getRecordVisits(tree, record) + params.tempVisitOffset) / mostVisits;
    weights[edge] = Math.max(0, share) ** (1 / temperature);
    sum += weights[edge];
  }
  let toss = random.nextFloat() * sum;
  for (let edge = 0; edge < count; edge++) {
    toss -= weights[edge];
    if (weights[edge] > 0 && toss <= 0) return edge;
  }
  return findBestEdge(tree, node, drawScore, (edge) => rootMoves.isAllowed(edge));
}
