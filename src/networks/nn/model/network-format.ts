/**
 * Finds the meaning of a model's tensors from its metadata (docs/networks.md), else from shapes and names, which covers lc0's own
 * exports. findTensorRoles finds the role of each tensor. Unknown formats are refused, not guessed, because a network with a
 * wrong guess plays legal but bad chess.
 */

import { failure, type Result, success, unwrap } from '../../../base/util/index.js';
import { BLACK, type Position, WHITE } from '../../../chess/rules/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  type InputEncoding,
  listInputEncodings,
  listPolicyEncodings,
  type PolicyEncoding,
} from '../../encoding/index.js';
import type { OnnxHeader, TensorDescription } from './onnx-header.js';
import { findTensors, getWidth, type TensorRoles } from './tensor-roles.js';
import { TensorType } from './tensor-type.js';

/** Output of the value head: W, D, L with or without softmax, or one number from −1 to 1. */
export type ValueKind = 'wdl' | 'wdl-logits' | 'scalar';

export interface TensorPort {
  readonly name: string;
  readonly isFloat16: boolean;
  /** Without the batch: [planes, 8, 8], [1858], … */
  readonly shape: readonly number[];
}

export interface NetworkFormat {
  readonly inputEncoding: InputEncoding;
  readonly policyEncoding: PolicyEncoding;
  readonly valueKind: ValueKind;
  readonly input: TensorPort;
  /** The file's fixed batch size, or null. */
  readonly fixedBatch: number | null;
  readonly policy: TensorPort;
  readonly value: TensorPort;
  readonly movesLeft: TensorPort | null;
  /**
   * A network with a body for each phase of the game: the fewest men (both sides, kings and pawns too) of the positions that each body but
   * the last evaluates, falling. All positions of a call must belong to one body. Empty for one body.
   */
  readonly phases: readonly number[];
}

export function recogniseNetwork(header: OnnxHeader): Result<NetworkFormat> {
  const input = recogniseInput(header);
  if (!input.ok) return input;
  const policies = listPolicies(header);
  if (!policies.ok) return policies;
  const sizes = policies.value.map(({ size }) => size);
  const roles = findTensors(header, sizes);
  const policy = recognisePolicy(header, policies.value, roles);
  if (!policy.ok) return policy;
  const value = recogniseValue(header, roles);
  if (!value.ok) return value;
  const { movesLeft } = roles;
  const tensors = [input.value.tensor, policy.value.tensor, value.value.tensor, ...(movesLeft ? [movesLeft] : [])];
  const unsupported = tensors.find(
    ({ elementType }) => elementType !== TensorType.FLOAT && elementType !== TensorType.FLOAT16,
  );
  if (unsupported !== undefined) {
    const { name, elementType } = unsupported;
    return failure(`has neither 32-bit nor 16-bit floats in "${name}" (ONNX type ${elementType})`);
  }
  const phases = readPhases(header);
  if (!phases.ok) return phases;
  const batch = input.value.tensor.shape[0];
  if (phases.value.length > 0 && batch > 1) return failure('has bodies for phases of the game and a fixed batch');
  return success({
    inputEncoding: input.value.encoding,
    policyEncoding: policy.value.encoding,
    valueKind: value.value.kind,
    input: createPort(input.value.tensor),
    fixedBatch: batch > 0 ? batch : null,
    policy: createPort(policy.value.tensor),
    value: createPort(value.value.tensor),
    movesLeft: movesLeft === null ? null : createPort(movesLeft),
    phases: phases.value,
  });
}

const MOST_MEN = 32;

/** `sardonyx.phases`, such as `27 15`. */
function readPhases({ metadata }: OnnxHeader): Result<number[]> {
  const text = metadata.get('sardonyx.phases');
  if (text === undefined) return success([]);
  const phases = text.split(' ').map(Number);
  const isFalling = phases.every((men, i) => Number.isInteger(men) && men > 2 && men < (phases[i - 1] ?? MOST_MEN + 1));
  return isFalling
    ? success(phases)
    : failure(`has the phases "${text}"; they are falling counts of men, such as "27 15"`);
}

/** @returns the number of the body that evaluates a position, by its men */
export function findBody(phases: readonly number[], position: Position): number {
  const men = position.countMen(WHITE) + position.countMen(BLACK);
  const body = phases.findIndex((fewest) => men >= fewest);
  return body < 0 ? phases.length : body;
}

function createPort(tensor: TensorDescription): TensorPort {
  return { name: tensor.name, isFloat16: tensor.elementType === TensorType.FLOAT16, shape: tensor.shape.slice(1) };
}

function recogniseInput(header: OnnxHeader): Result<{ encoding: InputEncoding; tensor: TensorDescription }> {
  if (header.inputs.length !== 1) {
    return failure(`has ${header.inputs.length} inputs (${quoteNames(header.inputs)}), but one is expected`);
  }
  const [tensor] = header.inputs;
  const planes = getPlaneCount(tensor);
  const named = header.metadata.get('sardonyx.input');
  if (named !== undefined) {
    const encoding = getInputEncoding(named);
    if (!encoding.ok) return failure(`cannot be used: ${lowerFirst(encoding.error)}`);
    if (encoding.value.planes !== planes) {
      return failure(`says "${named}" (${encoding.value.planes} planes), but its input is ${describe(tensor)}`);
    }
    return success({ encoding: encoding.value, tensor });
  }
  // The registry lists the classical format of each plane count first.
  for (const name of listInputEncodings()) {
    const encoding = getInputEncoding(name);
    if (encoding.ok && encoding.value.planes === planes) return success({ encoding: encoding.value, tensor });
  }
  return failure(`has the input ${describe(tensor)}, which is not the shape of any known encoding`);
}

/** [batch, planes, 8, 8] or [batch, planes, 64]; 0 for other shapes. */
function getPlaneCount({ shape }: TensorDescription): number {
  const isBoard = shape.length === 4 && shape[2] === 8 && shape[3] === 8;
  return isBoard || (shape.length === 3 && shape[2] === 64) ? shape[1] : 0;
}

/** The policy encodings that the metadata allow, most likely first. */
function listPolicies(header: OnnxHeader): Result<PolicyEncoding[]> {
  const named = header.metadata.get('sardonyx.policy');
  if (named === undefined) {
    return success(listPolicyEncodings().map((name) => unwrap(getPolicyEncoding(name))));
  }
  const encoding = getPolicyEncoding(named);
  return encoding.ok ? success([encoding.value]) : failure(`cannot be used: ${lowerFirst(encoding.error)}`);
}

function recognisePolicy(
  header: OnnxHeader,
  candidates: readonly PolicyEncoding[],
  { policy }: TensorRoles,
): Result<{ encoding: PolicyEncoding; tensor: TensorDescription }> {
  const encoding = candidates.find(({ size }) => policy !== null && size === getWidth(policy));
  if (policy !== null && encoding !== undefined) return success({ encoding, tensor: policy });
  const sizes = candidates.map((candidate) => `${candidate.size} for ${candidate.name}`).join(', ');
  return failure(`has no policy output of a known size (${sizes}) among ${describeAll(header.outputs)}`);
}

function recogniseValue(
  header: OnnxHeader,
  { wdl, scalar }: TensorRoles,
): Result<{ kind: ValueKind; tensor: TensorDescription }> {
  const named = header.metadata.get('sardonyx.value');
  if (named !== undefined && named !== 'wdl' && named !== 'scalar') {
    return failure(`has the value head "${named}"; known are wdl and scalar`);
  }
  const activation = header.metadata.get('sardonyx.value.activation');
  if (activation !== undefined && !/^(softmax(ed)?|logits|tanh)$/.test(activation)) {
    return failure(`has the value activation "${activation}"; known are softmax, logits and tanh`);
  }
  if (wdl !== null) return success({ kind: activation === 'logits' ? 'wdl-logits' : 'wdl', tensor: wdl });
  if (scalar !== null) return success({ kind: 'scalar', tensor: scalar });
  return failure(
    `has no ${named ?? 'value'} output (3 wide for WDL, 1 for a scalar) among ${describeAll(header.outputs)}`,
  );
}

function describe({ name, shape }: TensorDescription): string {
  return `"${name}" [${shape.map((size) => (size < 0 ? '?' : size)).join(', ')}]`;
}

function describeAll(tensors: readonly TensorDescription[]): string {
  return tensors.length === 0 ? 'no outputs' : tensors.map(describe).join(', ');
}

function quoteNames(tensors: readonly TensorDescription[]): string {
  return tensors.map((tensor) => `"${tensor.name}"`).join(', ');
}

function lowerFirst(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1);
}
