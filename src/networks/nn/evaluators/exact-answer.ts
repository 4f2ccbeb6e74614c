/** What a network says of a position, with an exact softmax and in its own precision: for comparisons and explanations, not for the search. */
import type { NetworkFormat } from '../model/network-format.js';
import type { RunTensor } from './onnx-sessions.js';
import { readHeadNumber, readScalar, readWdlInto } from './value-head.js';

export interface ExactAnswer {
  /** Of the legal moves, without temperature; they sum to 1. */
  readonly priors: readonly number[];
  /** W − L, mover's view. */
  readonly valueWl: number;
}

/**
 * @param results the outputs by name
 * @param row of the position in its batch
 * @param indices policy indices of its legal moves
 */
export function readExactAnswer(
  { policy, value, valueKind }: Pick<NetworkFormat, 'policy' | 'value' | 'valueKind'>,
  results: Readonly<Record<string, RunTensor>>,
  row: number,
  indices: readonly number[],
): ExactAnswer {
  const [policies, values] = [policy, value].map(({ name }) => {
    const { data, dims } = results[name];
    return { data, width: data.length / dims[0] };
  });
  const logits = indices.map((index) => readHeadNumber(policies, row * policies.width + index));
  const max = Math.max(...logits);
  const weights = logits.map((logit) => Math.exp(logit - max));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const priors = weights.map((weight) => weight / sum);
  if (valueKind === 'scalar') return { priors, valueWl: readScalar(values, row) };
  const [wl, d] = [new Float32Array(1), new Float32Array(1)];
  readWdlInto(values, row, valueKind === 'wdl-logits', wl, d, 0);
  return { priors, valueWl: wl[0] };
}
