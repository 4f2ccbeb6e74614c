/**
 * Finds out whether rank convolutions work on this CPU, and with which channel block. ONNX Runtime does not tell the block size,
 * so one small convolution is computed both ways and compared. If anything goes wrong, such as a new layout or a CPU without
 * blocked operators, the answer is 0 and ONNX's convolutions are used.
 */

import { hasX64Kernels } from '#platform/machine.js';
import { createPrng } from '../../../base/util/index.js';
import { runOnCpu } from '../../nn/index.js';
import { DEFAULT_BUILD_OPTIONS } from './build-onnx.js';
import { GraphBuilder } from './graph-builder.js';
import { type ConvolutionLayer, fromFloats, type NetworkPlan } from './network-layers.js';
import { PRODUCTS, RankConvolutions } from './rank-convolutions.js';
import { PlaneConvolutions } from './residual-tower.js';
import { writeModel } from './write-model.js';

/** AVX-512, AVX. */
const BLOCKS = [16, 8];
const TOLERANCE = 1e-4;
const BATCH = 2;
/** Filters grow to 10/3 of their size. Above this limit they take too much memory. */
const MAX_FILTER_BYTES = 512 * 2 ** 20;

let found: Promise<number> | undefined;

/** @returns the channel block, or 0 if none works; never rejects */
export function findChannelBlock(): Promise<number> {
  found ??= probeBlocks();
  return found;
}

/** Rank convolutions need a tower without attention whose widths are multiples of the block. */
export function suitsChannelBlock(plan: NetworkPlan, block: number): boolean {
  const { convolutionBody: body, attentionBody, policy } = plan;
  if (!body || attentionBody) return false;
  const layers = [body.input, ...body.blocks.flatMap(({ first, second }) => [first, second])];
  if (policy.kind === 'convolution') layers.push(policy.first);
  const floats = layers.reduce((sum, { inputs, outputs }) => sum + 3 * PRODUCTS * inputs * outputs, 0);
  return (
    layers.every(({ inputs, outputs }) => inputs % block === 0 && outputs % block === 0) &&
    4 * floats <= MAX_FILTER_BYTES
  );
}

async function probeBlocks(): Promise<number> {
  // ARM has blocked operators too, but nobody has measured whether they are faster there.
  if (!hasX64Kernels()) return 0;
  for (const block of BLOCKS) if (await worksWith(block)) return block;
  return 0;
}

async function worksWith(block: number): Promise<boolean> {
  const prng = createPrng(1);
  const createValues = (length: number): Float32Array =>
    Float32Array.from({ length }, () => prng.nextBelow(1000) / 1000 - 0.5);
  const channels = 2 * block;
  const layer: ConvolutionLayer = {
    inputs: channels,
    outputs: channels,
    kernel: 3,
    weights: fromFloats(createValues(9 * channels * channels)),
    biases: fromFloats(createValues(channels)),
  };
  const graph = new GraphBuilder(DEFAULT_BUILD_OPTIONS);
  const shape = [-1, channels, 8, 8];
  const dims = [BATCH, ...shape.slice(1)];
  const input = graph.addInput('input', shape);
  const ranks = new RankConvolutions(graph, block);
  const flow = ranks.addConvolution(ranks.addEntry(input, channels, 'ranks'), layer, 'ranks/conv');
  const fromRanks = ranks.addExit(flow, channels, 'ranks');
  graph.addOutput(fromRanks, shape);
  const fromPlanes = new PlaneConvolutions(graph).addConvolution(input, layer, 'planes/conv');
  graph.addOutput(fromPlanes, shape);
  try {
    const model = writeModel({ irVersion: 8, opsetImport: graph.listOperatorSets() }, graph);
    const feeds = { input: { data: createValues(BATCH * channels * 64), dims } };
    const [a, b] = await runOnCpu(model, feeds, { [fromRanks]: dims, [fromPlanes]: dims });
    return a.every((value, i) => Math.abs(value - b[i]) <= TOLERANCE);
  } catch {
    return false;
  }
}
