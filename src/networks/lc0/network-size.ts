/** The size of an lc0 network: weights in the file, and floating-point operations of one evaluation. */
import type { DenseLayer, EncoderLayer, FeedForward, NetworkPlan, PolicyHead, Reduction } from '../onnx/index.js';
import { decodeLayer } from './layer-encoding.js';
import type { LayerMessage, WeightsMessage } from './net-schema.js';

/** Weights of a layer in the file; 0 for one that is absent. */
export function countWeights(layer: LayerMessage | undefined | null): number {
  return layer?.params?.length ? decodeLayer(layer, 'of the network').length : 0;
}

/** Every stored weight, of all heads; BatchNorm statistics count as four a channel. */
export function countParameters(weights: WeightsMessage): number {
  let count = 0;
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
    if ((value as LayerMessage).params instanceof Uint8Array) count += countWeights(value);
    else for (const child of Array.isArray(value) ? value : Object.values(value)) visit(child);
  };
  visit(weights);
  return count;
}

/**
 * Multiplications and additions of one evaluation with the heads of the plan: two for each weight of a dense layer, or for each
 * convolution tap and square. Activations, norms and additions of whole layers are not counted; they are a few percent.
 */
export function countFlops(plan: NetworkPlan): number {
  let multiplies = 0;
  const convolution = (layer: { inputs: number; outputs: number; kernel: number }): void => {
    multiplies += layer.inputs * layer.outputs * layer.kernel ** 2 * 64;
  };
  const dense = (layer: DenseLayer, rows: number): void => {
    multiplies += layer.inputs * layer.outputs * rows;
  };
  const feedForward = (layers: FeedForward | undefined): void => {
    if (layers) for (const layer of [layers.first, layers.second]) dense(layer, 64);
  };
  const encoder = (layers: EncoderLayer): void => {
    const { attention } = layers;
    for (const layer of [attention.query, attention.key, attention.value, attention.output]) dense(layer, 64);
    // Products of queries with keys, and of attention weights with values.
    multiplies += 2 * 64 * 64 * attention.modelSize;
    if (attention.smolgen) {
      const { smolgen } = attention;
      dense(smolgen.compress, 64);
      for (const layer of [smolgen.first, smolgen.second]) dense(layer, 1);
      dense(smolgen.generator, attention.heads);
    }
    feedForward(layers.feedForward);
  };
  const reduction = (part: Reduction): void =>
    part.kind === 'dense' ? dense(part.layer, 64) : convolution(part.layer);
  const policy = (head: PolicyHead): void => {
    switch (head.kind) {
      case 'dense':
        convolution(head.convolution);
        dense(head.dense, 1);
        break;
      case 'convolution':
        convolution(head.first);
        convolution(head.second);
        break;
      case 'attention':
        for (const layer of [head.embedding, head.query, head.key]) dense(layer, 64);
        head.encoders.forEach(encoder);
        dense(head.promotion, 8);
        multiplies += 64 * 64 * head.query.outputs;
    }
  };

  if (plan.convolutionBody) {
    convolution(plan.convolutionBody.input);
    for (const block of plan.convolutionBody.blocks) {
      convolution(block.first);
      convolution(block.second);
      if (block.squeezeExcite) for (const layer of Object.values(block.squeezeExcite)) dense(layer, 1);
    }
  }
  if (plan.attentionBody) {
    const { positions, embedding, embeddingFeedForward, encoders } = plan.attentionBody;
    if (positions.kind === 'dense') dense(positions.preprocess, 1);
    dense(embedding, 64);
    feedForward(embeddingFeedForward);
    encoders.forEach(encoder);
  }
  policy(plan.policy);
  for (const head of plan.movesLeft ? [plan.value, plan.movesLeft] : [plan.value]) {
    reduction(head.reduction);
    dense(head.hidden, 1);
    dense(head.output, 1);
  }
  return 2 * multiplies;
}
