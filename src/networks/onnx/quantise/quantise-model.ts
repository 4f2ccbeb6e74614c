/**
 * A network in 8 bits for the CPU: ranges from sample positions, rounded layers, and how far its answers are from those in single
 * precision. CPUs with 8-bit dot products (VNNI, ARM's dotprod) compute such layers up to four times as fast. Other CPUs overflow with
 * 8-bit weights (`addsWidely`), and gain nothing over Winograd convolutions.
 */
import { getCoreCount } from '#platform/machine.js';
import { failure, type Result, success } from '../../../base/util/index.js';
import {
  decodeModel,
  type ExactAnswer,
  encodeModel,
  loadModel,
  type Model,
  openOnCpu,
  readExactAnswer,
  runSession,
} from '../../nn/index.js';
import { findLayers, measureRanges } from './layer-statistics.js';
import { quantiseLayers } from './quantise-layers.js';
import { COMPARED_PLY, createSamples, RANGE_PLY, type SampleBatch } from './sample-positions.js';

/** How far the answers of two networks are apart, over sample positions. */
export interface Difference {
  readonly positions: number;
  /** Share of the positions with the same most probable move. */
  readonly sameMove: number;
  /** Mean Kullback-Leibler divergence of the policies over the legal moves. */
  readonly divergence: number;
  /** Mean difference of W − L. */
  readonly value: number;
}

/**
 * @param bytes an ONNX model in single precision; its layers must be ONNX's own operators to be rounded
 * @returns the model and its difference from `bytes`; fails with the rest of a sentence for a network that has nothing to round
 */
export async function quantiseModel(bytes: Uint8Array): Promise<Result<{ onnx: Uint8Array; difference: Difference }>> {
  const loaded = await loadModel({ bytes, name: 'the network' });
  const model = decodeModel(bytes);
  if (!loaded.ok || model === undefined) return failure('it cannot be read as an ONNX model');
  const { format } = loaded.value;
  if (format.input.isFloat16 || format.fixedBatch !== null)
    return failure('its inputs have half precision or a fixed batch');
  const layers = findLayers(model.graph, format.input.name);
  if (layers.length === 0) return failure('it has no layers between its first and its heads that 8 bits suit');
  const samples = createSamples(format, RANGE_PLY);
  const { ranges, large } = await measureRanges(bytes, format.input.name, layers, samples);
  if (large.length === 0) return failure('its layers are too small');
  quantiseLayers(model.graph, large, ranges);
  const opsetImport = [
    ...(model.opsetImport ?? []).filter(({ domain }) => domain !== 'com.microsoft'),
    { domain: 'com.microsoft', version: 1 },
  ];
  const metadataProps = [
    ...(model.metadataProps ?? []).filter(({ key }) => key !== 'sardonyx.precision'),
    { key: 'sardonyx.precision', value: 'int8' },
  ];
  const onnx = encodeModel({ ...model, opsetImport, metadataProps });
  return success({ onnx, difference: await compareAnswers(bytes, onnx, format) });
}

async function compareAnswers(exact: Uint8Array, rounded: Uint8Array, format: Model['format']): Promise<Difference> {
  const samples = createSamples(format, COMPARED_PLY);
  const [a, b] = [await computeAnswers(exact, format, samples), await computeAnswers(rounded, format, samples)];
  const positions = a.length;
  let same = 0;
  let divergence = 0;
  let value = 0;
  for (const [i, { priors, valueWl }] of a.entries()) {
    const other = b[i];
    if (findGreatest(priors) === findGreatest(other.priors)) same++;
    for (const [j, share] of priors.entries())
      divergence += share === 0 ? 0 : share * Math.log(share / other.priors[j]);
    value += Math.abs(valueWl - other.valueWl);
  }
  return { positions, sameMove: same / positions, divergence: divergence / positions, value: value / positions };
}

function findGreatest(numbers: readonly number[]): number {
  return numbers.indexOf(Math.max(...numbers));
}

async function computeAnswers(
  bytes: Uint8Array,
  format: Model['format'],
  samples: readonly SampleBatch[],
): Promise<ExactAnswer[]> {
  const { input, policy, value } = format;
  const answers: ExactAnswer[] = [];
  const session = await openOnCpu(bytes, getCoreCount());
  try {
    for (const { rows, planes, moves } of samples) {
      const feeds = { [input.name]: { data: planes, dims: [rows, ...input.shape] } };
      const results = await runSession(session, feeds, [policy.name, value.name]);
      for (const [row, indices] of moves.entries()) answers.push(readExactAnswer(format, results, row, indices));
    }
  } finally {
    await session.release();
  }
  return answers;
}
