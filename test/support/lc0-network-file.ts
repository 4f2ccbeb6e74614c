/**
 * Writes network files in lc0's format with random weights, for the bodies and heads that docs/networks.md lists. Field numbers and enum
 * values stand here a second time, taken from the facts and not from `src`, so that a wrong number there is noticed.
 * Each layer keeps the values a reader must get from its encoding, for the reference forward pass.
 */
import { gzipSync } from 'node:zlib';
import { createPrng, type Prng } from '#sardonyx/base/util/index.js';
import { WireWriter } from './wire-writer.js';

export type LayerEncodingName = 'LINEAR16' | 'FLOAT16' | 'BFLOAT16' | 'FLOAT32';

/** A layer with the values that its encoded form stands for. */
export class Layer {
  constructor(
    readonly values: Float32Array,
    readonly encoded: Uint8Array,
  ) {}
}

export interface ConvBlock {
  weights: Layer;
  biases?: Layer;
  bnMeans?: Layer;
  bnStddivs?: Layer;
  bnGammas?: Layer;
  bnBetas?: Layer;
}
export interface SeUnit {
  w1: Layer;
  b1: Layer;
  w2: Layer;
  b2: Layer;
}
export interface Residual {
  conv1: ConvBlock;
  conv2: ConvBlock;
  se?: SeUnit;
}
export interface SmolgenLayers {
  compress: Layer;
  dense1W: Layer;
  dense1B: Layer;
  ln1Gammas: Layer;
  ln1Betas: Layer;
  dense2W: Layer;
  dense2B: Layer;
  ln2Gammas: Layer;
  ln2Betas: Layer;
}
export interface MhaLayers {
  qW: Layer;
  qB: Layer;
  kW: Layer;
  kB: Layer;
  vW: Layer;
  vB: Layer;
  denseW: Layer;
  denseB: Layer;
  smolgen?: SmolgenLayers;
}
export interface FfnLayers {
  dense1W: Layer;
  dense1B: Layer;
  dense2W: Layer;
  dense2B: Layer;
}
export interface EncoderLayers {
  mha: MhaLayers;
  ln1Gammas: Layer;
  ln1Betas: Layer;
  ffn: FfnLayers;
  ln2Gammas: Layer;
  ln2Betas: Layer;
}
export interface PolicyLayers {
  ipPolW?: Layer;
  ipPolB?: Layer;
  ip2PolW?: Layer;
  ip2PolB?: Layer;
  ip3PolW?: Layer;
  ip3PolB?: Layer;
  ip4PolW?: Layer;
  polEncoder?: EncoderLayers[];
  polHeadcount?: number;
  policy1?: ConvBlock;
  policy?: ConvBlock;
}
export interface ValueLayers {
  ipValW?: Layer;
  ipValB?: Layer;
  ip1ValW?: Layer;
  ip1ValB?: Layer;
  ip2ValW?: Layer;
  ip2ValB?: Layer;
  value?: ConvBlock;
}
export interface WeightLayers extends PolicyLayers, ValueLayers {
  input?: ConvBlock;
  residual?: Residual[];
  ipEmbW?: Layer;
  ipEmbB?: Layer;
  ipEmbPreprocW?: Layer;
  ipEmbPreprocB?: Layer;
  ipEmbLnGammas?: Layer;
  ipEmbLnBetas?: Layer;
  ipMultGate?: Layer;
  ipAddGate?: Layer;
  ipEmbFfn?: FfnLayers;
  ipEmbFfnLnGammas?: Layer;
  ipEmbFfnLnBetas?: Layer;
  encoder?: EncoderLayers[];
  headcount?: number;
  smolgenW?: Layer;
  movesLeft?: ConvBlock;
  ipMovW?: Layer;
  ipMovB?: Layer;
  ip1MovW?: Layer;
  ip1MovB?: Layer;
  ip2MovW?: Layer;
  ip2MovB?: Layer;
  valueHeads?: { winner?: ValueLayers; q?: ValueLayers; st?: ValueLayers };
  policyHeads?: {
    ipPolW?: Layer;
    ipPolB?: Layer;
    vanilla?: PolicyLayers;
    optimisticSt?: PolicyLayers;
    soft?: PolicyLayers;
    opponent?: PolicyLayers;
  };
}

/** Values of pblczero.NetworkFormat. */
export interface FormatNumbers {
  input?: number | undefined;
  output?: number | undefined;
  network?: number | undefined;
  policy?: number | undefined;
  value?: number | undefined;
  movesLeft?: number | undefined;
  defaultActivation?: number | undefined;
  smolgenActivation?: number | undefined;
  ffnActivation?: number | undefined;
  inputEmbedding?: number | undefined;
}

export interface NetworkFile {
  format: FormatNumbers | undefined;
  weights: WeightLayers;
}

type FieldNumbers = Readonly<Record<string, number>>;

const CONV: FieldNumbers = { weights: 1, biases: 2, bnMeans: 3, bnStddivs: 4, bnGammas: 5, bnBetas: 6 };
const FFN: FieldNumbers = { dense1W: 1, dense1B: 2, dense2W: 3, dense2B: 4 };
/** Fields of each message by the key under which it appears. */
const MESSAGES: Readonly<Record<string, FieldNumbers>> = {
  input: CONV,
  conv1: CONV,
  conv2: CONV,
  policy1: CONV,
  policy: CONV,
  value: CONV,
  movesLeft: CONV,
  se: { w1: 1, b1: 2, w2: 3, b2: 4 },
  residual: { conv1: 1, conv2: 2, se: 3 },
  smolgen: {
    compress: 1,
    dense1W: 2,
    dense1B: 3,
    ln1Gammas: 4,
    ln1Betas: 5,
    dense2W: 6,
    dense2B: 7,
    ln2Gammas: 8,
    ln2Betas: 9,
  },
  mha: { qW: 1, qB: 2, kW: 3, kB: 4, vW: 5, vB: 6, denseW: 7, denseB: 8, smolgen: 9 },
  ffn: FFN,
  ipEmbFfn: FFN,
  encoder: { mha: 1, ln1Gammas: 2, ln1Betas: 3, ffn: 4, ln2Gammas: 5, ln2Betas: 6 },
  polEncoder: { mha: 1, ln1Gammas: 2, ln1Betas: 3, ffn: 4, ln2Gammas: 5, ln2Betas: 6 },
  policyHeads: { ipPolW: 1, ipPolB: 2, vanilla: 3, optimisticSt: 4, soft: 5, opponent: 6 },
  valueHeads: { winner: 1, q: 2, st: 3 },
  weights: {
    input: 1,
    residual: 2,
    policy: 3,
    ipPolW: 4,
    ipPolB: 5,
    value: 6,
    ip1ValW: 7,
    ip1ValB: 8,
    ip2ValW: 9,
    ip2ValB: 10,
    policy1: 11,
    movesLeft: 12,
    ip1MovW: 13,
    ip1MovB: 14,
    ip2MovW: 15,
    ip2MovB: 16,
    ip2PolW: 17,
    ip2PolB: 18,
    ip3PolW: 19,
    ip3PolB: 20,
    polEncoder: 21,
    ip4PolW: 22,
    polHeadcount: 24,
    ipEmbW: 25,
    ipEmbB: 26,
    encoder: 27,
    headcount: 28,
    ipValW: 29,
    ipValB: 30,
    ipMovW: 31,
    ipMovB: 32,
    ipMultGate: 33,
    ipAddGate: 34,
    smolgenW: 35,
    ipEmbPreprocW: 37,
    ipEmbPreprocB: 38,
    ipEmbLnGammas: 39,
    ipEmbLnBetas: 40,
    ipEmbFfn: 41,
    ipEmbFfnLnGammas: 42,
    ipEmbFfnLnBetas: 43,
    valueHeads: 44,
    policyHeads: 45,
  },
};
const POLICY_HEAD: FieldNumbers = {
  ipPolW: 1,
  ipPolB: 2,
  ip2PolW: 3,
  ip2PolB: 4,
  ip3PolW: 5,
  ip3PolB: 6,
  ip4PolW: 7,
  polEncoder: 8,
  polHeadcount: 9,
  policy1: 10,
  policy: 11,
};
const VALUE_HEAD: FieldNumbers = {
  ipValW: 1,
  ipValB: 2,
  ip1ValW: 3,
  ip1ValB: 4,
  ip2ValW: 5,
  ip2ValB: 6,
  value: 11,
};
const FORMAT: FieldNumbers = {
  input: 1,
  output: 2,
  network: 3,
  policy: 4,
  value: 5,
  movesLeft: 6,
  defaultActivation: 7,
  smolgenActivation: 8,
  ffnActivation: 9,
  inputEmbedding: 10,
};

function getFields(key: string): FieldNumbers {
  if (['vanilla', 'optimisticSt', 'soft', 'opponent'].includes(key)) return POLICY_HEAD;
  if (['winner', 'q', 'st'].includes(key)) return VALUE_HEAD;
  return MESSAGES[key];
}

function encodeMessage(fields: FieldNumbers, message: object): Uint8Array {
  const writer = new WireWriter();
  for (const [key, content] of Object.entries(message)) {
    if (content === undefined) continue;
    for (const item of Array.isArray(content) ? content : [content]) {
      if (item instanceof Layer) writer.bytes(fields[key], item.encoded);
      else if (typeof item === 'number') writer.varint(fields[key], item);
      else writer.bytes(fields[key], encodeMessage(getFields(key), item));
    }
  }
  return writer.finish();
}

export interface FileOptions {
  readonly minVersion?: readonly [number, number, number];
  readonly compress?: boolean;
}

/** The file's bytes: gzip of protobuf, as lc0 writes it. */
export function encodeNetworkFile(file: NetworkFile, options: FileOptions = {}): Uint8Array {
  const version = new WireWriter();
  for (const [index, part] of (options.minVersion ?? [0, 21, 0]).entries()) version.varint(index + 1, part);
  const format = new WireWriter().varint(1, 1);
  if (file.format) format.bytes(2, encodeMessage(FORMAT, file.format));
  const training = new WireWriter().varint(1, 123_456).float(5, 50.5);
  const bytes = new WireWriter()
    .fixed32(1, 0x1c0)
    .bytes(3, version.finish())
    .bytes(4, format.finish())
    .bytes(5, training.finish())
    .bytes(10, encodeMessage(MESSAGES.weights, file.weights))
    .finish();
  return options.compress === false ? bytes : new Uint8Array(gzipSync(bytes, { level: 1 }));
}

/** Draws layers; every layer of a file gets the next of the given encodings. */
export class LayerSource {
  private readonly prng: Prng;
  private drawn = 0;

  constructor(
    seed: number,
    private readonly encodings: readonly LayerEncodingName[],
  ) {
    this.prng = createPrng(seed);
  }

  /** Values from −scale to +scale, around `centre`. */
  draw(count: number, scale: number, centre = 0): Layer {
    const values = Float32Array.from({ length: count }, () => centre + (this.prng.nextFloat() * 2 - 1) * scale);
    return encodeLayer(values, this.encodings[this.drawn++ % this.encodings.length]);
  }

  /** Weights of a layer that keeps the size of what goes through it. */
  weights(outputs: number, inputs: number): Layer {
    return this.draw(outputs * inputs, Math.sqrt(3 / inputs));
  }

  biases(count: number): Layer {
    return this.draw(count, 0.3);
  }

  nextFloat(): number {
    return this.prng.nextFloat();
  }
}

export function encodeLayer(values: Float32Array, encoding: LayerEncodingName): Layer {
  const writer = new WireWriter();
  const decoded = new Float32Array(values.length);
  if (encoding === 'FLOAT32') {
    writer.bytes(3, new Uint8Array(values.slice().buffer)).varint(4, 4);
    return new Layer(values, writer.finish());
  }
  const params = new Uint16Array(values.length);
  if (encoding === 'LINEAR16') {
    const min = Math.fround(values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY));
    const max = Math.fround(values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY));
    for (let i = 0; i < values.length; i++) {
      params[i] = max > min ? Math.round(((values[i] - min) / (max - min)) * 65535) : 0;
      const theta = params[i] / 65535;
      decoded[i] = min * (1 - theta) + max * theta;
    }
    writer.float(1, min).float(2, max).bytes(3, new Uint8Array(params.buffer));
    return new Layer(decoded, writer.finish());
  }
  const bits = new Uint32Array(new Float32Array(values).buffer);
  for (let i = 0; i < values.length; i++) {
    if (encoding === 'BFLOAT16') {
      params[i] = bits[i] >>> 16;
      decoded[i] = new Float32Array(Uint32Array.of(params[i] << 16).buffer)[0];
    } else {
      [params[i], decoded[i]] = truncateToHalf(values[i]);
    }
  }
  writer.bytes(3, new Uint8Array(params.buffer)).varint(4, encoding === 'FLOAT16' ? 2 : 3);
  return new Layer(decoded, writer.finish());
}

/** A half-precision number at or below |value|, and its bits. */
function truncateToHalf(value: number): [number, number] {
  const size = Math.abs(value);
  const sign = value < 0 ? 0x8000 : 0;
  if (size < 2 ** -14) {
    const fraction = Math.floor(size * 2 ** 24);
    return [sign | fraction, Math.sign(value) * fraction * 2 ** -24];
  }
  const exponent = Math.floor(Math.log2(size));
  const fraction = Math.floor((size / 2 ** exponent - 1) * 1024);
  return [sign | ((exponent + 15) << 10) | fraction, Math.sign(value) * (1 + fraction / 1024) * 2 ** exponent];
}
