/**
 * xoshiro128**: a small seeded generator for tests, noise and self-play. Not for secrets.
 * Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators" (2018). Seeded by splitmix32, so that
 * neighbouring seeds give unrelated streams.
 */
export interface Prng {
  /** The next 32 random bits as an unsigned integer. */
  next32(): number;
  /** Uniform in [0, 1), 32 bits of resolution. */
  nextFloat(): number;
  /** Uniform integer in [0, bound); bound is a positive integer below 2^32. */
  nextBelow(bound: number): number;
}

export interface SeededPrng extends Prng {
  /** Restarts as a new generator with this seed. */
  restart(seed: number): void;
}

/** 32 unpredictable bits, as the seed of anything that should differ from run to run. */
export function drawSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
}

export function createPrng(seed: number): SeededPrng {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  const restart = (from: number): void => {
    const splitmix = createSplitmix(from);
    s0 = splitmix();
    s1 = splitmix();
    s2 = splitmix();
    s3 = splitmix();
  };
  restart(seed);
  const rotateLeft = (x: number, k: number): number => (x << k) | (x >>> (32 - k));
  const next32 = (): number => {
    const result = Math.imul(rotateLeft(Math.imul(s1, 5), 7), 9) >>> 0;
    const t = s1 << 9;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = rotateLeft(s3, 11);
    return result;
  };
  return {
    next32,
    nextFloat: () => next32() / 4294967296,
    nextBelow: (bound) => Math.floor((next32() / 4294967296) * bound),
    restart,
  };
}

/** splitmix32: unrelated words from neighbouring seeds. */
function createSplitmix(seed: number): () => number {
  let mixer = seed >>> 0;
  return () => {
    mixer = (mixer + 0x9e3779b9) >>> 0;
    let z = mixer;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
}

/**
 * The seed of the n-th game of a run, so that games share no random stream and game n is the same whichever thread plays it.
 */
export function mixSeeds(seed: number, n: number): number {
  return mixBits(Math.imul(seed, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca77));
}

/** murmur3's finaliser (Appleby): a change of one input bit changes half of the output bits. */
export function mixBits(bits: number): number {
  let h = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A sample of Gamma(alpha, 1) by Marsaglia and Tsang (2000); for alpha below 1 with their factor u^(1/alpha). */
export function drawGamma(alpha: number, random: Prng): number {
  if (alpha <= 0) return 0;
  if (alpha < 1) return drawGamma(alpha + 1, random) * Math.max(random.nextFloat(), 1e-12) ** (1 / alpha);
  const d = alpha - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(Math.max(random.nextFloat(), 1e-12)) < 0.5 * x * x + d - d * v + d * Math.log(v))
      return d * v;
  }
}

/** A sample of the standard normal distribution, by Box and Muller. */
function drawNormal(random: Prng): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random.nextFloat()));
  return radius * Math.cos(2 * Math.PI * random.nextFloat());
}
