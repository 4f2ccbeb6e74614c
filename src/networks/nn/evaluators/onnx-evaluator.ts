/**
 * The evaluator of real networks: it encodes positions into one input tensor, runs the session, and reads policy, value and
 * moves left. Input and output tensors are created once for each batch size and reused, so a run allocates almost nothing.
 */
import type { NamedTensors, RuntimeSession, RuntimeTensor } from '#platform/onnx-runtime.js';
import { createPrng, drawGamma, encodeFloat16, FLOAT16_INFINITY, mixSeeds } from '../../../base/util/index.js';
import { MAX_MOVES, type Move, type Position } from '../../../chess/rules/index.js';
import { createRandomSymmetry, expandPlanes, type HistoryFill, type InputEncoding } from '../../encoding/index.js';
import type { OnnxPlan } from '../backend/backend-plan.js';
import type { Model } from '../model/model-file.js';
import { findBody, type NetworkFormat, type TensorPort } from '../model/network-format.js';
import type { Evaluator } from './evaluator.js';
import { openModelSession } from './onnx-sessions.js';
import { type HeadOutput, readScalar, readWdlInto, writePolicyInto } from './value-head.js';

/** Alpha of AlphaZero's Dirichlet noise in chess. */
const NOISE_ALPHA = 0.3;

/** AZ-Go adds Dirichlet noise at every node. Here a hash of the position draws it, so that cached and new answers are the same. */
function addNoise(priors: Float32Array, count: number, share: number, seed: number): void {
  const random = createPrng(seed);
  const samples = Float64Array.from({ length: count }, () => drawGamma(NOISE_ALPHA, random));
  const total = samples.reduce((sum, sample) => sum + sample, 0);
  if (total < Number.MIN_VALUE) return;
  for (let i = 0; i < count; i++) priors[i] = (1 - share) * priors[i] + (share * samples[i]) / total;
}

/** The tensors of one call: rows `start` to `start + rows − 1` of the evaluator's arrays. */
interface Call {
  readonly feeds: NamedTensors;
  readonly fetches: NamedTensors;
}

export async function createOnnxEvaluator(model: Model, plan: OnnxPlan, worker: number): Promise<Evaluator> {
  const session = await openModelSession(model, plan, plan.devices[worker % plan.devices.length]);
  const evaluator = new OnnxEvaluator(session, model.format, plan);
  await evaluator.tryOut();
  return evaluator;
}

class OnnxEvaluator implements Evaluator {
  readonly backend: string;
  readonly mostRows: number;
  readonly isInstant = false;
  valueWl = new Float32Array(0);
  valueD = new Float32Array(0);
  movesLeft = new Float32Array(0);

  /** As in `OnnxPlan`; batches have at least leastRows. */
  private readonly batchSizes: readonly number[];
  private readonly leastRows: number;
  private readonly calls = new Map<number, Call>();
  private readonly masks: Uint32Array;
  private readonly planeValues: Float32Array;
  /** Input of all rows; if the network takes half precision, of one row before its conversion. */
  private input = new Float32Array(0);
  private halfInput = new Uint16Array(0);
  private policy: HeadOutput = { width: 0, data: new Float32Array(0) };
  private value: HeadOutput = this.policy;
  private plies: HeadOutput = this.policy;
  private policyIndices = new Uint16Array(0);
  /** For a network with several bodies: the body of each position, and the row of the tensors that holds it. */
  private bodies = new Uint8Array(0);
  private places = new Int32Array(0);
  /** Per row, what decides its noise. */
  private noiseSeeds = new Int32Array(0);
  private readonly encoding: InputEncoding;
  private readonly format: NetworkFormat;

  constructor(
    private readonly session: RuntimeSession,
    format: NetworkFormat,
    private readonly plan: OnnxPlan,
  ) {
    this.format = plan.usesMovesLeft ? format : { ...format, movesLeft: null };
    this.backend = plan.provider;
    this.mostRows = plan.mostRows;
    this.batchSizes = format.fixedBatch === null ? plan.batchSizes : [format.fixedBatch];
    this.leastRows = format.fixedBatch === null ? plan.leastRows : 1;
    const { inputEncoding } = format;
    this.encoding = plan.symmetrySeed > 0 ? createRandomSymmetry(inputEncoding, plan.symmetrySeed) : inputEncoding;
    this.masks = new Uint32Array(2 * format.inputEncoding.planes);
    this.planeValues = new Float32Array(format.inputEncoding.planes);
  }

  reserve(rows: number): void {
    const { format } = this;
    // The last body's call may be padded, too.
    const capacity = this.padRows(rows) + (format.phases.length === 0 ? 0 : rows);
    const rowFloats = format.inputEncoding.planes * 64;
    this.input = new Float32Array(format.input.isFloat16 ? rowFloats : capacity * rowFloats);
    this.halfInput = new Uint16Array(format.input.isFloat16 ? capacity * rowFloats : 0);
    this.policy = createHead(format.policy, format.policyEncoding.size, capacity);
    this.value = createHead(format.value, format.valueKind === 'scalar' ? 1 : 3, capacity);
    if (format.movesLeft !== null) this.plies = createHead(format.movesLeft, 1, capacity);
    this.policyIndices = new Uint16Array(capacity * MAX_MOVES);
    this.noiseSeeds = new Int32Array(capacity);
    this.bodies = new Uint8Array(capacity);
    this.places = Int32Array.from({ length: capacity }, (_, row) => row);
    this.valueWl = new Float32Array(capacity);
    this.valueD = new Float32Array(capacity);
    this.movesLeft = new Float32Array(capacity);
    this.calls.clear();
  }

  setRow(row: number, position: Position, moves: Uint16Array, offset: number, count: number, fill: HistoryFill): void {
    const { policyEncoding, input: port } = this.format;
    const { masks, planeValues, input, policyIndices, encoding } = this;
    const planes = encoding.planes;
    const transform = encoding.writePacked(position, fill, masks, 0, planeValues, 0);
    if (port.isFloat16) {
      expandPlanes(masks, 0, planeValues, 0, planes, input, 0);
      const start = row * planes * 64;
      for (let i = 0; i < input.length; i++) this.halfInput[start + i] = encodeFloat16(input[i], FLOAT16_INFINITY);
    } else {
      expandPlanes(masks, 0, planeValues, 0, planes, input, row * planes * 64);
    }
    const { phases } = this.format;
    if (phases.length > 0) this.bodies[row] = findBody(phases, position);
    this.noiseSeeds[row] = position.keyLow ^ Math.imul(position.keyHigh, 0x9e3779b1);
    const first = row * MAX_MOVES;
    for (let i = 0; i < count; i++) {
      policyIndices[first + i] = policyEncoding.moveToIndex(position, moves[offset + i] as Move, transform);
    }
  }

  /**
   * Evaluates empty boards in each batch size, so that a network that fails or never answers is found before a search waits for
   * it, and so that no search waits while the provider prepares itself for a new size.
   */
  async tryOut(): Promise<void> {
    const largest = this.padRows(this.mostRows);
    for (const size of this.batchSizes.length > 0 ? this.batchSizes : [1]) {
      if (size > largest) break;
      this.reserve(size);
      const { feeds, fetches } = this.getCall(0, this.padRows(size));
      await this.session.run(feeds, fetches);
    }
  }

  async run(rows: number): Promise<void> {
    const { fixedBatch, phases } = this.format;
    if (phases.length > 0) this.sortByBody(rows);
    for (let start = 0; start < rows; ) {
      const count = Math.min(this.countBody(start, rows), fixedBatch ?? rows);
      const { feeds, fetches } = this.getCall(start, this.padRows(count));
      await this.session.run(feeds, fetches);
      start += count;
    }
    this.readValues(rows);
  }

  /** Puts the rows of each body side by side. */
  private sortByBody(rows: number): void {
    const { bodies, places, format } = this;
    const { planes } = format.inputEncoding;
    const order = Array.from({ length: rows }, (_, row) => row);
    const isSorted = order.every((row) => row === 0 || bodies[row - 1] <= bodies[row]);
    if (!isSorted) order.sort((a, b) => bodies[a] - bodies[b]);
    order.forEach((row, place) => {
      places[row] = place;
    });
    if (isSorted) return;
    const data = format.input.isFloat16 ? this.halfInput : this.input;
    const given = data.slice(0, rows * planes * 64);
    order.forEach((row, place) => {
      data.set(given.subarray(row * planes * 64, (row + 1) * planes * 64), place * planes * 64);
    });
    bodies.subarray(0, rows).sort();
  }

  /** Rows from `start` on that belong to one body. */
  private countBody(start: number, rows: number): number {
    const { bodies } = this;
    let end = start;
    while (end < rows && bodies[end] === bodies[start]) end++;
    return end - start;
  }

  writePriorsInto(out: Float32Array, row: number, count: number, policyTemperature: number): void {
    writePolicyInto(out, this.policy, this.places[row], this.policyIndices, row * MAX_MOVES, count, policyTemperature);
    const { share, seed } = this.plan.noise;
    if (share > 0) addNoise(out, count, share, mixSeeds(seed, this.noiseSeeds[row]));
  }

  async dispose(): Promise<void> {
    await this.session.release();
  }

  private padRows(rows: number): number {
    const least = Math.max(rows, this.leastRows);
    const step = this.batchSizes[this.batchSizes.length - 1] ?? 1;
    return this.batchSizes.find((size) => size >= least) ?? Math.ceil(least / step) * step;
  }

  private readValues(rows: number): void {
    const { valueWl, valueD, movesLeft, value, plies, format, places } = this;
    for (let row = 0; row < rows; row++) {
      const place = places[row];
      if (format.valueKind === 'scalar') {
        valueWl[row] = readScalar(value, place);
        valueD[row] = 0;
      } else {
        readWdlInto(value, place, format.valueKind === 'wdl-logits', valueWl, valueD, row);
      }
      movesLeft[row] = format.movesLeft === null ? 0 : Math.max(0, readScalar(plies, place));
      // A NaN would spread through the whole tree.
      if (Number.isNaN(valueWl[row] + valueD[row] + movesLeft[row])) throw new Error('the network gave NaN');
    }
  }

  private getCall(start: number, rows: number): Call {
    const key = start * 65536 + rows;
    const known = this.calls.get(key);
    if (known !== undefined) return known;
    const { input, policy, value, movesLeft } = this.format;
    const inputData = input.isFloat16 ? this.halfInput : this.input;
    const fetches: Record<string, RuntimeTensor> = {
      [policy.name]: this.createTensor(this.policy.data, policy, start, rows),
      [value.name]: this.createTensor(this.value.data, value, start, rows),
    };
    if (movesLeft !== null) fetches[movesLeft.name] = this.createTensor(this.plies.data, movesLeft, start, rows);
    const call = { feeds: { [input.name]: this.createTensor(inputData, input, start, rows) }, fetches };
    this.calls.set(key, call);
    return call;
  }

  /** A view of `rows` rows from row `start` on. */
  private createTensor(data: Float32Array | Uint16Array, port: TensorPort, start: number, rows: number): RuntimeTensor {
    const rowLength = port.shape.reduce((product, size) => product * size, 1);
    const part = data.subarray(start * rowLength, (start + rows) * rowLength);
    return this.session.createTensor(part, [rows, ...port.shape]);
  }
}

function createHead(port: TensorPort, width: number, rows: number): HeadOutput {
  return { width, data: port.isFloat16 ? new Uint16Array(rows * width) : new Float32Array(rows * width) };
}
