/**
 * SE-ResNets with seeded random weights: the tiny test network (models/tiny-test.onnx, see scripts/lab/models/make-random.mjs)
 * and its variants. Shape and names are those of a real network of ours: lc0-112 in, a convolutional policy of 80
 * planes gathered into lc0-1858, WDL, moves left; the rule-50 plane is scaled inside the graph.
 */
import { createPrng } from '#sardonyx/base/util/index.js';
import { FLOAT16, FLOAT32, OnnxWriter } from './onnx-writer.js';

export interface RandomNetworkOptions {
  readonly seed: number;
  readonly filters: number;
  readonly blocks: number;
  /** Channels of the squeeze; 0 for plain residual blocks. */
  readonly squeeze: number;
  readonly value: 'softmax' | 'logits' | 'scalar';
  readonly movesLeft: boolean;
  /** Only fixed batches of this size; 0 for any. */
  readonly batch: number;
  /** Half floats at the input and outputs (the weights stay as they are). */
  readonly float16: boolean | 'outputs';
  /** false: no metadata_props at all. */
  readonly metadata: boolean;
}

export const TINY: RandomNetworkOptions = {
  seed: 1,
  filters: 16,
  blocks: 2,
  squeeze: 4,
  value: 'softmax',
  movesLeft: true,
  batch: 0,
  float16: false,
  metadata: true,
};

const PLANES = 112;
const RULE50_PLANE = 109;
const POLICY_PLANES = 80;

export function createRandomNetwork(options: RandomNetworkOptions): Uint8Array {
  const { filters, blocks, squeeze } = options;
  const batch = options.batch > 0 ? options.batch : 'batch';
  const prng = createPrng(options.seed);
  const onnx = new OnnxWriter();
  /** Uniform weights with the variance that keeps activations in range behind a ReLU. */
  const random = (shape: readonly number[], fanIn: number, gain = 1): string => {
    const values = new Float32Array(shape.reduce((product, size) => product * size, 1));
    const range = gain * Math.sqrt(6 / fanIn);
    for (let i = 0; i < values.length; i++) values[i] = (prng.nextFloat() * 2 - 1) * range;
    return onnx.floats(shape, values);
  };
  const convolve = (x: string, from: number, to: number, size: number): string => {
    const pad = (size - 1) / 2;
    const weights = [random([to, from, size, size], from * size * size), random([to], 1, 0.02)];
    return onnx.node('Conv', [x, ...weights], { kernel_shape: [size, size], pads: [pad, pad, pad, pad] });
  };
  const dense = (x: string, from: number, to: number): string =>
    onnx.node('Gemm', [x, random([from, to], from), random([to], 1, 0.02)]);
  const relu = (x: string): string => onnx.node('Relu', [x]);
  const flatten = (x: string): string => onnx.node('Flatten', [x], { axis: 1 });

  const scale = new Float32Array(PLANES).fill(1);
  scale[RULE50_PLANE] = 1 / 99;
  const elementType = options.float16 ? FLOAT16 : FLOAT32;
  const hasHalfInput = options.float16 === true;
  const input = onnx.input('/input/planes', [batch, PLANES, 8, 8], hasHalfInput ? FLOAT16 : FLOAT32);
  const planes = hasHalfInput ? onnx.node('Cast', [input], { to: FLOAT32 }) : input;
  const output = (name: string, width: number, operator: string, x: readonly string[], attributes = {}): void => {
    if (options.float16) onnx.node('Cast', [onnx.node(operator, x, attributes)], { to: FLOAT16 }, name);
    else onnx.node(operator, x, attributes, name);
    onnx.output(name, [batch, width], elementType);
  };
  let x = onnx.node('Mul', [planes, onnx.floats([1, PLANES, 1, 1], scale)]);
  x = relu(convolve(x, PLANES, filters, 3));
  for (let block = 0; block < blocks; block++) {
    let y = convolve(relu(convolve(x, filters, filters, 3)), filters, filters, 3);
    if (squeeze > 0) {
      const pooled = flatten(onnx.node('GlobalAveragePool', [y]));
      const excited = onnx.node('Sigmoid', [dense(relu(dense(pooled, filters, squeeze)), squeeze, filters)]);
      y = onnx.node('Mul', [y, onnx.node('Reshape', [excited, onnx.integers([4], [-1, filters, 1, 1])])]);
    }
    x = relu(onnx.node('Add', [x, y]));
  }

  const policy = flatten(convolve(relu(convolve(x, filters, filters, 3)), filters, POLICY_PLANES, 3));
  const gather = createPolicyMap();
  const indices = onnx.integers([gather.length], gather);
  output('/output/policy', gather.length, 'Gather', [policy, indices], { axis: 1 });

  const head = (channels: number, hidden: number): string =>
    relu(dense(flatten(relu(convolve(x, filters, channels, 1))), channels * 64, hidden));
  if (options.value === 'scalar') {
    output('/output/value', 1, 'Tanh', [dense(head(4, 32), 32, 1)]);
  } else {
    const logits = dense(head(4, 32), 32, 3);
    if (options.value === 'softmax') output('/output/wdl', 3, 'Softmax', [logits], { axis: 1 });
    else output('/output/wdl', 3, 'Identity', [logits]);
  }
  if (options.movesLeft) {
    const plies = onnx.node('Mul', [dense(head(2, 16), 16, 1), onnx.floats([1], new Float32Array([20]))]);
    output('/output/mlh', 1, 'Relu', [plies]);
  }
  const value: Record<string, string> =
    options.value === 'scalar'
      ? { 'sardonyx.value': 'scalar', 'sardonyx.value.activation': 'tanh' }
      : { 'sardonyx.value': 'wdl', 'sardonyx.value.activation': options.value };
  return onnx.finish(
    options.metadata
      ? {
          'sardonyx.input': 'lc0-112',
          'sardonyx.policy': 'lc0-1858',
          ...value,
          'sardonyx.name': `random ${filters}x${blocks}`,
          'sardonyx.licence': 'CC0-1.0',
          'sardonyx.training': `none: random weights, seed ${options.seed}`,
        }
      : {},
  );
}

/** Index into [80 planes][64 squares] of each of the 1858 policy entries; lc0's plane order. */
function createPolicyMap(): number[] {
  const directions = [
    [0, 1], [1, 1], [1, 0], [1, -1], [0, -1], [-1, -1], [-1, 0], [-1, 1],
  ]; // biome-ignore format: one compass
  const knights = [
    [1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2],
  ]; // biome-ignore format: one compass
  const map: number[] = [];
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) {
      const dx = (to & 7) - (from & 7);
      const dy = (to >> 3) - (from >> 3);
      const distance = Math.max(Math.abs(dx), Math.abs(dy));
      const queen = directions.findIndex(([x, y]) => x * distance === dx && y * distance === dy);
      const knight = knights.findIndex(([x, y]) => x === dx && y === dy);
      if (from === to || (queen < 0 && knight < 0)) continue;
      const plane = queen >= 0 ? queen * 7 + distance - 1 : 56 + knight;
      map.push(plane * 64 + from);
    }
  }
  for (let file = 0; file < 8; file++) {
    for (let to = Math.max(0, file - 1); to <= Math.min(7, file + 1); to++) {
      // Queen, rook, bishop; planes 64 to 72 are (left, straight, right) x (rook, bishop, queen).
      for (const piece of [2, 0, 1]) map.push((64 + (to - file + 1) * 3 + piece) * 64 + 48 + file);
    }
  }
  return map;
}
