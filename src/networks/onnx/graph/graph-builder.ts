/**
 * An ONNX graph under construction. Nodes are added in the order of the computation and return the names of their outputs.
 * Weights stay `TensorSource`s until the model is written. This file knows ONNX, and nothing of chess or lc0.
 */
import {
  type AttributeMessage,
  AttributeType,
  type NodeMessage,
  TensorType,
  type ValueInfoMessage,
} from '../../nn/index.js';
import { fromFloats, type TensorSource } from './network-layers.js';

/** The type of stored weights; graph inputs and outputs are always float32. */
export type StoredPrecision = 'f32' | 'f16' | 'bf16';

/** A weight, whose numbers are written as its `dataType` when they are read, or the bytes of a table of integers. */
export interface Initializer {
  readonly name: string;
  readonly dims: readonly number[];
  readonly dataType: number;
  readonly values: TensorSource | Uint8Array;
}

export type Attributes = Readonly<Record<string, number | { readonly float: number } | readonly number[]>>;

/** −1 for the batch dimension. */
export type Shape = readonly number[];

export interface GraphSettings {
  /**
   * f16: weights and arithmetic are half precision. bf16: weights are stored as bfloat16 and widened before use, because
   * few operators accept bfloat16.
   */
  readonly precision: StoredPrecision;
  /** Version of ONNX's default operator set. */
  readonly opset: number;
  /** Fixed size of the batch dimension; −1 leaves it open. */
  readonly batchSize: number;
  /** Avoids LayerNormalization, which older readers do not know. */
  readonly usesSimpleOperators: boolean;
}

export class GraphBuilder {
  readonly nodes: NodeMessage[] = [];
  readonly initializers: Initializer[] = [];
  readonly inputs: ValueInfoMessage[] = [];
  readonly outputs: ValueInfoMessage[] = [];
  /** Domains of operators that are not ONNX's own. */
  private readonly domains = new Set<string>();
  private readonly initializerNames = new Set<string>();

  constructor(private readonly settings: GraphSettings) {}

  get hasLayerNormalization(): boolean {
    return this.settings.opset >= 17 && !this.settings.usesSimpleOperators;
  }

  /** The element type of everything between the casts at inputs and outputs. */
  get computeType(): number {
    return this.settings.precision === 'f16' ? TensorType.FLOAT16 : TensorType.FLOAT;
  }

  /** For the model's `opsetImport`. */
  listOperatorSets(): { domain?: string; version: number }[] {
    return [{ version: this.settings.opset }, ...Array.from(this.domains, (domain) => ({ domain, version: 1 }))];
  }

  addInput(name: string, shape: Shape): string {
    this.inputs.push(this.createValueInfo(name, shape));
    return name;
  }

  addOutput(name: string, shape: Shape): void {
    this.outputs.push(this.createValueInfo(name, shape));
  }

  /**
   * Adds a node with one output and returns its name, which is also the node's name.
   * @param domain of operators that are not ONNX's own
   */
  addNode(opType: string, name: string, inputs: readonly string[], attributes: Attributes = {}, domain = ''): string {
    const attribute = formatAttributes(attributes);
    this.nodes.push({ opType, name, input: [...inputs], output: [name], attribute, ...(domain ? { domain } : {}) });
    if (domain) this.domains.add(domain);
    return name;
  }

  /** Stores weights in the graph's precision. Weights with the same name are stored once. */
  addWeights(name: string, dims: readonly number[], source: TensorSource): string {
    if (this.settings.precision !== 'bf16') return this.add(name, dims, this.computeType, source);
    const stored = `${name}/bf16`;
    if (!this.initializerNames.has(stored)) {
      this.addCast(name, this.add(stored, dims, TensorType.BFLOAT16, source), TensorType.FLOAT);
    }
    return name;
  }

  addFloats(name: string, dims: readonly number[], values: readonly number[] | Float32Array): string {
    return this.addWeights(name, dims, fromFloats(Float32Array.from(values)));
  }

  /** Constants for parts that compute in float32 whatever the graph's precision. */
  addFloat32s(name: string, values: readonly number[]): string {
    return this.add(name, [values.length], TensorType.FLOAT, fromFloats(Float32Array.from(values)));
  }

  addInt32s(name: string, values: Int32Array): string {
    return this.add(name, [values.length], TensorType.INT32, new Uint8Array(values.buffer));
  }

  addInt64s(name: string, values: readonly number[]): string {
    const { buffer } = BigInt64Array.from(values, BigInt);
    return this.add(name, [values.length], TensorType.INT64, new Uint8Array(buffer));
  }

  /** Reshapes to constant dimensions; −1 is the batch, or a multiple of it. */
  addReshape(name: string, input: string, dims: readonly number[]): string {
    const shapeName = `/const/shape/${dims.join('x')}`;
    return this.addNode('Reshape', name, [input, this.addInt64s(shapeName, dims)]);
  }

  /** Mean over the second of two dimensions; that dimension becomes 1. */
  addMean(name: string, input: string): string {
    if (this.settings.opset < 18) return this.addNode('ReduceMean', name, [input], { axes: [1] });
    return this.addNode('ReduceMean', name, [input, this.addInt64s('/const/axis/1', [1])]);
  }

  addCast(name: string, input: string, type: number): string {
    return this.addNode('Cast', name, [input], { to: type });
  }

  private add(name: string, dims: readonly number[], dataType: number, values: Initializer['values']): string {
    if (!this.initializerNames.has(name)) {
      this.initializerNames.add(name);
      this.initializers.push({ name, dims, dataType, values });
    }
    return name;
  }

  private createValueInfo(name: string, shape: Shape): ValueInfoMessage {
    const dim = shape.map((size) => {
      if (size >= 0) return { dimValue: size };
      const { batchSize } = this.settings;
      return batchSize > 0 ? { dimValue: batchSize } : { dimParam: 'batch' };
    });
    return { name, type: { tensorType: { elemType: TensorType.FLOAT, shape: { dim } } } };
  }
}

export function formatAttributes(attributes: Attributes): AttributeMessage[] {
  return Object.entries(attributes).map(([name, value]) => {
    if (typeof value === 'number') return { name, i: value, type: AttributeType.INT };
    if ('float' in value) return { name, f: value.float, type: AttributeType.FLOAT };
    return { name, ints: [...value], type: AttributeType.INTS };
  });
}
