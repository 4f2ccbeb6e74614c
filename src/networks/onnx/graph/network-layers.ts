/**
 * A network as layers with known shapes: the step between lc0's file (message fields, implicit sizes) and the ONNX graph. Every
 * size in a plan has been checked. Dense weights are stored [outputs][inputs], convolution weights
 * [outputs][inputs][kernel][kernel] with BatchNorm folded in.
 */

/**
 * Weights that are decoded in chunks while they are written into the ONNX file, and never held in memory as a whole; otherwise
 * a 100 MB network would exist three times. Sources wrap each other (decode, scale, concatenate).
 */
export interface TensorSource {
  /** Number of elements. */
  readonly length: number;
  /** Writes elements start … start+count−1 to out[0 … count−1]. */
  read(start: number, count: number, out: Float32Array): void;
}

export function fromFloats(values: Float32Array): TensorSource {
  return {
    length: values.length,
    read(start, count, out) {
      out.set(values.subarray(start, start + count));
    },
  };
}

export function scaleSource(source: TensorSource, factor: number): TensorSource {
  return {
    length: source.length,
    read(start, count, out) {
      source.read(start, count, out);
      for (let i = 0; i < count; i++) out[i] *= factor;
    },
  };
}

/** Multiplies row r (`source.length / scales.length` elements) by scales[r]. */
export function scaleRows(source: TensorSource, scales: Float32Array): TensorSource {
  const rowLength = source.length / scales.length;
  return {
    length: source.length,
    read(start, count, out) {
      source.read(start, count, out);
      let row = Math.floor(start / rowLength);
      let rowEnd = (row + 1) * rowLength - start;
      for (let i = 0; i < count; i++) {
        if (i === rowEnd) {
          row++;
          rowEnd += rowLength;
        }
        out[i] *= scales[row];
      }
    },
  };
}

/** Part of a source, without gaps. */
export function sliceSource(source: TensorSource, from: number, length: number): TensorSource {
  return { length, read: (start, count, out) => source.read(from + start, count, out) };
}

/** Reads the whole source into memory: for biases, gates and other small parts. */
export function materialise(source: TensorSource): Float32Array {
  const values = new Float32Array(source.length);
  source.read(0, source.length, values);
  return values;
}

export const INPUT_PLANES = 112;
/** Dense embeddings preprocess only the first planes of the input: the pieces of the current position. */
export const EMBEDDED_PLANES = 12;

export type Activation = 'none' | 'relu' | 'relu-squared' | 'mish' | 'swish' | 'selu' | 'tanh' | 'sigmoid' | 'softmax';

export interface DenseLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly weights: TensorSource;
  readonly biases?: TensorSource;
}

export interface ConvolutionLayer {
  readonly inputs: number;
  readonly outputs: number;
  readonly kernel: 1 | 3;
  readonly weights: TensorSource;
  readonly biases: TensorSource;
}

export interface LayerNorm {
  readonly size: number;
  readonly gammas: TensorSource;
  readonly betas: TensorSource;
  readonly epsilon: number;
}

export interface SqueezeExcite {
  readonly squeeze: DenseLayer;
  /** The first half of its outputs scales the channels through a sigmoid; the second half is added. */
  readonly excite: DenseLayer;
}

export interface ResidualBlock {
  readonly first: ConvolutionLayer;
  readonly second: ConvolutionLayer;
  readonly squeezeExcite?: SqueezeExcite;
}

export interface ConvolutionBody {
  readonly input: ConvolutionLayer;
  readonly blocks: readonly ResidualBlock[];
}

/** Attention logits computed from the whole board (lc0's "smolgen"): one 64×64 matrix a head. */
export interface Smolgen {
  readonly compress: DenseLayer;
  readonly first: DenseLayer;
  readonly firstNorm: LayerNorm;
  readonly second: DenseLayer;
  readonly secondNorm: LayerNorm;
  /** Shared by all encoders of a network: [4096][generated size]. */
  readonly generator: DenseLayer;
  readonly activation: Activation;
}

export interface SelfAttention {
  readonly heads: number;
  readonly modelSize: number;
  readonly query: DenseLayer;
  readonly key: DenseLayer;
  readonly value: DenseLayer;
  readonly output: DenseLayer;
  readonly smolgen?: Smolgen;
}

export interface FeedForward {
  readonly first: DenseLayer;
  readonly second: DenseLayer;
  readonly activation: Activation;
}

/** y = norm(x + residualScale · attention(x)), then the same with the feed-forward part (DeepNorm). */
export interface EncoderLayer {
  readonly attention: SelfAttention;
  readonly attentionNorm: LayerNorm;
  readonly feedForward: FeedForward;
  readonly feedForwardNorm: LayerNorm;
  readonly residualScale: number;
}

/** Values that are joined to the 112 planes of each square before the embedding. */
export type PositionEncoding =
  | { readonly kind: 'none' }
  | { readonly kind: 'map' }
  | { readonly kind: 'dense'; readonly preprocess: DenseLayer };

export interface AttentionBody {
  readonly positions: PositionEncoding;
  readonly embedding: DenseLayer;
  readonly embeddingNorm?: LayerNorm;
  /** [embedding][64], as stored in the file. */
  readonly multiplyGate?: TensorSource;
  readonly addGate?: TensorSource;
  readonly embeddingFeedForward?: FeedForward;
  readonly embeddingFeedForwardNorm?: LayerNorm;
  readonly encoders: readonly EncoderLayer[];
  readonly residualScale: number;
}

export type PolicyHead =
  | { readonly kind: 'dense'; readonly convolution: ConvolutionLayer; readonly dense: DenseLayer }
  | { readonly kind: 'convolution'; readonly first: ConvolutionLayer; readonly second: ConvolutionLayer }
  | {
      readonly kind: 'attention';
      readonly embedding: DenseLayer;
      readonly activation: Activation;
      readonly encoders: readonly EncoderLayer[];
      readonly query: DenseLayer;
      readonly key: DenseLayer;
      readonly promotion: DenseLayer;
    };

/** Turns the body's output into one flat vector: a 1×1 convolution, or a dense layer on each square. */
export type Reduction =
  | { readonly kind: 'convolution'; readonly layer: ConvolutionLayer }
  | { readonly kind: 'dense'; readonly layer: DenseLayer };

export interface MovesLeftHead {
  readonly reduction: Reduction;
  readonly hidden: DenseLayer;
  readonly output: DenseLayer;
}

export interface ValueHead extends MovesLeftHead {
  readonly isWdl: boolean;
}

export interface NetworkPlan {
  readonly activation: Activation;
  readonly convolutionBody?: ConvolutionBody;
  readonly attentionBody?: AttentionBody;
  readonly policy: PolicyHead;
  readonly value: ValueHead;
  readonly movesLeft?: MovesLeftHead;
}
