/** Which tensors of an ONNX model are planes, policy, value and moves left: as told, else by metadata, name and shape. */
import { LC0_TENSOR_NAMES } from './build-onnx.js';
import { listNames } from './graph-edit.js';
import { InputFormat } from './net-enums.js';
import { NetworkError } from './network-error.js';
import type { GraphMessage, ValueInfoMessage } from './onnx-schema.js';

/** Names the user gave. */
export interface TensorChoice {
  readonly onnxInput?: string | undefined;
  readonly onnxOutputValue?: string | undefined;
  readonly onnxOutputWdl?: string | undefined;
  readonly onnxOutputPolicy?: string | undefined;
  readonly onnxOutputMlh?: string | undefined;
}

/** Of `wdl` and `value` there is exactly one. */
export interface NetworkTensors {
  readonly input: string;
  readonly policy: string;
  readonly wdl?: string;
  readonly value?: string;
  readonly movesLeft?: string;
}

/**
 * Name of lc0's enum. Without metadata: the classical 112 planes.
 * @throws NetworkError
 */
export function getInputFormat(metadata: ReadonlyMap<string, string>): string {
  const named = metadata.get('sardonyx.input');
  if (named === undefined || named === 'lc0-112') return 'INPUT_CLASSICAL_112_PLANE';
  if (Object.hasOwn(InputFormat, named)) return named;
  throw new NetworkError(`its input is "${named}", which lc0 does not know`);
}

export class TensorChooser {
  /** What was guessed, a sentence each. */
  readonly notes: string[] = [];

  constructor(
    private readonly graph: GraphMessage,
    private readonly metadata: ReadonlyMap<string, string>,
    private readonly options: TensorChoice,
  ) {}

  /** @throws NetworkError */
  choose(): NetworkTensors {
    const { options, graph } = this;
    const policyEncoding = this.metadata.get('sardonyx.policy');
    if (policyEncoding !== undefined && policyEncoding !== 'lc0-1858') {
      throw new NetworkError(`its policy is "${policyEncoding}", which lc0 does not know`);
    }
    if (options.onnxOutputValue && options.onnxOutputWdl) {
      throw new NetworkError('--onnx-output-value and --onnx-output-wdl are both given; a network has one of them');
    }
    const input = options.onnxInput ?? this.findByName(graph.input, [LC0_TENSOR_NAMES.input]) ?? this.findOnlyInput();
    const policy = options.onnxOutputPolicy ?? this.findByWidth(1858, LC0_TENSOR_NAMES.policy);
    if (!input) throw new NetworkError(`--onnx-input must be given; the model has ${listNames(graph.input)}`);
    if (!policy) {
      throw new NetworkError(`--onnx-output-policy must be given; the model has ${listNames(graph.output)}`);
    }
    const movesLeft = options.onnxOutputMlh ?? this.findMovesLeft();
    const base = { input, policy, ...(movesLeft ? { movesLeft } : {}) };
    if (options.onnxOutputWdl) return { ...base, wdl: options.onnxOutputWdl };
    if (options.onnxOutputValue) return { ...base, value: options.onnxOutputValue };
    const wdl =
      this.metadata.get('sardonyx.value') === 'scalar' ? undefined : this.findByWidth(3, LC0_TENSOR_NAMES.wdl);
    if (wdl) return { ...base, wdl };
    const value = this.findByWidth(1, LC0_TENSOR_NAMES.value, movesLeft);
    if (value) return { ...base, value };
    const names = listNames(graph.output);
    throw new NetworkError(`--onnx-output-wdl or --onnx-output-value must be given; the model has ${names}`);
  }

  private findByName(infos: readonly ValueInfoMessage[] | undefined, names: readonly string[]): string | undefined {
    return infos?.find((info) => info.name !== undefined && names.includes(info.name))?.name;
  }

  private findOnlyInput(): string | undefined {
    const weights = new Set(this.graph.initializer?.map((tensor) => tensor.name));
    const inputs = (this.graph.input ?? []).filter((info) => !weights.has(info.name));
    return inputs.length === 1 ? this.note(inputs[0].name, 'planes') : undefined;
  }

  private findMovesLeft(): string | undefined {
    const looksRight = (info: ValueInfoMessage): boolean =>
      /mlh|moves.?left|plies.?left/i.test(info.name ?? '') && getWidth(info) === 1;
    const found = this.graph.output?.find(looksRight)?.name;
    return found === LC0_TENSOR_NAMES.movesLeft ? found : this.note(found, 'moves left');
  }

  private findByWidth(width: number, usualName: string, except?: string): string | undefined {
    const usual = this.findByName(this.graph.output, [usualName]);
    if (usual) return usual;
    const fitting = (this.graph.output ?? []).filter((info) => getWidth(info) === width && info.name !== except);
    return fitting.length === 1 ? this.note(fitting[0].name, `output with ${width} values`) : undefined;
  }

  private note(name: string | undefined, role: string): string | undefined {
    if (name) this.notes.push(`"${name}" was taken as the ${role}.`);
    return name;
  }
}

/** Values a position, or 0 when the shape is open. */
export function getWidth(info: ValueInfoMessage): number {
  const dims = info.type?.tensorType?.shape?.dim ?? [];
  return dims
    .slice(1)
    .reduce((product, dim) => product * Math.max(0, Number(dim.dimValue ?? 0)), dims.length > 0 ? 1 : 0);
}
