/**
 * Reads an ONNX graph backwards from an output: constants as numbers, and layers with their weights in lc0's order, whatever
 * operators they were exported as. It stops at everything that it does not expect.
 */
import { findAttribute, getIntegerAttribute, getIntegerList, type NodeMessage, TensorType } from '../../nn/index.js';
import { GraphIndex, readFloats, transpose } from '../onnx-model.js';

/** The graph is not of the kind that is being looked for; the message says where it differs. */
export class Unrecognised extends Error {
  override readonly name = 'Unrecognised';
}

/** More reshapes in a row are a cycle, which a damaged file may have. */
const MAX_RESHAPES = 100;
/** Operators that change a tensor's shape and keep its numbers in order. */
const RESHAPES = new Set(['Flatten', 'Reshape', 'Squeeze', 'Unsqueeze', 'Identity', 'Cast']);

export interface Affine {
  /** The tensor that the layer is applied to. */
  readonly input: string;
  /** 0 for a dense layer. */
  readonly kernel: number;
  readonly inputs: number;
  readonly outputs: number;
  /** [outputs][inputs][kernel][kernel] */
  readonly weights: Float32Array;
  readonly biases: Float32Array;
}

export interface Floats {
  readonly dims: readonly number[];
  readonly values: Float32Array;
}

export class GraphReader extends GraphIndex {
  /** The node that makes a tensor; reshapes are skipped. */
  getMaker(name: string): NodeMessage {
    const tensor = this.skipReshapes(name);
    const node = this.findMaker(tensor);
    if (!node || this.findConstant(tensor)) throw new Unrecognised(`"${name}" is not made by any node`);
    return node;
  }

  /** @throws Unrecognised if another operator made the tensor */
  expect(name: string, opType: string): NodeMessage {
    const node = this.getMaker(name);
    if (node.opType !== opType)
      throw new Unrecognised(`"${describeNode(node)}" is ${node.opType} where ${opType} was expected`);
    return node;
  }

  /** The tensor behind reshapes: the same numbers in the same order. */
  skipReshapes(name: string): string {
    let current = name;
    for (let step = 0; step < MAX_RESHAPES; step++) {
      const node = this.findMaker(current);
      if (!node || !RESHAPES.has(node.opType ?? '')) return current;
      current = getInput(node, 0);
    }
    throw new Unrecognised(`"${name}" is reshaped without end`);
  }

  findFloats(name: string): Floats | undefined {
    const tensor = this.findConstant(name);
    const values = tensor && readFloats(tensor);
    return values && { dims: (tensor.dims ?? []).map(Number), values };
  }

  getFloats(name: string): Floats {
    const floats = this.findFloats(name);
    if (!floats) throw new Unrecognised(`"${name}" is no constant of 32-bit floats`);
    return floats;
  }

  getIntegers(name: string): number[] {
    const tensor = this.findConstant(name);
    const bytes = tensor?.rawData && Uint8Array.from(tensor.rawData).buffer;
    if (bytes && tensor?.dataType === TensorType.INT64) return Array.from(new BigInt64Array(bytes), Number);
    if (bytes && tensor?.dataType === TensorType.INT32) return Array.from(new Int32Array(bytes));
    throw new Unrecognised(`"${name}" is no constant of integers`);
  }

  /** The tensor that an activation was applied to. */
  expectActivation(name: string, activation: 'relu' | 'selu' | 'mish'): string {
    if (activation === 'relu') return getInput(this.expect(name, 'Relu'), 0);
    if (activation === 'selu') return getInput(this.expect(name, 'Selu'), 0);
    const node = this.getMaker(name);
    if (node.opType === 'Mish') return getInput(node, 0);
    const [plain, squashed] = this.getOperands(name, 'Mul', (_, other) => this.getMaker(other).opType === 'Tanh');
    const softplus = this.expect(getInput(this.expect(squashed, 'Tanh'), 0), 'Softplus');
    if (getInput(softplus, 0) !== plain) throw new Unrecognised(`"${describeNode(node)}" is no mish`);
    return plain;
  }

  /** A dense layer (Gemm, or MatMul with or without Add) or a convolution that keeps the board's size. */
  expectAffine(name: string): Affine {
    const node = this.getMaker(name);
    switch (node.opType) {
      case 'Conv':
        return this.readConvolution(node);
      case 'Gemm':
      case 'MatMul':
        return this.readDense(node);
      case 'Add': {
        const [product, bias] = this.getOperands(name, 'Add', (_, other) => this.findFloats(other) !== undefined);
        const dense = this.readDense(this.expect(product, 'MatMul'));
        const biases = this.getFloats(bias).values;
        if (biases.length !== dense.outputs) throw new Unrecognised(`"${describeNode(node)}" adds no bias`);
        return { ...dense, biases };
      }
      default:
        throw new Unrecognised(`"${describeNode(node)}" is ${node.opType} where a layer was expected`);
    }
  }

  /** The two operands of a commutative operator, ordered so that `fits` holds for the first. */
  getOperands(
    name: string,
    opType: string,
    fits: (first: string, second: string) => boolean,
  ): readonly [string, string] {
    const node = this.expect(name, opType);
    const a = getInput(node, 0);
    const b = getInput(node, 1);
    if (fits(a, b)) return [a, b];
    if (fits(b, a)) return [b, a];
    throw new Unrecognised(`"${describeNode(node)}" does not have the expected operands`);
  }

  /** A tensor that a constant multiplies, and the constant's numbers. */
  getScaled(name: string): readonly [plain: string, scales: Float32Array] {
    const [plain, constant] = this.getOperands(name, 'Mul', (_, other) => this.findFloats(other) !== undefined);
    return [plain, this.getFloats(constant).values];
  }

  private readConvolution(node: NodeMessage): Affine {
    const { dims, values } = this.getFloats(getInput(node, 1));
    const [outputs, inputs, kernel] = dims;
    const padding = (kernel - 1) / 2;
    const isPlain =
      dims.length === 4 &&
      kernel === dims[3] &&
      getIntegerAttribute(node, 'group', 1) === 1 &&
      getIntegerList(node, 'pads', [0, 0, 0, 0]).every((pad) => pad === padding) &&
      getIntegerList(node, 'strides', [1, 1]).every((stride) => stride === 1) &&
      getIntegerList(node, 'dilations', [1, 1]).every((dilation) => dilation === 1);
    if (!isPlain) throw new Unrecognised(`"${describeNode(node)}" is a convolution that lc0 does not have`);
    const biases = node.input?.[2] ? this.getFloats(node.input[2]).values : new Float32Array(outputs);
    return { input: getInput(node, 0), kernel, inputs, outputs, weights: values, biases };
  }

  /** @param node a Gemm or a MatMul, which is a Gemm without attributes and biases */
  private readDense(node: NodeMessage): Affine {
    const factors = ['alpha', 'beta'].map((name) => findAttribute(node, name)?.f ?? 1);
    if (factors.some((factor) => factor !== 1) || getIntegerAttribute(node, 'transA', 0) !== 0) {
      throw new Unrecognised(`"${describeNode(node)}" is no plain dense layer`);
    }
    const { dims, values } = this.getFloats(getInput(node, 1));
    if (dims.length !== 2) throw new Unrecognised(`"${describeNode(node)}" has no matrix of weights`);
    const isTransposed = getIntegerAttribute(node, 'transB', 0) === 1;
    const [outputs, inputs] = isTransposed ? dims : [dims[1], dims[0]];
    const weights = isTransposed ? values : transpose(values, inputs, outputs);
    const biases = node.input?.[2] ? this.getFloats(node.input[2]).values : new Float32Array(outputs);
    if (biases.length !== outputs) throw new Unrecognised(`"${describeNode(node)}" adds no bias`);
    return { input: getInput(node, 0), kernel: 0, inputs, outputs, weights, biases };
  }
}

export function getInput(node: NodeMessage, index: number): string {
  const name = node.input?.[index];
  if (!name) throw new Unrecognised(`"${describeNode(node)}" has no input ${index}`);
  return name;
}

/** Many exporters do not name their nodes. */
export function describeNode({ name, output }: NodeMessage): string {
  return name || output?.[0] || '';
}
