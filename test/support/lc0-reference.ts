/**
 * What an lc0 network computes, written as plainly as possible from the facts (BatchNorm not folded, dense layers as
 * sums, every intermediate as an array of numbers), to compare the ONNX graphs with. Slow and obvious on purpose; it
 * shares nothing with `src/networks/lc0`.
 */
import type {
  ConvBlock,
  EncoderLayers,
  FfnLayers,
  Layer,
  NetworkFile,
  PolicyLayers,
  SmolgenLayers,
  ValueLayers,
} from './lc0-network-file.js';

export interface ReferenceOutput {
  policy: Float64Array;
  /** Win, draw, loss; or one value. */
  value: Float64Array;
  movesLeft: number | undefined;
}

/** Rows of numbers; for convolutional maps a row is a channel of 64 squares, in attention bodies a row is a square. */
type Rows = Float64Array[];
type Activate = (x: number) => number;

const relu: Activate = (x) => Math.max(0, x);
const mish: Activate = (x) => x * Math.tanh(Math.log1p(Math.exp(x)));
const selu: Activate = (x) => 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * Math.expm1(x));
/** Values of pblczero ActivationFunction; 9, softmax, is not elementwise. */
const ACTIVATIONS: Readonly<Record<number, Activate>> = {
  1: mish,
  2: relu,
  3: (x) => x,
  4: Math.tanh,
  5: (x) => 1 / (1 + Math.exp(-x)),
  6: selu,
  7: (x) => x / (1 + Math.exp(-x)),
  8: (x) => relu(x) ** 2,
};

export interface ReferenceHeads {
  policy?: 'vanilla' | 'optimisticSt' | 'soft' | 'opponent';
  value?: 'winner' | 'q' | 'st';
}

/** @param planes 112×64 values. */
export function computeReference(file: NetworkFile, planes: Float32Array, heads: ReferenceHeads = {}): ReferenceOutput {
  const { weights } = file;
  const format = file.format ?? {};
  const activation = format.defaultActivation === 1 ? mish : relu;
  const isDenseEmbedding = format.inputEmbedding === 2;
  const hasEncoders = (weights.encoder?.length ?? 0) > 0;

  let maps: Rows = Array.from({ length: 112 }, (_, plane) =>
    Float64Array.from(planes.subarray(plane * 64, plane * 64 + 64)),
  );
  if (weights.input) {
    maps = convolve(maps, weights.input, 3, activation);
    for (const block of weights.residual ?? []) {
      const skip = maps;
      maps = convolve(maps, block.conv1, 3, activation);
      maps = convolve(maps, block.conv2, 3);
      if (block.se) {
        const { se } = block;
        const means = Float64Array.from(maps, (map) => map.reduce((sum, x) => sum + x, 0) / 64);
        const gates = dense(dense(means, se.w1, se.b1, activation), se.w2, se.b2);
        const channels = maps.length;
        maps = maps.map((map, c) => map.map((x) => x / (1 + Math.exp(-gates[c])) + gates[channels + c]));
      }
      maps = maps.map((map, c) => map.map((x, square) => activation(x + skip[c][square])));
    }
  }

  // One row a square.
  let rows: Rows = Array.from({ length: 64 }, (_, square) => Float64Array.from(maps, (map) => map[square]));
  const bodyNorm = isDenseEmbedding ? 1e-3 : 1e-6;
  const feedForwardActivation = format.ffnActivation || undefined;
  if (hasEncoders) {
    if (!weights.input && isDenseEmbedding) {
      // The pieces of the current position, square by square, through one dense layer.
      const pieces = Float64Array.from({ length: 64 * 12 }, (_, i) => planes[(i % 12) * 64 + Math.floor(i / 12)]);
      const processed = dense(pieces, weights.ipEmbPreprocW, weights.ipEmbPreprocB);
      const added = processed.length / 64;
      rows = rows.map((row, square) => join(row, processed.subarray(square * added, (square + 1) * added)));
    } else if (!weights.input) {
      rows = rows.map((row, square) => join(row, computePositionRow(square)));
    }
    rows = rows.map((row) => dense(row, weights.ipEmbW, weights.ipEmbB, activation));
    if (isDenseEmbedding) rows = rows.map((row) => normalise(row, weights.ipEmbLnGammas, weights.ipEmbLnBetas, 1e-3));
    const { ipMultGate, ipAddGate } = weights;
    if (ipMultGate) rows = rows.map((row, square) => row.map((x, c) => x * ipMultGate.values[c * 64 + square]));
    if (ipAddGate) rows = rows.map((row, square) => row.map((x, c) => x + ipAddGate.values[c * 64 + square]));
    const alpha = (2 * (weights.encoder?.length ?? 0)) ** -0.25;
    if (weights.ipEmbFfn) {
      const ffn = weights.ipEmbFfn;
      rows = rows.map((row) =>
        normalise(
          feedForward(row, ffn, feedForwardActivation, activation, alpha),
          weights.ipEmbFfnLnGammas,
          weights.ipEmbFfnLnBetas,
          1e-3,
        ),
      );
    }
    const smolgenActivation = format.smolgenActivation ? ACTIVATIONS[format.smolgenActivation] : activation;
    for (const encoder of weights.encoder ?? []) {
      rows = encode(rows, encoder, weights.headcount ?? 1, {
        alpha,
        epsilon: bodyNorm,
        feedForwardActivation,
        activation,
        smolgenActivation,
        smolgenW: weights.smolgenW,
      });
    }
  }

  const policyLayers = weights.policyHeads?.[heads.policy ?? 'vanilla'] ?? weights;
  const valueLayers = weights.valueHeads?.[heads.value ?? 'winner'] ?? weights;
  const movesLeft = format.movesLeft
    ? relu(
        computeTop(
          hasEncoders ? rows.map((row) => dense(row, weights.ipMovW, weights.ipMovB, activation)) : undefined,
          hasEncoders || !weights.movesLeft ? undefined : convolve(maps, weights.movesLeft, 1, activation),
          [weights.ip1MovW, weights.ip1MovB, weights.ip2MovW, weights.ip2MovB],
          activation,
        )[0],
      )
    : undefined;
  return {
    policy: computePolicy(file, policyLayers, maps, rows, hasEncoders, activation),
    value: computeValue(valueLayers, maps, rows, hasEncoders, activation, format.value === 2),
    movesLeft,
  };
}

function computeValue(
  layers: ValueLayers,
  maps: Rows,
  rows: Rows,
  hasEncoders: boolean,
  activation: Activate,
  isWdl: boolean,
): Float64Array {
  const top = computeTop(
    hasEncoders ? rows.map((row) => dense(row, layers.ipValW, layers.ipValB, activation)) : undefined,
    hasEncoders || !layers.value ? undefined : convolve(maps, layers.value, 1, activation),
    [layers.ip1ValW, layers.ip1ValB, layers.ip2ValW, layers.ip2ValB],
    activation,
  );
  return isWdl ? softmax(top) : top.map(Math.tanh);
}

function computeTop(
  squareRows: Rows | undefined,
  channelMaps: Rows | undefined,
  [w1, b1, w2, b2]: (Layer | undefined)[],
  activation: Activate,
): Float64Array {
  const flat = (squareRows ?? channelMaps ?? []).flatMap((row) => [...row]);
  return dense(dense(Float64Array.from(flat), w1, b1, activation), w2, b2);
}

function computePolicy(
  file: NetworkFile,
  layers: PolicyLayers,
  maps: Rows,
  rows: Rows,
  hasEncoders: boolean,
  activation: Activate,
): Float64Array {
  const kind = file.format?.policy ?? 1;
  if (kind === 1) {
    const flat = convolve(maps, layers.policy, 1, activation).flatMap((map) => [...map]);
    return dense(Float64Array.from(flat), layers.ipPolW, layers.ipPolB);
  }
  const logits = new Float64Array(1858);
  if (kind === 2) {
    const planes = convolve(convolve(maps, layers.policy1, 3, activation), layers.policy, 3);
    for (const [index, move] of listMoves().entries()) logits[index] = planes[getMovePlane(move)][move.from];
    return logits;
  }
  const shared = file.weights.policyHeads;
  const policyActivation = hasEncoders ? activation : selu;
  let flow = rows.map((row) =>
    dense(row, layers.ipPolW ?? shared?.ipPolW, layers.ipPolB ?? shared?.ipPolB, policyActivation),
  );
  for (const encoder of layers.polEncoder ?? []) {
    flow = encode(flow, encoder, layers.polHeadcount ?? 1, {
      alpha: 1,
      epsilon: 1e-6,
      feedForwardActivation: file.format?.ffnActivation || undefined,
      activation: policyActivation,
      smolgenActivation: policyActivation,
      smolgenW: undefined,
    });
  }
  const queries = flow.map((row) => dense(row, layers.ip2PolW, layers.ip2PolB));
  const keys = flow.map((row) => dense(row, layers.ip3PolW, layers.ip3PolB));
  const offsets = keys.map((key) => dense(key, layers.ip4PolW));
  const scale = 1 / Math.sqrt(queries[0].length);
  for (const [index, move] of listMoves().entries()) {
    const base = dot(queries[move.from], keys[move.to]) * scale;
    const offset = offsets[move.to];
    logits[index] = base + (move.promotion < 0 ? 0 : offset[move.promotion] + offset[3]);
  }
  return logits;
}

interface ReferenceMove {
  from: number;
  to: number;
  /** −1 none (or knight), 0 queen, 1 rook, 2 bishop. */
  promotion: number;
}

/** The 1858 moves in lc0's order. */
export function listMoves(): ReferenceMove[] {
  const moves: ReferenceMove[] = [];
  for (let from = 0; from < 64; from++) {
    for (let to = 0; to < 64; to++) {
      const files = Math.abs((from % 8) - (to % 8));
      const ranks = Math.abs(Math.floor(from / 8) - Math.floor(to / 8));
      const isQueenMove = files === 0 || ranks === 0 || files === ranks;
      const isKnightMove = (files === 1 && ranks === 2) || (files === 2 && ranks === 1);
      if (from !== to && (isQueenMove || isKnightMove)) moves.push({ from, to, promotion: -1 });
    }
  }
  for (let fromFile = 0; fromFile < 8; fromFile++) {
    for (const toFile of [fromFile - 1, fromFile, fromFile + 1]) {
      if (toFile < 0 || toFile > 7) continue;
      for (const promotion of [0, 1, 2]) moves.push({ from: 48 + fromFile, to: 56 + toFile, promotion });
    }
  }
  return moves;
}

const KNIGHT_PLANES = ['1,2', '2,1', '2,-1', '1,-2', '-1,-2', '-2,-1', '-2,1', '-1,2'];
const QUEEN_PLANES = ['0,1', '1,1', '1,0', '1,-1', '0,-1', '-1,-1', '-1,0', '-1,1'];

function getMovePlane(move: ReferenceMove): number {
  const files = (move.to % 8) - (move.from % 8);
  const ranks = Math.floor(move.to / 8) - Math.floor(move.from / 8);
  if (move.promotion >= 0) {
    const piecePlace = [2, 0, 1][move.promotion]; // rook, bishop, queen
    return 64 + 3 * (files + 1) + piecePlace;
  }
  const knight = KNIGHT_PLANES.indexOf(`${files},${ranks}`);
  if (knight >= 0) return 56 + knight;
  const distance = Math.max(Math.abs(files), Math.abs(ranks));
  return QUEEN_PLANES.indexOf(`${files / distance},${ranks / distance}`) * 7 + distance - 1;
}

interface EncodeContext {
  alpha: number;
  epsilon: number;
  feedForwardActivation: number | undefined;
  activation: Activate;
  smolgenActivation: Activate;
  smolgenW: Layer | undefined;
}

function encode(rows: Rows, layers: EncoderLayers, heads: number, context: EncodeContext): Rows {
  const { mha } = layers;
  const queries = rows.map((row) => dense(row, mha.qW, mha.qB));
  const keys = rows.map((row) => dense(row, mha.kW, mha.kB));
  const values = rows.map((row) => dense(row, mha.vW, mha.vB));
  const depth = queries[0].length / heads;
  const generated = mha.smolgen ? generateLogits(rows, mha.smolgen, heads, context) : undefined;
  const mixed = rows.map(() => new Float64Array(queries[0].length));
  for (let head = 0; head < heads; head++) {
    const part = (row: Float64Array): Float64Array => row.subarray(head * depth, (head + 1) * depth);
    for (let from = 0; from < 64; from++) {
      const logits = Float64Array.from(
        { length: 64 },
        (_, to) =>
          dot(part(queries[from]), part(keys[to])) / Math.sqrt(depth) + (generated?.[head][from * 64 + to] ?? 0),
      );
      for (const [to, share] of softmax(logits).entries()) {
        for (let i = 0; i < depth; i++) mixed[from][head * depth + i] += share * values[to][head * depth + i];
      }
    }
  }
  return rows.map((row, square) => {
    const attended = dense(mixed[square], mha.denseW, mha.denseB);
    const first = normalise(
      row.map((x, i) => x + context.alpha * attended[i]),
      layers.ln1Gammas,
      layers.ln1Betas,
      context.epsilon,
    );
    const second = feedForward(first, layers.ffn, context.feedForwardActivation, context.activation, context.alpha);
    return normalise(second, layers.ln2Gammas, layers.ln2Betas, context.epsilon);
  });
}

function generateLogits(rows: Rows, layers: SmolgenLayers, heads: number, context: EncodeContext): Float64Array[] {
  const compressed = Float64Array.from(rows.flatMap((row) => [...dense(row, layers.compress)]));
  const first = normalise(
    dense(compressed, layers.dense1W, layers.dense1B, context.smolgenActivation),
    layers.ln1Gammas,
    layers.ln1Betas,
    1e-3,
  );
  const second = normalise(
    dense(first, layers.dense2W, layers.dense2B, context.smolgenActivation),
    layers.ln2Gammas,
    layers.ln2Betas,
    1e-3,
  );
  const size = second.length / heads;
  return Array.from({ length: heads }, (_, head) =>
    dense(second.subarray(head * size, (head + 1) * size), context.smolgenW),
  );
}

function feedForward(
  row: Float64Array,
  layers: FfnLayers,
  activationNumber: number | undefined,
  fallback: Activate,
  alpha: number,
): Float64Array {
  const hidden = dense(row, layers.dense1W, layers.dense1B);
  const active =
    activationNumber === 9 ? softmax(hidden) : hidden.map(activationNumber ? ACTIVATIONS[activationNumber] : fallback);
  const out = dense(active, layers.dense2W, layers.dense2B);
  return row.map((x, i) => x + alpha * out[i]);
}

function convolve(maps: Rows, block: ConvBlock | undefined, kernel: number, activation: Activate = (x) => x): Rows {
  if (!block) throw new Error('no such layer');
  const weights = block.weights.values;
  const outputs = weights.length / (maps.length * kernel * kernel);
  const reach = (kernel - 1) / 2;
  return Array.from({ length: outputs }, (_, output) => {
    const result = new Float64Array(64);
    for (let square = 0; square < 64; square++) {
      let sum = block.biases?.values[output] ?? 0;
      for (let input = 0; input < maps.length; input++) {
        for (let dy = -reach; dy <= reach; dy++) {
          for (let dx = -reach; dx <= reach; dx++) {
            const y = Math.floor(square / 8) + dy;
            const x = (square % 8) + dx;
            if (y < 0 || y > 7 || x < 0 || x > 7) continue;
            const tap = ((output * maps.length + input) * kernel + dy + reach) * kernel + dx + reach;
            sum += weights[tap] * maps[input][y * 8 + x];
          }
        }
      }
      if (block.bnMeans && block.bnStddivs) {
        sum = (sum - block.bnMeans.values[output]) / Math.sqrt(block.bnStddivs.values[output] + 1e-5);
        sum = sum * (block.bnGammas?.values[output] ?? 1) + (block.bnBetas?.values[output] ?? 0);
      }
      result[square] = activation(sum);
    }
    return result;
  });
}

function dense(input: Float64Array, weights?: Layer, biases?: Layer, activation: Activate = (x) => x): Float64Array {
  if (!weights) throw new Error('no such layer');
  const outputs = weights.values.length / input.length;
  return Float64Array.from({ length: outputs }, (_, output) => {
    let sum = biases?.values[output] ?? 0;
    for (let i = 0; i < input.length; i++) sum += weights.values[output * input.length + i] * input[i];
    return activation(sum);
  });
}

function normalise(
  row: Float64Array,
  gammas: Layer | undefined,
  betas: Layer | undefined,
  epsilon: number,
): Float64Array {
  if (!gammas || !betas) throw new Error('no such layer');
  const mean = row.reduce((sum, x) => sum + x, 0) / row.length;
  const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / row.length;
  return row.map((x, i) => ((x - mean) / Math.sqrt(variance + epsilon)) * gammas.values[i] + betas.values[i]);
}

function softmax(logits: Float64Array): Float64Array {
  const most = Math.max(...logits);
  const powers = logits.map((x) => Math.exp(x - most));
  const sum = powers.reduce((total, x) => total + x, 0);
  return powers.map((x) => x / sum);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

function join(a: Float64Array, b: Float64Array): Float64Array {
  return Float64Array.from([...a, ...b]);
}

/** PE_MAP: 1 for each square a queen or knight could reach from this one, −1 for itself. */
function computePositionRow(square: number): Float64Array {
  const row = new Float64Array(64);
  for (const move of listMoves()) if (move.from === square && move.promotion < 0) row[move.to] = 1;
  row[square] = -1;
  return row;
}
