/**
 * Chooses which tensors of an ONNX model are planes, policy, value and moves left: those the user named, else those the engine
 * would take.
 */
import { LC0_POLICY_SIZE } from '../encoding/index.js';
import { findTensors, getWidth, LC0_TENSOR_NAMES, type TensorDescription, type TensorRoles } from '../nn/index.js';
import { type GraphMessage, listNames, NetworkError, type ValueInfoMessage } from '../onnx/index.js';
import { InputFormat } from './net-enums.js';

/** Names the user gave. */
export interface TensorChoice {
  readonly onnxInput?: string | undefined;
  readonly onnxOutputValue?: string | undefined;
  readonly onnxOutputWdl?: string | undefined;
  readonly onnxOutputPolicy?: string | undefined;
  readonly onnxOutputMlh?: string | undefined;
}

/** Has either `wdl` or `value`, never both. */
export interface NetworkTensors {
  readonly input: string;
  readonly policy: string;
  readonly wdl?: string;
  readonly value?: string;
  readonly movesLeft?: string;
}

/**
 * The input format, as lc0's enum names it; the classical 112 planes if the metadata do not say.
 * @throws NetworkError
 */
export function getInputFormat(metadata: ReadonlyMap<string, string>): string {
  const named = metadata.get('sardonyx.input');
  if (named === undefined || named === 'lc0-112') return 'INPUT_CLASSICAL_112_PLANE';
  if (Object.hasOwn(InputFormat, named)) return named;
  throw new NetworkError(`its input is "${named}", which lc0 does not know`);
}

export class TensorChooser {
  /** One sentence for each tensor that was guessed. */
  readonly notes: string[] = [];

  constructor(
    private readonly graph: GraphMessage,
    private readonly metadata: ReadonlyMap<string, string>,
    private readonly options: TensorChoice,
  ) {}

  /** @throws NetworkError */
  choose(): NetworkTensors {
    const { options, graph, metadata } = this;
    const policyEncoding = metadata.get('sardonyx.policy');
    if (policyEncoding !== undefined && policyEncoding !== 'lc0-1858') {
      throw new NetworkError(`its policy is "${policyEncoding}", which lc0 does not know`);
    }
    if (options.onnxOutputValue && options.onnxOutputWdl) {
      throw new NetworkError('--onnx-output-value and --onnx-output-wdl are both given; a network has one of them');
    }
    const roles = this.findRoles();
    const input = options.onnxInput ?? this.take('input', roles.input, 'planes');
    const policy = options.onnxOutputPolicy ?? this.take('policy', roles.policy, 'output with 1858 values');
    if (!input) throw new NetworkError(`--onnx-input must be given; the model has ${listNames(graph.input)}`);
    if (!policy) {
      throw new NetworkError(`--onnx-output-policy must be given; the model has ${listNames(graph.output)}`);
    }
    const movesLeft = options.onnxOutputMlh ?? this.take('movesLeft', roles.movesLeft, 'moves left');
    return { input, policy, ...this.chooseValue(roles), ...(movesLeft ? { movesLeft } : {}) };
  }

  private chooseValue(roles: TensorRoles): Pick<NetworkTensors, 'wdl' | 'value'> {
    const { options, graph, metadata } = this;
    if (options.onnxOutputWdl) return { wdl: options.onnxOutputWdl };
    if (options.onnxOutputValue) return { value: options.onnxOutputValue };
    const isScalar = roles.scalar !== null || metadata.get('sardonyx.value') === 'scalar';
    const wdl = isScalar ? undefined : this.take('wdl', roles.wdl, 'output with 3 values');
    if (wdl) return { wdl };
    const value = this.take('value', roles.scalar, 'output with 1 values');
    if (value) return { value };
    const names = listNames(graph.output);
    throw new NetworkError(`--onnx-output-wdl or --onnx-output-value must be given; the model has ${names}`);
  }

  /** The tensors that the engine would take, without those that the user gave another meaning. */
  private findRoles(): TensorRoles {
    const { graph, metadata, options } = this;
    const weights = new Set(graph.initializer?.map((tensor) => tensor.name));
    const claimed = new Set([
      options.onnxOutputPolicy,
      options.onnxOutputWdl,
      options.onnxOutputValue,
      options.onnxOutputMlh,
    ]);
    const inputs = (graph.input ?? []).filter((info) => !weights.has(info.name)).map(describeTensor);
    const outputs = (graph.output ?? []).filter((info) => !claimed.has(info.name)).map(describeTensor);
    return findTensors({ inputs, outputs, metadata }, [LC0_POLICY_SIZE]);
  }

  /** If shapes do not decide, takes the tensor with lc0's own name. */
  private take(role: keyof typeof LC0_TENSOR_NAMES, found: TensorDescription | null, what: string): string | undefined {
    const usualName = LC0_TENSOR_NAMES[role];
    const infos = role === 'input' ? this.graph.input : this.graph.output;
    const name = found?.name ?? infos?.find((info) => info.name === usualName)?.name;
    if (name && name !== usualName) this.notes.push(`"${name}" was taken as the ${what}.`);
    return name;
  }
}

function describeTensor({ name = '', type }: ValueInfoMessage): TensorDescription {
  const dims = type?.tensorType?.shape?.dim ?? [];
  const shape = dims.map((dim) => Number(dim.dimValue ?? -1));
  return { name, elementType: type?.tensorType?.elemType ?? 0, shape };
}

/** Values a position; 0 if the shape is not fixed. */
export function getOutputWidth(info: ValueInfoMessage): number {
  return getWidth(describeTensor(info));
}
