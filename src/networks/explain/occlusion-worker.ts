/**
 * The thread of occlusion-client.ts: it loads the network, evaluates one position with each square empty in turn, and ends. Inference
 * blocks its thread, so it must not run on the main thread.
 */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import { formatFen, MAX_MOVES, type Move, type Position, parseFen } from '../../chess/rules/index.js';
import { type HistoryFill, type InputEncoding, transformSquare } from '../encoding/index.js';
import {
  type BackendPlan,
  type Evaluator,
  evaluatorFactory,
  loadModel,
  type Model,
  type ModelSource,
} from '../nn/index.js';

/** One evaluation, from the view of the player to move. */
export interface Opinion {
  readonly valueWl: number;
  readonly valueD: number;
  /** Priors of the legal moves, in the order of `moves`; they sum to 1. */
  readonly priors: Float32Array;
}

export interface Occlusion {
  readonly network: string;
  readonly moves: readonly Move[];
  readonly whole: Opinion;
  /** Index = square, a1 = 0: the evaluation with that square empty. */
  readonly withoutSquare: readonly Opinion[];
  /** The evaluation without earlier positions; null if there are none. */
  readonly withoutHistory: Opinion | null;
}

export interface OcclusionTask {
  /** Tried in order until one works. */
  readonly plans: readonly BackendPlan[];
  readonly model: ModelSource;
  /** With castling rights in Shredder-FEN. */
  readonly rootFen: string;
  readonly moves: readonly Move[];
  readonly historyFill: HistoryFill;
  readonly policyTemperature: number;
}

const SQUARES = 64;
const MIRRORED_RANKS = 56;

interface OccludingEncoding extends InputEncoding {
  /** The square to empty, as seen by White; null = none. */
  square: number | null;
}

/** Empties one square in the planes of another encoding. Planes that are equal everywhere (side to move, castling, counts) stay. */
function createOccludingEncoding(inner: InputEncoding): OccludingEncoding {
  const encoding: OccludingEncoding = {
    ...inner,
    square: null,
    writePacked(position, fill, masks, maskOffset, values, valueOffset) {
      const transform = inner.writePacked(position, fill, masks, maskOffset, values, valueOffset);
      if (encoding.square === null) return transform;
      const seen = position.sideToMove === 1 ? encoding.square ^ MIRRORED_RANKS : encoding.square;
      const square = transformSquare(seen, transform);
      for (let i = maskOffset; i < maskOffset + 2 * inner.planes; i += 2) {
        if (masks[i] === 0xffffffff && masks[i + 1] === 0xffffffff) continue;
        masks[i + (square >> 5)] &= ~(1 << (square & 31));
      }
      return transform;
    },
  };
  return encoding;
}

/** Evaluates with the first plan that works. */
async function explain(task: OcclusionTask): Promise<Result<Occlusion>> {
  const model = await loadModel(task.model);
  if (!model.ok) return model;
  const position = unwrap(parseFen(task.rootFen));
  for (const move of task.moves) position.makeMove(move);
  const encoding = createOccludingEncoding(model.value.format.inputEncoding);
  const occluded: Model = { ...model.value, format: { ...model.value.format, inputEncoding: encoding } };
  let problem: unknown;
  for (const plan of task.plans) {
    try {
      const evaluator = await evaluatorFactory.create(plan, occluded, 0);
      try {
        return success({ network: model.value.title, ...(await askAbout(evaluator, encoding, position, task)) });
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
  { historyFill, policyTemperature }: OcclusionTask,
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
  encoding.square = null;
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

postToParent(await explain(await getThreadData<OcclusionTask>()));
endThread();
