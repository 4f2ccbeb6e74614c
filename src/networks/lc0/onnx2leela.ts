/**
 * `onnx2leela`: converts an ONNX file to a network file for lc0. If the graph is one of lc0's residual networks it becomes
 * lc0's own weights, which every backend of lc0 runs. Any other graph is wrapped as it is, for lc0's ONNX backends.
 */
import { gzip } from '#platform/byte-streams.js';
import type { Result } from '../../base/util/index.js';
import {
  decodeModel,
  describeHeader,
  encodeModel,
  type GraphMessage,
  getWidth,
  type OnnxHeader,
  type ReadModel,
  TensorType,
  type ValueInfoMessage,
} from '../nn/index.js';
import {
  type FileSource,
  findInput,
  findOutput,
  hasExternalTensors,
  insertBeforeOutput,
  insertBehindInput,
  NetworkError,
  readInflated,
  Unrecognised,
} from '../onnx/index.js';
import {
  InputFormat,
  MovesLeftFormat,
  NET_MAGIC,
  type NetMessage,
  NetworkStructure,
  netType,
  OutputFormat,
  PolicyFormat,
  ValueFormat,
} from './net-schema.js';
import {
  chooseTensors,
  getInputFormat,
  type NetworkTensors,
  recogniseGraph,
  type TensorChoice,
} from './recognise-network.js';
import { attempt } from './repair-format.js';

/** Tensors that are not named are found by metadata, by lc0's names and by shapes. */
export interface Onnx2LeelaOptions extends TensorChoice {
  /** weights: lc0's own weights, or an error; onnx: wrapped; auto (default): weights if the graph allows it. */
  readonly structure?: 'auto' | 'weights' | 'onnx' | undefined;
  /** Names of lc0's enums. Default: what the metadata say, else the classical 112 planes. */
  readonly inputFormat?: string | undefined;
  readonly policyFormat?: string | undefined;
  readonly valueFormat?: string | undefined;
  readonly movesLeftFormat?: string | undefined;
  /** Checks that the named tensors exist. Default true. */
  readonly validateWeights?: boolean | undefined;
  /** Divides the rule-50 plane by 99, for a model that was trained on that scale. */
  readonly fixRule50?: boolean | undefined;
  /** Adds a softmax to a WDL output that has none. */
  readonly fixWdlSoftmax?: boolean | undefined;
}

export interface WrappedModel {
  /** The network file, gzipped. */
  readonly file: Uint8Array;
  /** One sentence for each thing that was guessed or changed. */
  readonly notes: readonly string[];
}

/** This version of lc0 introduced ONNX networks. */
const MIN_VERSION = { major: 0, minor: 28, patch: 0 };
const RULE50_PLANE = 109;
const RULE50_DIVISOR = 99;

/** An error is a whole sentence that names the path. */
export function wrapOnnxModel(source: FileSource, options: Onnx2LeelaOptions = {}): Promise<Result<WrappedModel>> {
  return attempt('wrap', source, 'the model', async () => {
    const bytes = await readInflated(source);
    const model = decodeModel(bytes);
    if (!model) throw new NetworkError('it is not an ONNX model');
    const { net, notes } = new Wrapping(model, model.graph, bytes, options).wrap();
    return { file: await gzip(netType.encode(net)), notes };
  });
}

class Wrapping {
  private readonly notes: string[] = [];
  private readonly header: OnnxHeader;
  private isChanged = false;

  constructor(
    private readonly model: ReadModel,
    private readonly graph: GraphMessage,
    private readonly bytes: Uint8Array,
    private readonly options: Onnx2LeelaOptions,
  ) {
    this.header = describeHeader(model);
  }

  wrap(): { readonly net: NetMessage; readonly notes: readonly string[] } {
    const { options, graph, header } = this;
    if (hasExternalTensors(graph)) {
      throw new NetworkError('it keeps its weights in another file; save the model with all of them inside');
    }
    const structure = options.structure ?? 'auto';
    const inputFormat = pickEnum(InputFormat, options.inputFormat ?? getInputFormat(header.metadata), 'input format');
    const { tensors, notes } = chooseTensors(graph, header, options);
    this.notes.push(...notes);
    const input = findInput(graph, tensors.input);
    this.checkShapes(input, tensors);
    const dataType = input.type?.tensorType?.elemType ?? TensorType.FLOAT;
    if (dataType !== TensorType.FLOAT && dataType !== TensorType.FLOAT16 && dataType !== TensorType.BFLOAT16) {
      throw new NetworkError(`its input "${tensors.input}" holds no floats (ONNX type ${dataType})`);
    }
    this.warnAboutUnused(tensors);
    if (options.fixRule50) this.scaleRule50(tensors.input, dataType);
    const wantsSoftmax = options.fixWdlSoftmax ?? header.metadata.get('sardonyx.value.activation') === 'logits';
    if (tensors.wdl && wantsSoftmax) this.addSoftmax(tensors.wdl);
    if (structure !== 'onnx') {
      const net = this.recognise(tensors, inputFormat, structure === 'weights');
      if (net) return { net, notes: this.notes };
    }
    const outputs = [tensors.policy, tensors.wdl, tensors.value, tensors.movesLeft];
    for (const name of outputs) if (name) this.ensureType(name, dataType);

    const movesLeftFormat = options.movesLeftFormat ?? 'MOVES_LEFT_V1';
    const net = {
      magic: NET_MAGIC,
      minVersion: MIN_VERSION,
      format: {
        networkFormat: {
          input: inputFormat,
          output: tensors.wdl ? OutputFormat.OUTPUT_WDL : OutputFormat.OUTPUT_CLASSICAL,
          network: NetworkStructure.NETWORK_ONNX,
          policy: pickEnum(PolicyFormat, options.policyFormat ?? 'POLICY_CLASSICAL', 'policy format'),
          value: pickEnum(
            ValueFormat,
            options.valueFormat ?? (tensors.wdl ? 'VALUE_WDL' : 'VALUE_CLASSICAL'),
            'value format',
          ),
          movesLeft: tensors.movesLeft
            ? pickEnum(MovesLeftFormat, movesLeftFormat, 'moves-left format')
            : MovesLeftFormat.MOVES_LEFT_NONE,
        },
      },
      onnxModel: {
        model: this.isChanged ? encodeModel(this.model) : this.bytes,
        dataType,
        inputPlanes: tensors.input,
        outputPolicy: tensors.policy,
        ...(tensors.wdl ? { outputWdl: tensors.wdl } : {}),
        ...(tensors.value ? { outputValue: tensors.value } : {}),
        ...(tensors.movesLeft ? { outputMlh: tensors.movesLeft } : {}),
      },
    };
    return { net, notes: this.notes };
  }

  private recognise(tensors: NetworkTensors, inputFormat: number, isRequired: boolean): NetMessage | undefined {
    try {
      const net = recogniseGraph(this.graph, tensors, inputFormat);
      this.notes.push("The graph is a residual network of lc0's kind and was written as lc0's own weights (LINEAR16).");
      return net;
    } catch (error) {
      if (!(error instanceof Unrecognised)) throw error;
      if (isRequired) throw new NetworkError(`it is no residual network of lc0's kind: ${error.message}`);
      this.notes.push(`The graph was wrapped as it is, for lc0's ONNX backends (${error.message}).`);
      return undefined;
    }
  }

  private checkShapes(input: ValueInfoMessage, tensors: NetworkTensors): void {
    if (this.options.validateWeights === false) return;
    const shape = (input.type?.tensorType?.shape?.dim ?? []).slice(1).map((dim) => Number(dim.dimValue ?? -1));
    if (shape.length > 0 && shape.join() !== '112,8,8') {
      throw new NetworkError(`its input "${tensors.input}" is ${shape.join('×')} a position; lc0 gives 112×8×8`);
    }
    const expected: [string | undefined, number][] = [
      [tensors.policy, 1858],
      [tensors.wdl, 3],
      [tensors.value, 1],
      [tensors.movesLeft, 1],
    ];
    for (const [name, width] of expected) {
      if (name === undefined) continue;
      findOutput(this.graph, name);
      const output = this.header.outputs.find((tensor) => tensor.name === name);
      const actual = output === undefined ? 0 : getWidth(output);
      if (actual > 0 && actual !== width) {
        throw new NetworkError(`its output "${name}" has ${actual} values where ${width} are needed`);
      }
    }
  }

  private warnAboutUnused(tensors: NetworkTensors): void {
    const used = new Set<string | undefined>(Object.values(tensors));
    for (const { name } of this.header.inputs) {
      if (!used.has(name)) this.notes.push(`The input "${name}" is not used.`);
    }
    for (const { name } of this.header.outputs) {
      if (!used.has(name)) this.notes.push(`The output "${name}" is not used.`);
    }
  }

  private scaleRule50(input: string, dataType: number): void {
    const scales = new Float32Array(112).fill(1);
    scales[RULE50_PLANE] = 1 / RULE50_DIVISOR;
    const name = `${input}/rule50/scales`;
    const rawData = new Uint8Array(scales.buffer);
    this.graph.initializer = [
      ...(this.graph.initializer ?? []),
      { name, dims: [112, 1, 1], dataType: TensorType.FLOAT, rawData },
    ];
    let operand = name;
    if (dataType !== TensorType.FLOAT) {
      operand = `${name}/typed`;
      this.graph.node = [
        {
          opType: 'Cast',
          name: operand,
          input: [name],
          output: [operand],
          attribute: [{ name: 'to', i: dataType, type: 2 }],
        },
        ...(this.graph.node ?? []),
      ];
    }
    insertBehindInput(this.graph, input, { opType: 'Mul', operands: [operand], suffix: 'rule50' });
    this.isChanged = true;
    this.notes.push(`The rule-50 plane of "${input}" is divided by ${RULE50_DIVISOR}.`);
  }

  private addSoftmax(output: string): void {
    insertBeforeOutput(this.graph, output, { opType: 'Softmax', attributes: { axis: 1 }, suffix: 'logits' });
    this.isChanged = true;
    this.notes.push(`A softmax was put before "${output}".`);
  }

  /** lc0 reads all outputs in the type of the input. */
  private ensureType(name: string, dataType: number): void {
    const output = findOutput(this.graph, name);
    const tensor = output.type?.tensorType;
    if ((tensor?.elemType ?? dataType) === dataType) return;
    insertBeforeOutput(this.graph, name, { opType: 'Cast', attributes: { to: dataType }, suffix: 'untyped' });
    output.type = { tensorType: { ...tensor, elemType: dataType } };
    this.isChanged = true;
    this.notes.push(`"${name}" is converted to the type of the input.`);
  }
}

function pickEnum(table: Readonly<Record<string, number>>, name: string, what: string): number {
  if (!Object.hasOwn(table, name)) {
    throw new NetworkError(`${name} is no ${what}; there are ${Object.keys(table).join(', ')}`);
  }
  return table[name];
}
