/**
 * Which tensors of a model mean what. Metadata decides where there is any (docs/networks.md); otherwise shapes and names
 * do, lc0's own exports included (`/input/planes`, `/output/policy`, `/output/wdl`, `/output/value`, `/output/mlh`).
 * It refuses what it does not know, by name, instead of guessing: a wrong guess plays legal chess, badly.
 */
import {
  getInputEncoding,
  getPolicyEncoding,
  type InputEncoding,
  listInputEncodings,
  listPolicyEncodings,
  type PolicyEncoding,
} from '../../encoding/index.js';
import { failure, type Result, success } from '../../util/index.js';
import { FLOAT16, FLOAT32, type OnnxHeader, type TensorDescription } from './onnx-header.js';

/** What comes out of the value head: W, D, L softmaxed or not, or one number from −1 to 1. */
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
  /** The batch size the file insists on, or null. */
  readonly fixedBatch: number | null;
  readonly policy: TensorPort;
  readonly value: TensorPort;
  readonly movesLeft: TensorPort | null;
}

export function recogniseNetwork(header: OnnxHeader): Result<NetworkFormat> {
  const input = recogniseInput(header);
  if (!input.ok) return input;
  const policy = recognisePolicy(header);
  if (!policy.ok) return policy;
  const value = recogniseValue(header, policy.value.tensor);
  if (!value.ok) return value;
  const movesLeft = findMovesLeft(header);
  const tensors = [input.value.tensor, policy.value.tensor, value.value.tensor, ...(movesLeft ? [movesLeft] : [])];
  const odd = tensors.find((tensor) => tensor.elementType !== FLOAT32 && tensor.elementType !== FLOAT16);
  if (odd !== undefined) {
    return failure(`has neither 32-bit nor 16-bit floats in "${odd.name}" (ONNX type ${odd.elementType})`);
  }
  const batch = input.value.tensor.shape[0];
  return success({
    inputEncoding: input.value.encoding,
    policyEncoding: policy.value.encoding,
    valueKind: value.value.kind,
    input: createPort(input.value.tensor),
    fixedBatch: batch > 0 ? batch : null,
    policy: createPort(policy.value.tensor),
    value: createPort(value.value.tensor),
    movesLeft: movesLeft === null ? null : createPort(movesLeft),
  });
}

function createPort(tensor: TensorDescription): TensorPort {
  return { name: tensor.name, isFloat16: tensor.elementType === FLOAT16, shape: tensor.shape.slice(1) };
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

function recognisePolicy(header: OnnxHeader): Result<{ encoding: PolicyEncoding; tensor: TensorDescription }> {
  const named = header.metadata.get('sardonyx.policy');
  const candidates: PolicyEncoding[] = [];
  if (named !== undefined) {
    const encoding = getPolicyEncoding(named);
    if (!encoding.ok) return failure(`cannot be used: ${lowerFirst(encoding.error)}`);
    candidates.push(encoding.value);
  } else {
    for (const name of listPolicyEncodings()) {
      const encoding = getPolicyEncoding(name);
      if (encoding.ok) candidates.push(encoding.value);
    }
  }
  for (const encoding of candidates) {
    const fitting = header.outputs.filter((output) => getWidth(output) === encoding.size);
    const tensor = fitting.find((output) => /policy/i.test(output.name)) ?? fitting[0];
    if (tensor !== undefined) return success({ encoding, tensor });
  }
  const sizes = candidates.map((encoding) => `${encoding.size} for ${encoding.name}`).join(', ');
  return failure(`has no policy output of a known size (${sizes}) among ${describeAll(header.outputs)}`);
}

function recogniseValue(
  header: OnnxHeader,
  policy: TensorDescription,
): Result<{ kind: ValueKind; tensor: TensorDescription }> {
  const named = header.metadata.get('sardonyx.value');
  if (named !== undefined && named !== 'wdl' && named !== 'scalar') {
    return failure(`has the value head "${named}"; known are wdl and scalar`);
  }
  const activation = header.metadata.get('sardonyx.value.activation');
  if (activation !== undefined && !/^(softmax(ed)?|logits|tanh)$/.test(activation)) {
    return failure(`has the value activation "${activation}"; known are softmax, logits and tanh`);
  }
  const others = header.outputs.filter((output) => output !== policy);
  const wdl = preferNamed(others, 3, /wdl|value/i);
  if (wdl !== null && named !== 'scalar') {
    return success({ kind: activation === 'logits' ? 'wdl-logits' : 'wdl', tensor: wdl });
  }
  const scalar = preferNamed(
    others.filter((output) => !isMovesLeft(output)),
    1,
    /value/i,
  );
  if (scalar !== null && named !== 'wdl') return success({ kind: 'scalar', tensor: scalar });
  return failure(
    `has no ${named ?? 'value'} output (3 wide for WDL, 1 for a scalar) among ${describeAll(header.outputs)}`,
  );
}

function preferNamed(outputs: readonly TensorDescription[], width: number, name: RegExp): TensorDescription | null {
  const fitting = outputs.filter((output) => getWidth(output) === width);
  return fitting.find((output) => name.test(output.name)) ?? fitting[0] ?? null;
}

function isMovesLeft(output: TensorDescription): boolean {
  return /mlh|moves.?left|plies.?left/i.test(output.name);
}

function findMovesLeft(header: OnnxHeader): TensorDescription | null {
  return header.outputs.find((output) => isMovesLeft(output) && getWidth(output) === 1) ?? null;
}

/** Numbers a position: 1858 for [batch, 1858]. 0 when a dimension other than the batch is open. */
function getWidth({ shape }: TensorDescription): number {
  if (shape.length === 0) return 0;
  return shape.slice(1).reduce((product, size) => (size > 0 ? product * size : 0), 1);
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
