/**
 * The main loop of an evaluator thread. It claims leaves and answers finished games, tablebase positions and cached positions at
 * once. It collects the others into a batch, runs the evaluator and writes edges and values. It ends when the pool stops.
 */
import type { Position } from '../../../chess/rules/index.js';
import { NO_VALUE } from '../../../chess/syzygy/index.js';
import type { HistoryFill } from '../../encoding/index.js';
import {
  CHECKMATE,
  COUNT_BATCHES,
  COUNT_EVALUATIONS,
  COUNT_TERMINALS,
  COUNTERS_PER_WORKER,
  computeHistoryHash,
  computeNodeTag,
  DRAW,
  EVALUATED,
  encodePrior,
  FAILED,
  FLAG_CACHE_HIT,
  FLAG_OF_PATH,
  LeafClaims,
  type LeafSlots,
  LiveEvaluators,
  MAX_EDGES,
  MAX_PATH_LENGTH,
  MINIBATCH_WORD,
  RootBoards,
  RootTable,
  SETTING_HISTORY_FILL,
  SETTING_POLICY_TEMPERATURE,
  type SharedPoolHandle,
  sortEdges,
  sortEdgesAsLc0,
  TABLEBASE,
  viewLeafSlots,
} from '../../leaves/index.js';
import type { CachedValue, CacheKey, EvaluationCache } from '../cache/evaluation-cache.js';
import type { Evaluator } from '../evaluators/evaluator.js';
import { HISTORY_FILLS } from '../options.js';
import { classifyLeaf } from './leaf-outcome.js';
import type { LeafTablebases } from './leaf-tablebases.js';

/** Largest number of slots claimed at once. It limits how long an answer that is ready waits for the rest of its claim. */
const MAX_CLAIM = 64;

export interface LeafServerParts {
  readonly handle: SharedPoolHandle;
  readonly worker: number;
  readonly cache: EvaluationCache | null;
  readonly tablebases: LeafTablebases;
  /** null = none: the thread stands aside while others can evaluate, then answers FAILED to leaves that need an evaluator. */
  readonly evaluator: Evaluator | null;
  /** Called when the evaluator fails. Resolves with another one, or null if none is left. */
  readonly replaceEvaluator: (error: unknown) => Promise<Evaluator | null>;
}

export class LeafServer {
  private readonly slots: LeafSlots;
  private readonly claims: LeafClaims;
  private readonly live: LiveEvaluators;
  private readonly boards: RootBoards;
  private readonly cache: EvaluationCache | null;
  private readonly tablebases: LeafTablebases;
  private evaluator: Evaluator | null;
  private readonly replaceEvaluator: LeafServerParts['replaceEvaluator'];

  private readonly firstCounter: number;
  private readonly claimed = new Int32Array(MAX_CLAIM);
  private readonly priors = new Float32Array(MAX_EDGES);
  /** The value of the leaf that is being answered. */
  private readonly value: CachedValue = { wl: 0, d: 0, m: 0 };
  private minibatch = 0;
  /** For each row of the batch: its slot and its cache key. */
  private rowSlots = new Int32Array(0);
  private rowKeys: readonly CacheKey[] = [];
  /** The cache's generation before the settings of this batch were read, but after its first slots were claimed. */
  private generation = 0;
  /** The last leaf of a search needed the evaluator, so the prefetches behind it are worth their time. */
  private prefetches = false;
  /** Number of slots answered since the producer was last notified. */
  private unannounced = 0;

  constructor(parts: LeafServerParts) {
    const { handle, worker } = parts;
    this.slots = viewLeafSlots(handle.slots, handle);
    this.claims = new LeafClaims(this.slots, worker);
    this.live = new LiveEvaluators(this.slots);
    this.boards = new RootBoards(new RootTable(handle.roots));
    this.tablebases = parts.tablebases;
    this.evaluator = parts.evaluator;
    this.cache = parts.evaluator?.isInstant ? null : parts.cache;
    this.replaceEvaluator = parts.replaceEvaluator;
    this.firstCounter = worker * COUNTERS_PER_WORKER;
  }

  /** Begins with the slots that an earlier thread with this number had claimed when it died. */
  async serve(): Promise<void> {
    this.followSettings();
    await this.answerClaimed(this.claims.listAbandoned());
    this.announce();
    while (!this.claims.isStopping()) {
      if (this.evaluator === null && this.live.standAside()) continue;
      this.followSettings();
      const rows = this.gather();
      if (rows > 0) {
        const running = this.evaluate(rows);
        if (running !== undefined) await running;
      }
      this.announce();
      if (rows === 0) this.claims.sleep();
    }
  }

  /** Answers slots that are claimed already, in batches of the current size. */
  private async answerClaimed(claimed: Int32Array): Promise<void> {
    let done = 0;
    while (done < claimed.length) {
      const part = claimed.subarray(done, done + this.minibatch);
      done += part.length;
      const rows = this.addRows(part, 0);
      if (rows > 0) await this.evaluate(rows);
    }
  }

  /** Applies changes of the minibatch and the tablebases, which the pool makes between searches. */
  private followSettings(): void {
    this.tablebases.follow();
    this.generation = this.cache?.generation ?? 0;
    const minibatch = this.getMinibatch();
    if (minibatch !== this.minibatch) this.makeRoom(minibatch);
  }

  private getMinibatch(): number {
    const minibatch = Math.max(1, Atomics.load(this.slots.control, MINIBATCH_WORD));
    return Math.min(minibatch, this.evaluator?.mostRows ?? minibatch);
  }

  private makeRoom(minibatch: number): void {
    this.minibatch = minibatch;
    this.rowSlots = new Int32Array(minibatch);
    this.rowKeys = Array.from({ length: minibatch }, () => ({ low: 0, high: 0, repetitions: 0, moveCount: 0 }));
    this.evaluator?.reserve(minibatch);
  }

  /** Claims slots until the batch is full or none are left. @returns number of rows that need the evaluator */
  private gather(): number {
    const { claimed, claims, minibatch } = this;
    let rows = 0;
    while (rows < minibatch) {
      const count = claims.claimInto(claimed, Math.min(MAX_CLAIM, minibatch - rows));
      if (count === 0) break;
      // Read after the claim: the cache may have been emptied for the search that these slots belong to.
      if (rows === 0) this.generation = this.cache?.generation ?? 0;
      rows = this.addRows(count === MAX_CLAIM ? claimed : claimed.subarray(0, count), rows);
    }
    // The search can use the answers so far while the evaluator runs.
    if (rows > 0 && this.evaluator !== null && !this.evaluator.isInstant) this.announce();
    return rows;
  }

  /** Answers the slots that need no evaluator and adds the others to the batch. @returns number of rows in the batch */
  private addRows(claimed: Int32Array, firstRow: number): number {
    let rows = firstRow;
    for (let i = 0; i < claimed.length; i++) {
      if (this.answerOrAdd(claimed[i], rows)) rows++;
    }
    return rows;
  }

  /** @returns true if the slot became row `row` of the batch, false if it is answered */
  private answerOrAdd(slot: number, row: number): boolean {
    if (this.slots.prefetch[slot] !== 0) return this.skipOrAddPrefetch(slot, row);
    this.prefetches = this.answerOrAddLeaf(slot, row);
    return this.prefetches;
  }

  private answerOrAddLeaf(slot: number, row: number): boolean {
    const { slots, cache, boards } = this;
    const pathLength = slots.pathLength[slot];
    const position = boards.walkTo(slots.root[slot], slots.pathMoves, slot * MAX_PATH_LENGTH, pathLength);
    const firstEdge = slot * MAX_EDGES;
    const count = position.generateLegalMoves(slots.edgeMoves, firstEdge);
    const repetitions = position.repetitions();
    const kind = classifyLeaf(position, count, pathLength, repetitions, boards.rules.twoFoldDraws);
    slots.keyLow[slot] = position.keyLow;
    slots.keyHigh[slot] = position.keyHigh;
    slots.flags[slot] = 0;
    slots.edgeCount[slot] = 0;
    slots.tag[slot] = computeNodeTag(position, repetitions, boards.rules.keyHistory);
    if (kind === CHECKMATE) return this.answerKnown(slot, kind, -1, 0);
    if (kind !== EVALUATED) {
      if (kind === DRAW && count > 0 && !position.hasInsufficientMaterial()) slots.flags[slot] = FLAG_OF_PATH;
      return this.answerKnown(slot, kind, 0, repetitions > 0 ? getCycle(position, pathLength) : 0);
    }
    const result = pathLength === 0 || boards.rules.skipsTablebases ? NO_VALUE : this.tablebases.probe(position);
    if (result !== NO_VALUE) return this.answerKnown(slot, TABLEBASE, result, 0);
    const key = this.setKey(row, slot, position, count, repetitions);
    if (cache?.find(key, slots.horizon[slot])) {
      for (let i = 0; i < count; i++) slots.edgePriors[firstEdge + i] = cache.priors[i];
      this.sortEdgesOf(slot);
      const { value } = cache;
      slots.flags[slot] = FLAG_CACHE_HIT;
      this.answer(slot, EVALUATED, value.wl, value.d, value.m);
      return false;
    }
    this.setRow(row, slot, position);
    return true;
  }

  /** As answerOrAdd, for a position that only the cache needs: also if the path ends there by a rule that others may not meet. */
  private skipOrAddPrefetch(slot: number, row: number): boolean {
    const { slots, cache, boards } = this;
    if (this.prefetches && cache !== null) {
      const { pathMoves, pathLength } = slots;
      const position = boards.walkTo(slots.root[slot], pathMoves, slot * MAX_PATH_LENGTH, pathLength[slot]);
      const count = position.generateLegalMoves(slots.edgeMoves, slot * MAX_EDGES);
      const key = this.setKey(row, slot, position, count, position.repetitions());
      if (count > 0 && !cache.find(key, slots.horizon[slot])) {
        this.setRow(row, slot, position);
        return true;
      }
    }
    this.answer(slot, EVALUATED, 0, 1, 0);
    return false;
  }

  /** Sets the cache key of a row, and the number of edges of its slot. */
  private setKey(row: number, slot: number, position: Position, count: number, repetitions: number): CacheKey {
    const key = this.rowKeys[row];
    const history = computeHistoryHash(position, this.boards.rules.keyHistory);
    key.low = position.keyLow ^ history;
    key.high = position.keyHigh ^ Math.imul(history, 0x85ebca6b);
    key.repetitions = repetitions;
    key.moveCount = count;
    this.slots.edgeCount[slot] = count;
    return key;
  }

  /** Adds a slot to the batch, after setKey. */
  private setRow(row: number, slot: number, position: Position): void {
    const { slots } = this;
    this.rowSlots[row] = slot;
    const fill = HISTORY_FILLS[slots.settings[SETTING_HISTORY_FILL]] as HistoryFill;
    this.evaluator?.setRow(row, position, slots.edgeMoves, slot * MAX_EDGES, slots.edgeCount[slot], fill);
  }

  private sortEdgesOf(slot: number): void {
    const { slots, boards } = this;
    const { edgeMoves, edgePriors, root, pathMoves, pathLength } = slots;
    const count = slots.edgeCount[slot];
    if (!boards.hasLc0Order(root[slot])) {
      sortEdges(edgeMoves, edgePriors, slot * MAX_EDGES, count);
    } else if (slots.prefetch[slot] === 0) {
      const position = boards.walkTo(root[slot], pathMoves, slot * MAX_PATH_LENGTH, pathLength[slot]);
      sortEdgesAsLc0(position, edgeMoves, edgePriors, slot * MAX_EDGES, count);
    }
  }

  private evaluate(rows: number): Promise<void> | undefined {
    if (this.evaluator === null) return this.evaluateAgain(rows, 'no evaluator is left');
    const running = this.evaluator.run(rows);
    if (running === undefined) {
      this.answerRows(rows, this.evaluator);
      return undefined;
    }
    const { evaluator } = this;
    return running.then(
      () => this.answerRows(rows, evaluator),
      (error: unknown) => this.evaluateAgain(rows, error),
    );
  }

  /** After a failure: evaluates the same slots with another evaluator, or answers FAILED if none is left. */
  private async evaluateAgain(rows: number, error: unknown): Promise<void> {
    const slots = this.rowSlots.slice(0, rows);
    this.evaluator = this.evaluator === null ? null : await this.replaceEvaluator(error);
    if (this.evaluator === null) {
      for (const slot of slots) {
        this.slots.edgeCount[slot] = 0;
        this.answer(slot, FAILED, 0, 1, 0);
      }
      return;
    }
    this.makeRoom(this.getMinibatch());
    await this.answerClaimed(slots);
  }

  private answerRows(rows: number, evaluator: Evaluator): void {
    const { slots, rowSlots } = this;
    const policyTemperature = slots.settings[SETTING_POLICY_TEMPERATURE];
    for (let row = 0; row < rows; row++) this.answerRow(rowSlots[row], row, evaluator, policyTemperature);
    this.count(COUNT_EVALUATIONS, rows);
    this.count(COUNT_BATCHES, 1);
  }

  private answerRow(slot: number, row: number, evaluator: Evaluator, policyTemperature: number): void {
    const { slots, priors, cache, value } = this;
    const { edgePriors } = slots;
    const firstEdge = slot * MAX_EDGES;
    const count = slots.edgeCount[slot];
    evaluator.writePriorsInto(priors, row, count, policyTemperature);
    for (let i = 0; i < count; i++) edgePriors[firstEdge + i] = encodePrior(priors[i]);
    value.wl = evaluator.valueWl[row];
    value.d = evaluator.valueD[row];
    value.m = evaluator.movesLeft[row];
    cache?.store(this.rowKeys[row], value, edgePriors, firstEdge, slots.number[slot], this.generation);
    this.sortEdgesOf(slot);
    this.answer(slot, EVALUATED, value.wl, value.d, value.m);
  }

  /** A result that needs no evaluator. @param wl for the mover at the leaf: 1, 0 or -1 @returns false: the slot is answered */
  private answerKnown(slot: number, kind: number, wl: number, movesLeft: number): false {
    this.count(COUNT_TERMINALS, 1);
    this.answer(slot, kind, wl, wl === 0 ? 1 : 0, movesLeft);
    return false;
  }

  private answer(slot: number, kind: number, wl: number, d: number, movesLeft: number): void {
    const { slots } = this;
    slots.kind[slot] = kind;
    slots.valueWl[slot] = wl;
    slots.valueD[slot] = d;
    slots.movesLeft[slot] = movesLeft;
    this.claims.markDone(slot);
    this.unannounced++;
  }

  private announce(): void {
    if (this.unannounced === 0) return;
    this.unannounced = 0;
    this.claims.announce();
  }

  private count(counter: number, amount: number): void {
    this.slots.counters[this.firstCounter + counter] += amount;
  }
}

/** Length of the repetition when both occurrences lie inside the path, else 0. */
function getCycle(position: Position, pathLength: number): number {
  const plies = position.pliesSinceRepetition();
  return plies <= pathLength ? plies : 0;
}
