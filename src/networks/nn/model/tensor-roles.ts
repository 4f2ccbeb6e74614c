/**
 * Finds the roles of a model's tensors by metadata, shapes and names. The engine and the converters share these rules. Of several
 * outputs with a fitting width it takes the one with lc0's name, then the first whose name fits. Networks may have further heads
 * in any order: `policy` is preferred to `policy_soft`, and lc0's default heads, vanilla and winner, to all others.
 */

import type { OnnxHeader, TensorDescription } from './onnx-header.js';

/** The names in lc0's own exports. */
export const LC0_TENSOR_NAMES = {
  input: '/input/planes',
  policy: '/output/policy',
  wdl: '/output/wdl',
  value: '/output/value',
  movesLeft: '/output/mlh',
} as const;

const MOVES_LEFT = /mlh|moves.?left|plies.?left/i;
/** Words in the names of the heads to use. Other words, such as soft, optimistic, st or q, mark further heads. */
const PLAIN_WORDS = /^(output|head|policy|vanilla|value|winner|wdl|mlh|moves|plies|left|logits|softmax|tanh|\d+)$/;

/** Null = not found. At most one of `wdl` and `scalar` is set. */
export interface TensorRoles {
  readonly input: TensorDescription | null;
  readonly policy: TensorDescription | null;
  readonly wdl: TensorDescription | null;
  readonly scalar: TensorDescription | null;
  readonly movesLeft: TensorDescription | null;
}

/** @param policySizes possible widths of the policy, the most likely first */
export function findTensors(
  { inputs, outputs, metadata }: Pick<OnnxHeader, 'inputs' | 'outputs' | 'metadata'>,
  policySizes: readonly number[],
): TensorRoles {
  const policies = policySizes.map((size) => pick(outputs, size, LC0_TENSOR_NAMES.policy, /policy/i));
  const policy = policies.find((output) => output !== null) ?? null;
  const others = outputs.filter((output) => output !== policy);
  const valueKind = metadata.get('sardonyx.value');
  const wdl = valueKind === 'scalar' ? null : pick(others, 3, LC0_TENSOR_NAMES.wdl, /wdl|value/i);
  const numbers = others.filter(({ name }) => !MOVES_LEFT.test(name));
  const hasScalar = wdl === null && valueKind !== 'wdl';
  return {
    input: inputs.find(({ name }) => name === LC0_TENSOR_NAMES.input) ?? (inputs.length === 1 ? inputs[0] : null),
    policy,
    wdl,
    scalar: hasScalar ? pick(numbers, 1, LC0_TENSOR_NAMES.value, /value/i) : null,
    movesLeft: pick(
      outputs.filter(({ name }) => MOVES_LEFT.test(name)),
      1,
      LC0_TENSOR_NAMES.movesLeft,
      MOVES_LEFT,
    ),
  };
}

function pick(
  outputs: readonly TensorDescription[],
  width: number,
  usualName: string,
  looks: RegExp,
): TensorDescription | null {
  const fitting = outputs.filter((output) => getWidth(output) === width);
  const usual = fitting.find(({ name }) => name === usualName);
  const called = fitting.filter(({ name }) => looks.test(name));
  const fewest = Math.min(...called.map(({ name }) => countFurtherWords(name)));
  return usual ?? called.find(({ name }) => countFurtherWords(name) === fewest) ?? fitting[0] ?? null;
}

function countFurtherWords(name: string): number {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
  return words.filter((word) => word !== '' && !PLAIN_WORDS.test(word)).length;
}

/** Numbers per position: 1858 for [batch, 1858]; 0 if a dimension other than the batch is open. */
export function getWidth({ shape }: Pick<TensorDescription, 'shape'>): number {
  if (shape.length === 0) return 0;
  return shape.slice(1).reduce((product, size) => product * Math.max(0, size), 1);
}
