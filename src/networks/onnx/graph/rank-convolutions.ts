/**
 * Convolutions for ONNX Runtime's CPU provider that are twice as fast as its own: Winograd's F(8, 3) over the ranks
 * (below), ONNX Runtime's blocked convolution over the files.
 *
 * The layout is float32 [8 ranks, channels/B, N, 8 files, B], written as [8, −1]. B is the number of channels that ONNX
 * Runtime keeps together for this CPU's vectors ("NCHWc": 16 with AVX-512, 8 with AVX). Because the ranks come first, both
 * transforms are one matrix product of a small constant and the whole tensor. The tensor between them is, byte for byte, a
 * blocked tensor [1, 10·channels, N, 8], so the middle is one grouped convolution with a 1×3 kernel. Nothing is transposed
 * inside the tower, and a filter is read once for the whole batch.
 *
 * The operators of the domain com.microsoft.nchwc are those that ONNX Runtime's optimiser inserts itself. They exist on the
 * CPU only, and a wrong B gives wrong numbers (findChannelBlock finds it).
 */

import type { GraphBuilder } from './graph-builder.js';
import { addActivation, addDense } from './layers.js';
import {
  type Activation,
  type ConvolutionLayer,
  type DenseLayer,
  fromFloats,
  materialise,
  type SqueezeExcite,
  type TensorSource,
} from './network-layers.js';
import type { Convolutions } from './residual-tower.js';

// Winograd's minimal filtering F(8, 3) over the 8 ranks of a board: it computes 8 outputs of a 3-tap filter with 10 products
// instead of 24 (Toom-Cook over 9 points and infinity; Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks", 2015). With d the ranks plus one empty rank on either side, and g the taps,
// y = inverse · ((filter · g) ⊙ (forward · d)). `forward` leaves out the empty ranks.
//
// Only one axis is transformed. Over both axes there would be even fewer products, but rounding errors multiply and the
// transforms cost more than is saved. The points p and −1/p keep the error of a layer in float32 at 1.7e-6 of its output
// (direct: 1e-7; with points 0, ±1, ±2, ±½, ±1½: 2.8e-6).

export const RANKS = 8;
const TAPS = 3;
const POINTS = [0, 1, -1, 1 / 2, -2, 3 / 2, -2 / 3, 3, -1 / 3];
/** Products for each output column of 8. */
export const PRODUCTS = POINTS.length + 1;
/** The product of point 1: a value added to it is added to all outputs. */
export const BIAS_PRODUCT = POINTS.indexOf(1);

export interface WinogradMatrices {
  /** [PRODUCTS][RANKS], row by row. */
  readonly forward: Float32Array;
  /** [RANKS][PRODUCTS]. */
  readonly inverse: Float32Array;
  /** [PRODUCTS][3], in double precision. */
  readonly filter: readonly (readonly number[])[];
}

export function createWinogradMatrices(): WinogradMatrices {
  const filter: number[][] = [];
  const forward = new Float32Array(PRODUCTS * RANKS);
  const inverse = new Float32Array(RANKS * PRODUCTS);
  for (let product = 0; product < PRODUCTS; product++) {
    const point = POINTS[product] as number | undefined;
    const others = POINTS.filter((_, index) => index !== product);
    const polynomial = expandRoots(others);
    // d[0] is the empty rank.
    for (let rank = 0; rank < RANKS; rank++) forward[product * RANKS + rank] = polynomial[rank + 1] ?? 0;
    if (point === undefined) {
      filter.push([0, 0, 1]);
      inverse[(RANKS - 1) * PRODUCTS + product] = 1;
      continue;
    }
    const norm = others.reduce((value, other) => value * (point - other), 1);
    filter.push(Array.from({ length: TAPS }, (_, tap) => point ** tap / norm));
    for (let rank = 0; rank < RANKS; rank++) inverse[rank * PRODUCTS + product] = point ** rank;
  }
  return { forward, inverse, filter };
}

/** Coefficients of ∏ (z − root), constant term first. */
function expandRoots(roots: readonly number[]): number[] {
  let coefficients = [1];
  for (const root of roots) {
    const next = [...coefficients.map((value) => -root * value), 0];
    coefficients.forEach((value, degree) => {
      next[degree + 1] += value;
    });
    coefficients = next;
  }
  return coefficients;
}

const FILES = 8;
/** ONNX Runtime's name for the operators on blocked tensors. */
const BLOCKED = 'com.microsoft.nchwc';
const SQUEEZED_SHAPE = [1, -1];
const LAYOUT_SHAPE = [RANKS, -1];

export class RankConvolutions implements Convolutions {
  private readonly matrices = createWinogradMatrices();

  /** @param block B above */
  constructor(
    private readonly graph: GraphBuilder,
    private readonly block: number,
  ) {}

  /** @param channels a multiple of the block */
  addEntry(planes: string, channels: number, name: string): string {
    const { graph, block } = this;
    const blocked = graph.addNode('ReorderInput', `${name}/entry/blocked`, [planes], {}, BLOCKED);
    const rows = graph.addReshape(`${name}/entry/rows`, blocked, [-1, channels / block, RANKS, FILES * block]);
    const ranks = graph.addNode('Transpose', `${name}/entry/ranks`, [rows], { perm: [2, 1, 0, 3] });
    return graph.addReshape(`${name}/entry`, ranks, LAYOUT_SHAPE);
  }

  /** Outputs are padded with zeros to a multiple of the block; the inputs already are a multiple. */
  addConvolution(input: string, layer: ConvolutionLayer, name: string): string {
    const { graph, matrices } = this;
    if (layer.kernel === 1) {
      const planes = graph.addReshape(`${name}/blocked`, input, [RANKS, layer.inputs, -1, FILES]);
      const convolved = this.addBlockedConvolution(planes, layer, [[1]], 0, name);
      return graph.addReshape(`${name}/rows`, convolved, LAYOUT_SHAPE);
    }
    const forward = graph.addFloats('/const/winograd/forward', [PRODUCTS, RANKS], matrices.forward);
    const inverse = graph.addFloats('/const/winograd/inverse', [RANKS, PRODUCTS], matrices.inverse);
    const transformed = graph.addNode('MatMul', `${name}/forward`, [forward, input]);
    const planes = graph.addReshape(`${name}/blocked`, transformed, [1, PRODUCTS * layer.inputs, -1, FILES]);
    const products = this.addBlockedConvolution(planes, layer, matrices.filter, BIAS_PRODUCT, `${name}/products`);
    const rows = graph.addReshape(`${name}/rows`, products, [PRODUCTS, -1]);
    return graph.addNode('MatMul', name, [inverse, rows]);
  }

  addSqueezeExcite(input: string, layers: SqueezeExcite, activation: Activation, name: string): string {
    const { graph, block } = this;
    const { squeeze, excite } = layers;
    const channels = squeeze.inputs;
    // The first dense layer also sums over the files, and the last ones give each file its own copy.
    const copies = this.listFileCopies(channels);
    const squares = RANKS * FILES;
    const averaging = graph.addFloats('/const/rank-sum', [1, RANKS], new Float32Array(RANKS).fill(1 / squares));
    const sums = graph.addNode('MatMul', `${name}/sums`, [averaging, input]);
    const byBlock = graph.addReshape(`${name}/by-block`, sums, [channels / block, -1, FILES * block]);
    const byPosition = graph.addNode('Transpose', `${name}/by-position`, [byBlock], { perm: [1, 0, 2] });
    const flat = graph.addReshape(`${name}/flat`, byPosition, [-1, channels * FILES]);
    const squeezed = addDense(graph, flat, copyColumns(squeeze, copies), `${name}/squeeze`);
    const active = addActivation(graph, squeezed, activation, `${name}/squeeze`);
    const addFactor = (part: string, first: number): string => {
      const rows = Int32Array.from(copies, (channel) => first + channel);
      const dense = addDense(graph, active, copyRows(excite, rows), `${name}/${part}`);
      const factor = part === 'gamma' ? graph.addNode('Sigmoid', `${name}/gate`, [dense]) : dense;
      const blocks = graph.addReshape(`${name}/${part}/blocks`, factor, [-1, channels / block, FILES * block]);
      const ordered = graph.addNode('Transpose', `${name}/${part}/ordered`, [blocks], { perm: [1, 0, 2] });
      return graph.addReshape(`${name}/${part}/row`, ordered, SQUEEZED_SHAPE);
    };
    const gated = graph.addNode('Mul', `${name}/gated`, [input, addFactor('gamma', 0)]);
    return graph.addNode('Add', `${name}/shifted`, [gated, addFactor('beta', channels)]);
  }

  addExit(input: string, channels: number, name: string): string {
    const { graph, block } = this;
    const padded = this.roundUp(channels);
    const ranks = graph.addReshape(`${name}/exit/ranks`, input, [RANKS, padded / block, -1, FILES * block]);
    const rows = graph.addNode('Transpose', `${name}/exit/rows`, [ranks], { perm: [2, 1, 0, 3] });
    const blocked = graph.addReshape(`${name}/exit/blocked`, rows, [-1, padded, RANKS, FILES]);
    return graph.addNode('ReorderOutput', `${name}/exit`, [blocked], { channels }, BLOCKED);
  }

  /** @param filter [groups][kernel]: the transformed taps over the ranks; biases go to one of the groups */
  private addBlockedConvolution(
    planes: string,
    layer: ConvolutionLayer,
    filter: readonly (readonly number[])[],
    biasGroup: number,
    name: string,
  ): string {
    const { graph, block } = this;
    const groups = filter.length;
    const outputs = this.roundUp(layer.outputs);
    const biases = new Float32Array(groups * outputs);
    biases.set(materialise(layer.biases), biasGroup * outputs);
    const operands = [
      planes,
      graph.addWeights(
        `${name}/w`,
        [groups * outputs, layer.inputs, 1, layer.kernel],
        blockFilters(layer, filter, block),
      ),
      graph.addWeights(`${name}/b`, [biases.length], fromFloats(biases)),
    ];
    const padding = (layer.kernel - 1) / 2;
    const attributes = { kernel_shape: [1, layer.kernel], pads: [0, padding, 0, padding], group: groups };
    return graph.addNode('Conv', name, operands, attributes, BLOCKED);
  }

  private roundUp(channels: number): number {
    return Math.ceil(channels / this.block) * this.block;
  }

  /** The channel of each float of [channels/B, 8 files, B]. */
  private listFileCopies(channels: number): Int32Array {
    const { block } = this;
    const rowLength = FILES * block;
    return Int32Array.from({ length: channels * FILES }, (_, i) => Math.floor(i / rowLength) * block + (i % block));
  }
}

/**
 * Reorders filters from [outputs][inputs][ranks][files] to [group][outputs/B][inputs/B][files][B inputs][B outputs] and
 * transforms the taps over the ranks. The values are computed when they are read, one block of outputs at a time.
 */
function blockFilters(layer: ConvolutionLayer, filter: readonly (readonly number[])[], block: number): TensorSource {
  const { inputs, outputs, kernel, weights } = layer;
  const outputBlocks = Math.ceil(outputs / block);
  const slabLength = inputs * kernel * block;
  const slab = new Float32Array(slabLength);
  const rows = new Float32Array(block * inputs * kernel * kernel);
  const fillSlab = (index: number): void => {
    const taps = filter[Math.floor(index / outputBlocks)];
    const firstOutput = (index % outputBlocks) * block;
    const present = Math.min(block, outputs - firstOutput);
    const rowLength = inputs * kernel * kernel;
    weights.read(firstOutput * rowLength, present * rowLength, rows);
    slab.fill(0);
    for (let output = 0; output < present; output++) {
      for (let input = 0; input < inputs; input++) {
        const from = output * rowLength + input * kernel * kernel;
        const to = (input - (input % block)) * kernel * block + (input % block) * block + output;
        for (let file = 0; file < kernel; file++) {
          let sum = 0;
          for (let rank = 0; rank < kernel; rank++) sum += taps[rank] * rows[from + rank * kernel + file];
          slab[to + file * block * block] = sum;
        }
      }
    }
  };
  return {
    length: filter.length * outputBlocks * slabLength,
    read(start, count, out) {
      for (let done = 0; done < count; ) {
        const index = Math.floor((start + done) / slabLength);
        const offset = start + done - index * slabLength;
        const part = Math.min(count - done, slabLength - offset);
        fillSlab(index);
        out.set(slab.subarray(offset, offset + part), done);
        done += part;
      }
    },
  };
}

/** The layer with its inputs reordered: input i is the old input columns[i]. */
function copyColumns(layer: DenseLayer, columns: Int32Array): DenseLayer {
  const old = materialise(layer.weights);
  const weights = new Float32Array(layer.outputs * columns.length);
  for (let i = 0; i < weights.length; i++) {
    const row = Math.floor(i / columns.length);
    weights[i] = old[row * layer.inputs + columns[i % columns.length]];
  }
  return { ...layer, inputs: columns.length, weights: fromFloats(weights) };
}

/** The layer with its outputs reordered: output i is the old output rows[i]. */
function copyRows(layer: DenseLayer, rows: Int32Array): DenseLayer {
  const old = materialise(layer.weights);
  const weights = new Float32Array(rows.length * layer.inputs);
  rows.forEach((row, i) => {
    weights.set(old.subarray(row * layer.inputs, (row + 1) * layer.inputs), i * layer.inputs);
  });
  const copied = { ...layer, outputs: rows.length, weights: fromFloats(weights) };
  if (!layer.biases) return copied;
  const oldBiases = materialise(layer.biases);
  return { ...copied, biases: fromFloats(Float32Array.from(rows, (row) => oldBiases[row])) };
}
