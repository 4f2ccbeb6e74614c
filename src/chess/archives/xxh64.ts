/**
 * The low half of XXH64, by which zstd checks what a frame holds. Written here because the page of the board runs no WebAssembly, in
 * which the libraries are. Most of the work has numbers of 32 bits, since BigInt is fifty times as slow.
 * Source: the xxHash specification 0.1.1, "XXH64 algorithm description".
 */

const STRIPE_BYTES = 32;
const P1 = 0x9e3779b185ebca87n;
const P2 = 0xc2b2ae3d27d4eb4fn;
const P3 = 0x165667b19e3779f9n;
const P4 = 0x85ebca77c2b2ae63n;
const P5 = 0x27d4eb2f165667c5n;

const cut = (number: bigint): bigint => BigInt.asUintN(64, number);
const rotate = (number: bigint, by: bigint): bigint => cut(number << by) | (number >> (64n - by));
const round = (lane: bigint, input: bigint): bigint => cut(rotate(cut(lane + input * P2), 31n) * P1);

export class Xxh64 {
  /** Four numbers: the low half of each, then the high one. */
  private readonly lanes = new Int32Array(BigInt64Array.of(P1 + P2, P2, 0n, -P1).buffer);
  private readonly held = new Uint8Array(STRIPE_BYTES);
  private heldBytes = 0;
  private totalBytes = 0;

  update(bytes: Uint8Array): void {
    this.totalBytes += bytes.length;
    let at = 0;
    if (this.heldBytes > 0) {
      at = Math.min(STRIPE_BYTES - this.heldBytes, bytes.length);
      this.held.set(bytes.subarray(0, at), this.heldBytes);
      this.heldBytes += at;
      if (this.heldBytes < STRIPE_BYTES) return;
      mixStripes(this.lanes, this.held, 0);
    }
    at = mixStripes(this.lanes, bytes, at);
    this.held.set(bytes.subarray(at));
    this.heldBytes = bytes.length - at;
  }

  computeLowHalf(): number {
    const lanes = new BigUint64Array(this.lanes.buffer);
    let hash = P5;
    if (this.totalBytes >= STRIPE_BYTES) {
      hash = [1n, 7n, 12n, 18n].reduce((sum, by, index) => cut(sum + rotate(lanes[index], by)), 0n);
      for (const lane of lanes) hash = cut((hash ^ round(0n, lane)) * P1 + P4);
    }
    hash = cut(hash + BigInt(this.totalBytes));
    const rest = new DataView(this.held.buffer, 0, this.heldBytes);
    let at = 0;
    for (; at + 8 <= this.heldBytes; at += 8)
      hash = cut(rotate(hash ^ round(0n, rest.getBigUint64(at, true)), 27n) * P1 + P4);
    for (; at + 4 <= this.heldBytes; at += 4)
      hash = cut(rotate(hash ^ cut(BigInt(rest.getUint32(at, true)) * P1), 23n) * P2 + P3);
    for (; at < this.heldBytes; at++) hash = cut(rotate(hash ^ cut(BigInt(rest.getUint8(at)) * P5), 11n) * P1);
    hash = cut((hash ^ (hash >> 33n)) * P2);
    hash = cut((hash ^ (hash >> 29n)) * P3);
    return Number((hash ^ (hash >> 32n)) & 0xffffffffn);
  }
}

/** `lane = rotate(lane + input × P2, 31) × P1` for the four numbers of each stripe. @returns where the last whole one ends */
function mixStripes(lanes: Int32Array, bytes: Uint8Array, from: number): number {
  const end = bytes.length - STRIPE_BYTES;
  let at = from;
  for (; at <= end; at += STRIPE_BYTES) {
    for (let lane = 0; lane < 8; lane += 2) {
      const place = at + 4 * lane;
      const inLow = bytes[place] | (bytes[place + 1] << 8) | (bytes[place + 2] << 16) | (bytes[place + 3] << 24);
      const inHigh = bytes[place + 4] | (bytes[place + 5] << 8) | (bytes[place + 6] << 16) | (bytes[place + 7] << 24);
      const low = lanes[lane] + (Math.imul(inLow, 0x27d4eb4f) | 0);
      const sumLow = low | 0;
      const carry = sumLow >>> 0 < lanes[lane] >>> 0 ? 1 : 0;
      const sumHigh =
        (lanes[lane + 1] +
          carry +
          multiplyHigh(inLow, 0xeb4f, 0x27d4) +
          Math.imul(inHigh, 0x27d4eb4f) +
          Math.imul(inLow, 0xc2b2ae3d)) |
        0;
      const turnedLow = (sumLow << 31) | (sumHigh >>> 1);
      const turnedHigh = (sumHigh << 31) | (sumLow >>> 1);
      lanes[lane] = Math.imul(turnedLow, 0x85ebca87);
      lanes[lane + 1] =
        multiplyHigh(turnedLow, 0xca87, 0x85eb) + Math.imul(turnedHigh, 0x85ebca87) + Math.imul(turnedLow, 0x9e3779b1);
    }
  }
  return at;
}

/** The high 32 bits of a product without signs; the second factor in halves of 16 bits. */
function multiplyHigh(factor: number, low: number, high: number): number {
  const ownLow = factor & 0xffff;
  const ownHigh = factor >>> 16;
  const first = Math.imul(ownLow, low) >>> 16;
  const second = Math.imul(ownHigh, low) >>> 0;
  const third = Math.imul(ownLow, high) >>> 0;
  const middle = first + (second & 0xffff) + (third & 0xffff);
  return (Math.imul(ownHigh, high) + (second >>> 16) + (third >>> 16) + (middle >>> 16)) | 0;
}
