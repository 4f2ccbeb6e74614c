/**
 * Class activation maps: which squares of a network's last feature maps speak for a move, or for the player to move. Each feature map
 * is weighted by the mean gradient of the target with respect to it, and negative sums are set to 0 (Grad-CAM: Selvaraju et al.,
 * 2017). ONNX Runtime gives no gradients here, so finite differences take their place: the heads alone run on the body's
 * output with one feature map raised a little, and lowered.
 */
import { failure, type Result, success } from '../../base/util/index.js';
import { listLegalMoves, type Move, type Position } from '../../chess/rules/index.js';
import { expandPlanes, type HistoryFill, transformSquare } from '../encoding/index.js';
import {
  type ExactAnswer,
  findBody,
  loadModel,
  type Model,
  type ModelSource,
  openOnCpu,
  type RunTensor,
  readExactAnswer,
  runSession,
} from '../nn/index.js';

export interface ClassActivation extends ExactAnswer {
  readonly network: string;
  readonly moves: readonly Move[];
  /** For each square, a1 = 0, not below 0: of the move's log-probability, and of W − L. */
  readonly policy: readonly number[];
  readonly value: readonly number[];
}

/** Step of the finite differences, over the root mean square of the features. */
const STEP = 0.01;
/** ONNX Runtime's basic graph optimisations. */
const OPTIMIZATION = 1;

/**
 * @param chooseMove index of the move to explain, by the moves and their priors
 * @returns a failure for networks that are not in single precision, or whose body gives no feature maps of 64 squares
 */
export async function computeClassActivation(
  source: ModelSource,
  position: Position,
  historyFill: HistoryFill,
  chooseMove: (moves: readonly Move[], priors: readonly number[]) => number,
): Promise<Result<ClassActivation>> {
  const loaded = await loadModel(source);
  if (!loaded.ok) return loaded;
  const model = loaded.value;
  const problem = describeUnfit(model);
  if (problem !== null) return failure(`The network ${model.path} ${problem}`);
  const { input, policy, value } = model.format;
  // Loaded late: who asks for occlusion alone needs no graphs.
  const { cutBehindBody, takeBody } = await import('../onnx/index.js');
  const { phases } = model.format;
  const bytes = phases.length === 0 ? model.bytes : takeBody(model.bytes, findBody(phases, position));
  const cut = cutBehindBody(bytes, input.name, [policy.name, value.name]);
  if (cut === undefined) return failure(`The network ${model.path} has no single tensor between body and heads`);
  const { planes, transform, moves, indices } = encode(model, position, historyFill);
  const read = (results: Readonly<Record<string, RunTensor>>): ExactAnswer =>
    readExactAnswer(model.format, results, 0, indices);
  const whole = await openOnCpu(cut.whole, 1, model.weightsFolder, OPTIMIZATION);
  let features: RunTensor;
  let answer: ExactAnswer;
  try {
    const feeds = { [input.name]: { data: planes, dims: [1, ...input.shape] } };
    const results = await runSession(whole, feeds, [cut.tensor, policy.name, value.name]);
    const { data, dims } = results[cut.tensor];
    features = { data: Float32Array.from(data), dims };
    answer = read(results);
  } finally {
    await whole.release();
  }
  const axes = findSquareAxes(features.dims);
  if (axes === null) {
    return failure(`The body of ${model.path} ends in a tensor of ${features.dims.join(' × ')}, without 64 squares`);
  }
  const move = chooseMove(moves, answer.priors);
  const session = await openOnCpu(cut.createHeads(features.dims), 1, model.weightsFolder, OPTIMIZATION);
  try {
    const fixed = cut.readsInput ? { [input.name]: { data: planes, dims: [1, ...input.shape] } } : {};
    const ask = async (data: Float32Array): Promise<ExactAnswer> => {
      const feeds = { ...fixed, [cut.tensor]: { data, dims: features.dims } };
      return read(await runSession(session, feeds, [policy.name, value.name]));
    };
    const maps = await weigh(features, axes, move, ask);
    const toBoard = (map: Float64Array): number[] => {
      const flip = position.sideToMove === 1 ? 56 : 0;
      return Array.from({ length: 64 }, (_, square) => Math.max(0, map[transformSquare(square ^ flip, transform)]));
    };
    return success({
      network: model.title,
      moves,
      ...answer,
      policy: toBoard(maps.policy),
      value: toBoard(maps.value),
    });
  } finally {
    await session.release();
  }
}

function describeUnfit({ precision, format }: Model): string | null {
  if (precision !== 'fp32' || format.input.isFloat16) {
    return `is in ${precision}; gradients need single precision (--backend-opts=datatype=f32, or another file)`;
  }
  return format.fixedBatch !== null && format.fixedBatch !== 1 ? 'has a fixed batch size' : null;
}

function encode(model: Model, position: Position, historyFill: HistoryFill) {
  const { inputEncoding, policyEncoding } = model.format;
  const masks = new Uint32Array(2 * inputEncoding.planes);
  const values = new Float32Array(inputEncoding.planes);
  const planes = new Float32Array(inputEncoding.planes * 64);
  const transform = inputEncoding.writePacked(position, historyFill, masks, 0, values, 0);
  expandPlanes(masks, 0, values, 0, inputEncoding.planes, planes, 0);
  const moves = listLegalMoves(position);
  const indices = moves.map((move): number => policyEncoding.moveToIndex(position, move, transform));
  return { planes, transform, moves, indices };
}

interface SquareAxes {
  /** A number's index is (outer · 64 + square) · inner + rest; its channel is outer · inner + rest. */
  readonly inner: number;
  readonly channels: number;
}

/** Where a tensor of one position has its squares: in the third and fourth axis or two other neighbours of 8, else the first of 64. */
export function findSquareAxes(dims: readonly number[]): SquareAxes | null {
  const multiply = (sizes: readonly number[]): number => sizes.reduce((product, size) => product * size, 1);
  const isPair = (i: number): boolean => dims[i] === 8 && dims[i + 1] === 8;
  const pair = isPair(2) ? 2 : dims.findIndex((_, i) => isPair(i));
  const single = dims.indexOf(64);
  if (pair < 0 && single < 0) return null;
  const inner = multiply(pair >= 0 ? dims.slice(pair + 2) : dims.slice(single + 1));
  return { inner, channels: multiply(dims) / 64 };
}

/** The weighted sums of the feature maps, by squares as the network sees them. */
async function weigh(
  { data }: RunTensor,
  { inner, channels }: SquareAxes,
  move: number,
  ask: (features: Float32Array) => Promise<ExactAnswer>,
): Promise<{ policy: Float64Array; value: Float64Array }> {
  const maps = { policy: new Float64Array(64), value: new Float64Array(64) };
  const step = STEP * Math.sqrt(data.reduce((sum, x) => sum + x * x, 0) / data.length) || STEP;
  const place = (channel: number, square: number): number =>
    (Math.floor(channel / inner) * 64 + square) * inner + (channel % inner);
  for (let channel = 0; channel < channels; channel++) {
    const [up, down] = [step, -step].map((change) => {
      const changed = Float32Array.from(data);
      for (let square = 0; square < 64; square++) changed[place(channel, square)] += change;
      return changed;
    });
    const [higher, lower] = [await ask(up), await ask(down)];
    const policySlope = (Math.log(higher.priors[move]) - Math.log(lower.priors[move])) / (2 * step * 64);
    const valueSlope = (higher.valueWl - lower.valueWl) / (2 * step * 64);
    for (let square = 0; square < 64; square++) {
      maps.policy[square] += policySlope * data[place(channel, square)];
      maps.value[square] += valueSlope * data[place(channel, square)];
    }
  }
  return maps;
}
