/**
 * The evaluation cache: network outputs by position, shared by all evaluator threads without locks.
 *
 * The key is the position's key mixed with its repetition count and the cache's generation (as in lc0: without rule 50, and with as
 * many earlier positions as CacheHistoryLength says, by default none). Moves are not stored: priors are in move-generation order, and a reader has just generated the moves. A set holds
 * four entries. A new entry takes a place that is empty or was emptied with the cache, or a pseudo-random one.
 *
 * The network sees the history of a position, but the key does not, so it matters which leaf made an entry. To keep a search
 * independent of timing, an entry stores the number of its leaf; numbers grow in order of submission. A reader gives a
 * horizon: leaves with lower numbers were backed up before the reader's leaf was submitted, and the reader sees only their
 * entries. Of two entries for one position, the one with the lower number counts. An entry gets its tag when it is complete, and
 * another evaluator's older leaf takes a place of its own, so what counts does not depend on who was first.
 *
 * Memory, all Int32, written and read by every evaluator, with plain stores and loads unless atomic is said:
 *
 *   header  16 words   [0] generation (atomic): part of every key, so raising it empties the cache
 *                      [1] number of the first leaf after that (atomic); leaves in flight then are not stored
 *   tags    4 a set    upper key word of the entry, 0 = empty, −1 = being filled (atomic when claimed and set)
 *   ages    1 a set    one byte an entry: the lowest byte of its generation, which shows whether the cache was emptied since
 *   entries 32 words   [0] checksum · [1..3] wl, d, m (float32 bits) · [4] leaf · [5..31] up to 54 priors, two a word
 *
 * A position with more moves (0.4 % of those of labelled games) has an entry for every 54 of them, under a key of its own.
 *
 * Two threads may write an entry at the same time, or one may read it while another writes. The checksum covers the key, the
 * move count and all words of the entry, and the reader checks its own copy. So a torn entry is a miss, and so is an entry of
 * another position (one in 2^32 of these is wrongly accepted). Unused pages take no memory.
 */
import { MAX_EDGES } from '../../leaves/index.js';

const HEADER_WORDS = 16;
const WAYS = 4;
const ENTRY_WORDS = 32;
const LEAF_WORD = 4;
const CLEARED_WORD = 1;
/** Leaf numbers wrap, so only those that can be under way count as earlier. */
const MOST_LEAVES = 65536;
const FIRST_PRIOR_WORD = 5;
const EMPTY = 0;
const BEING_FILLED = -1;
const PRIOR_WORDS = ENTRY_WORDS - FIRST_PRIOR_WORD;
export const MOVES_PER_ENTRY = PRIOR_WORDS * 2;
const AGE_WORDS = 1;
const WORDS_PER_SET = WAYS * (ENTRY_WORDS + 1) + AGE_WORDS;
const BYTES_PER_SET = WORDS_PER_SET * 4;
/** Word indices stay below 2^31. */
const MAX_SETS = Math.floor((2 ** 31 - HEADER_WORDS) / WORDS_PER_SET);
/** Number of sets that `computeFill` samples. */
const SAMPLED_SETS = 256;

/** @returns how many positions fit into this many MB (2^20 bytes) */
export function computeCachePositions(sizeMb: number): number {
  return Math.floor((sizeMb * 2 ** 20) / BYTES_PER_SET) * WAYS;
}

/**
 * @param positions rounded up to whole sets, and down to what the system grants
 * @returns null for 0 positions: no cache
 */
export function createCacheBuffer(positions: number): SharedArrayBuffer | null {
  for (let sets = Math.min(MAX_SETS, Math.ceil(positions / WAYS)); sets >= 1; sets = Math.floor(sets / 2)) {
    try {
      return new SharedArrayBuffer(HEADER_WORDS * 4 + sets * BYTES_PER_SET);
    } catch {
      // Not enough address space: try half.
    }
  }
  return null;
}

/** @param nextLeaf number of the next leaf to submit: the evaluations of earlier ones, which may be under way, are not kept */
export function clearCache(buffer: SharedArrayBuffer, nextLeaf = 0): void {
  const words = new Int32Array(buffer);
  Atomics.store(words, CLEARED_WORD, nextLeaf);
  Atomics.add(words, 0, 1);
}

/** What an evaluation is found by: a position's 64-bit key, how often it occurred before, and its number of legal moves. */
export interface CacheKey {
  low: number;
  high: number;
  repetitions: number;
  moveCount: number;
}

/** In the view of the mover; `m` in plies. */
export interface CachedValue {
  wl: number;
  d: number;
  m: number;
}

export class EvaluationCache {
  /** The entry found last: its value, and its priors as codes in move-generation order. */
  readonly value: CachedValue = { wl: 0, d: 0, m: 0 };
  readonly priors: Uint16Array;

  private readonly values: Float32Array;
  private readonly words: Int32Array;
  private readonly tags: Int32Array;
  private readonly ages: Uint8Array;
  private readonly entries: Int32Array;
  private readonly sets: number;
  /** A private copy of the entries of one position. It is checked after copying, so no thread can change it in between. */
  private readonly copy = new Int32Array(FIRST_PRIOR_WORD + MAX_EDGES / 2 + PRIOR_WORDS);
  /** Values and leaf of a position's first entry. */
  private readonly firstHead = new Int32Array(FIRST_PRIOR_WORD);
  private tag = 0;
  private set = 0;

  constructor(buffer: SharedArrayBuffer) {
    const words = new Int32Array(buffer);
    this.words = words;
    this.sets = Math.floor((words.length - HEADER_WORDS) / WORDS_PER_SET);
    const firstAge = HEADER_WORDS + this.sets * WAYS;
    const firstEntry = firstAge + this.sets * AGE_WORDS;
    this.tags = words.subarray(HEADER_WORDS, firstAge);
    this.ages = new Uint8Array(buffer, firstAge * 4, this.sets * WAYS);
    this.entries = words.subarray(firstEntry, firstEntry + this.sets * WAYS * ENTRY_WORDS);
    this.values = new Float32Array(this.copy.buffer, 4, 3);
    this.priors = new Uint16Array(this.copy.buffer, FIRST_PRIOR_WORD * 4, MAX_EDGES);
  }

  /** Share of used places in per mille, from a sample spread over the whole cache. */
  computeFill(): number {
    const { sets, tags, ages } = this;
    const age = this.generation & 0xff;
    const sampled = Math.min(sets, SAMPLED_SETS);
    let used = 0;
    for (let i = 0; i < sampled; i++) {
      const first = Math.floor((i * sets) / sampled) * WAYS;
      for (let way = first; way < first + WAYS; way++) used += Number(tags[way] !== EMPTY && ages[way] === age);
    }
    return Math.round((1000 * used) / (sampled * WAYS));
  }

  /** Changes when the cache is emptied. */
  get generation(): number {
    return Atomics.load(this.words, 0);
  }

  /**
   * @param horizon hides entries of leaves with this number or a higher one; absent = all are visible
   * @returns true if `value` and `priors` now hold the position's evaluation
   */
  find(key: Readonly<CacheKey>, horizon?: number): boolean {
    const { copy, firstHead, value, values } = this;
    if (!this.findEntry(0, key, horizon)) return false;
    for (let i = 1; i < FIRST_PRIOR_WORD; i++) firstHead[i] = copy[i];
    for (let entry = 1; entry * MOVES_PER_ENTRY < key.moveCount; entry++) {
      if (!this.findEntry(entry, key, horizon)) return false;
      // This entry is of another leaf, whose evaluation may have seen another history.
      for (let i = 1; i < FIRST_PRIOR_WORD; i++) if (copy[i] !== firstHead[i]) return false;
    }
    value.wl = values[0];
    value.d = values[1];
    value.m = values[2];
    return true;
  }

  /** Copies one entry of a position: values and leaf to the head of `copy`, priors to their place. */
  private findEntry(entry: number, key: Readonly<CacheKey>, horizon: number | undefined): boolean {
    const { moveCount } = key;
    const lowKey = this.locate(entry, key, this.generation);
    const first = this.set * WAYS;
    const { tags, tag, entries, copy } = this;
    let oldest = -1;
    for (let way = first; way < first + WAYS; way++) {
      if (tags[way] !== tag) continue;
      const leaf = entries[way * ENTRY_WORDS + LEAF_WORD];
      if (horizon !== undefined && !isBefore(leaf, horizon)) continue;
      // Two evaluators may have stored the position at the same time, in two places.
      if (oldest < 0 || isBefore(leaf, entries[oldest * ENTRY_WORDS + LEAF_WORD])) oldest = way;
    }
    if (oldest < 0) return false;
    const start = oldest * ENTRY_WORDS;
    const from = FIRST_PRIOR_WORD + entry * PRIOR_WORDS;
    const length = countPriorWords(entry, moveCount);
    for (let i = 0; i < FIRST_PRIOR_WORD; i++) copy[i] = entries[start + i];
    for (let i = 0; i < length; i++) copy[from + i] = entries[start + FIRST_PRIOR_WORD + i];
    if (horizon !== undefined && !isBefore(copy[LEAF_WORD], horizon)) return false;
    return copy[0] === computeChecksum(copy, from, from + length, lowKey, moveCount);
  }

  /**
   * @param priors codes in move-generation order, from `firstPrior` on
   * @param leaf number of the leaf that was evaluated
   * @param generation the cache's generation before the evaluation's settings were read, so that an evaluation begun before
   * the cache was emptied is not found after it
   */
  store(
    key: Readonly<CacheKey>,
    value: Readonly<CachedValue>,
    priors: Uint16Array,
    firstPrior: number,
    leaf = 0,
    generation = this.generation,
  ): void {
    const { copy, values, entries, tags } = this;
    const { moveCount } = key;
    const before = (Atomics.load(this.words, CLEARED_WORD) - leaf) | 0;
    if (this.generation > 0 && before > 0 && before <= MOST_LEAVES) return;
    values[0] = value.wl;
    values[1] = value.d;
    values[2] = value.m;
    copy[LEAF_WORD] = leaf;
    copy[FIRST_PRIOR_WORD + (moveCount >> 1)] = 0;
    for (let i = 0; i < moveCount; i++) this.priors[i] = priors[firstPrior + i];
    for (let entry = 0; entry === 0 || entry * MOVES_PER_ENTRY < moveCount; entry++) {
      const lowKey = this.locate(entry, key, generation);
      const from = FIRST_PRIOR_WORD + entry * PRIOR_WORDS;
      const length = countPriorWords(entry, moveCount);
      copy[0] = computeChecksum(copy, from, from + length, lowKey, moveCount);
      const way = this.choosePlace(leaf);
      if (way < 0) continue;
      const start = way * ENTRY_WORDS;
      for (let i = 0; i < FIRST_PRIOR_WORD; i++) entries[start + i] = copy[i];
      for (let i = 0; i < length; i++) entries[start + FIRST_PRIOR_WORD + i] = copy[from + i];
      this.ages[way] = generation;
      Atomics.store(tags, way, this.tag);
    }
  }

  /** Sets `set` and `tag`. @returns the lower key word, with the generation, repetitions and number of the entry mixed in */
  private locate(entry: number, key: Readonly<CacheKey>, generation: number): number {
    const salt = Math.imul(generation * 4 + key.repetitions, 0x9e3779b1) ^ Math.imul(entry, 0x27d4eb2f);
    const high = key.high ^ salt;
    this.tag = high === EMPTY || high === BEING_FILLED ? 1 : high;
    this.set = Math.floor((((key.low ^ Math.imul(high, 0x85ebca6b)) >>> 0) * this.sets) / 4294967296);
    return key.low ^ Math.imul(salt, 0xc2b2ae35);
  }

  /** @returns −1 if the entry of an older leaf stays */
  private choosePlace(leaf: number): number {
    const first = this.set * WAYS;
    const { tags, tag, entries } = this;
    let newer = -1;
    for (let way = first; way < first + WAYS; way++) {
      if (tags[way] !== tag) continue;
      const stored = entries[way * ENTRY_WORDS + LEAF_WORD];
      if (stored === leaf) return way;
      if (isBefore(stored, leaf)) return -1;
      newer = way;
    }
    const age = this.generation & 0xff;
    for (let way = first; way < first + WAYS; way++) {
      const held = tags[way];
      const isFree = held === EMPTY || (held !== BEING_FILLED && this.ages[way] !== age);
      if (isFree && Atomics.compareExchange(tags, way, held, BEING_FILLED) === held) return way;
    }
    // Depends only on the leaf, so the order in which evaluators store entries hardly matters.
    return newer >= 0 ? newer : first + (Math.imul(leaf ^ tag, 0x2c9277b5) >>> 30);
  }
}

/** Whether a leaf was submitted before another one; numbers wrap at 2^32. */
function isBefore(leaf: number, other: number): boolean {
  return ((leaf - other) | 0) < 0;
}

function countPriorWords(entry: number, moveCount: number): number {
  return (Math.min(moveCount - entry * MOVES_PER_ENTRY, MOVES_PER_ENTRY) + 1) >> 1;
}

/** @param from,end the entry's priors in `copy`; values and leaf stand at its head */
function computeChecksum(copy: Int32Array, from: number, end: number, lowKey: number, moveCount: number): number {
  let sum = lowKey ^ (moveCount << 24);
  for (let i = 1; i < FIRST_PRIOR_WORD; i++) sum = mix(sum, copy[i]);
  for (let i = from; i < end; i++) sum = mix(sum, copy[i]);
  return sum;
}

function mix(sum: number, word: number): number {
  const mixed = Math.imul(sum ^ word, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}
