/**
 * Which squares a network's opinion hangs on, by occlusion (Zeiler and Fergus, "Visualizing and Understanding
 * Convolutional Networks", 2014): the position is evaluated again with one square after the other wiped from all input
 * planes, past positions included. It needs nothing of a network but its answers, so it works with every one.
 */
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { formatFen, MAX_MOVES, type Move, type Position, parseFen } from '../chess/index.js';
import { type HistoryFill, type InputEncoding, transformSquare } from '../encoding/index.js';
import { failure, type Result, success, unwrap } from '../util/index.js';
import { getNetworkPlan, planBackend } from './backend/backend-plan.js';
import type { Evaluator } from './evaluator.js';
import { evaluatorFactory } from './evaluators/create-evaluator.js';
import type { Model } from './model/model-file.js';
import { loadEdition } from './model/model-file.js';
import { DEFAULT_HISTORY_FILL } from './options.js';
import type { PoolOptions } from './pool/evaluator-pool.js';

/** From the view of the player to move. */
export interface Opinion {
  readonly valueWl: number;
  readonly valueD: number;
  /** Of the legal moves, in their order; they sum to 1. */
  readonly priors: Float32Array;
}

export interface Occlusion {
  readonly network: string;
  readonly moves: readonly Move[];
  readonly whole: Opinion;
  /** By square of the board, a1 = 0: the opinion without what stands there. */
  readonly withoutSquare: readonly Opinion[];
  /** The opinion of the same position with nothing before it; null when there was nothing. */
  readonly withoutHistory: Opinion | null;
}

const SQUARES = 64;
const NOWHERE = -1;
const MIRRORED_RANKS = 56;

/** Planes of the whole board (side to move, castling, counts) say nothing of a square and stay. */
class OccludingEncoding implements InputEncoding {
  /** Square of the board. */
  square = NOWHERE;

  constructor(private readonly inner: InputEncoding) {}

  get name(): string {
    return this.inner.name;
  }
  get planes(): number {
    return this.inner.planes;
  }
  get historyLength(): number {
    return this.inner.historyLength;
  }
  get valuePlanes(): readonly number[] {
    return this.inner.valuePlanes;
  }

  writePacked(
    position: Position,
    fill: HistoryFill,
    masks: Uint32Array,
    maskOffset: number,
    values: Float32Array,
    valueOffset: number,
  ): number {
    const transform = this.inner.writePacked(position, fill, masks, maskOffset, values, valueOffset);
    if (this.square === NOWHERE) return transform;
    const seen = position.sideToMove === 1 ? this.square ^ MIRRORED_RANKS : this.square;
    const square = transformSquare(seen, transform);
    for (let i = maskOffset; i < maskOffset + 2 * this.planes; i += 2) {
      if (masks[i] === 0xffffffff && masks[i + 1] === 0xffffffff) continue;
      masks[i + (square >> 5)] &= ~(1 << (square & 31));
    }
    return transform;
  }
}

/** @param pool of it: backend and its options, model, policy temperature, history fill */
export async function computeOcclusion(pool: PoolOptions, position: Position): Promise<Result<Occlusion>> {
  const plans = planBackend({
    backend: pool.backend ?? 'auto',
    optionsText: pool.backendOptions ?? '',
    threads: 1,
    minibatch: 0,
  });
  if (!plans.ok) return plans;
  const network = getNetworkPlan(plans.value[0].evaluator);
  if (network === null || pool.model === undefined) {
    return failure(`The backend ${plans.value[0].name} has no network, so there is nothing to explain`);
  }
  prepareRuntime(network.config.tf32);
  const model = await loadEdition(pool.model, network);
  if (!model.ok) return model;
  const encoding = new OccludingEncoding(model.value.format.inputEncoding);
  const occluded: Model = { ...model.value, format: { ...model.value.format, inputEncoding: encoding } };
  let problem: unknown;
  for (const plan of plans.value) {
    try {
      const evaluator = await evaluatorFactory.create(plan, occluded, 0);
      try {
        return success({ network: model.value.title, ...(await askAbout(evaluator, encoding, position, pool)) });
      } finally {
        await evaluator.dispose();
      }
    } catch (error) {
      problem = error;
    }
  }
  return failure(`The network ${model.value.path} cannot be run: ${(problem as Error).message}`);
}

async function askAbout(
  evaluator: Evaluator,
  encoding: OccludingEncoding,
  position: Position,
  { historyFill = DEFAULT_HISTORY_FILL, policyTemperature = 1 }: PoolOptions,
): Promise<Omit<Occlusion, 'network'>> {
  const moves = new Uint16Array(MAX_MOVES);
  const count = position.generateLegalMoves(moves);
  const bare = unwrap(parseFen(formatFen(position, 'shredder')));
  const rows = SQUARES + 2;
  evaluator.reserve(rows);
  for (let square = 0; square < SQUARES; square++) {
    encoding.square = square;
    evaluator.setRow(square, position, moves, 0, count, historyFill);
  }
  encoding.square = NOWHERE;
  evaluator.setRow(SQUARES, position, moves, 0, count, historyFill);
  evaluator.setRow(SQUARES + 1, bare, moves, 0, count, historyFill);
  await evaluator.run(rows);
  const read = (row: number): Opinion => {
    const priors = new Float32Array(count);
    evaluator.writePriorsInto(priors, row, count, policyTemperature);
    return { valueWl: evaluator.valueWl[row], valueD: evaluator.valueD[row], priors };
  };
  return {
    moves: Array.from(moves.subarray(0, count), (move) => move as Move),
    whole: read(SQUARES),
    withoutSquare: Array.from({ length: SQUARES }, (_, square) => read(square)),
    withoutHistory: position.historyLength > 0 ? read(SQUARES + 1) : null,
  };
}
